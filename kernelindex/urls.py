"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path

from kernelindex import views

urlpatterns = [
    path("", include("runs.urls")),
    path("api/v1/", include("attestations.api.urls")),
    path("api/v1/", include("runs.api.urls")),
    path("", include("attestations.accounts.urls")),
    path("", include("attestations.urls")),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("robots.txt", views.robots, name="robots"),
    path("admin/", admin.site.urls),
]

handler400 = "kernelindex.errors.bad_request"
handler403 = "kernelindex.errors.permission_denied"
handler404 = "kernelindex.errors.page_not_found"
handler429 = "attestations.accounts.limits.too_many_requests"
handler500 = "kernelindex.errors.server_error"
