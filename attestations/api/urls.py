"""Addresses of the community in the API. They stand before those of the runs, which end in an answer to all others."""

from django.urls import path

from attestations.api import views

urlpatterns = [
    path("runs/<str:reference>/attestations", views.RunAttestations.as_view(), name="api-run-attestations"),
    path("attestations", views.Attest.as_view(), name="api-attest"),
    path("attestations/<str:id>", views.OneAttestation.as_view(), name="api-attestation"),
    path("reports", views.FileReport.as_view(), name="api-report"),
]
