"""The admin site: nothing can be deleted in it, and its first page shows what waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse


class NeverDeletes:
    """Put before every admin class of the site."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Site(admin.AdminSite):
    site_header = "KernelIndex"
    site_title = "KernelIndex"
    index_title = "Moderation"
    index_template = "moderation/index.html"

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self.disable_action("delete_selected")

    def register(
        self,
        model_or_iterable: type[models.Model] | Iterable[type[models.Model]],
        admin_class: type[admin.ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        """Register as usual, with deletion taken out."""
        chosen = admin_class or admin.ModelAdmin
        never = type(chosen.__name__, (NeverDeletes, chosen), {"__module__": chosen.__module__})
        super().register(model_or_iterable, never, **options)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The site's own sign-in, with its second factor and its limits. The admin has no door of its own."""
        if not request.user.is_authenticated:
            return redirect_to_login(request.GET.get("next", "") or reverse("admin:index"))
        if not self.has_permission(request):
            raise PermissionDenied
        return redirect("admin:index")

    def password_change(  # type: ignore[override]  # a redirect is as good an answer
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of accounts, which tells the person by mail."""
        return redirect("account_change_password")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """What waits, and how much of it, above the list of tables."""
        from attestations.moderation.queues import queues  # noqa: PLC0415  # the tables are not known before

        return super().index(request, {"queues": queues(), **(extra_context or {})})

    def get_urls(self) -> list[URLResolver | URLPattern]:
        """The admin's addresses, with the queue of runs below the physical floor."""
        from attestations.moderation.floor import floor_queue  # noqa: PLC0415

        return [path("floor/", self.admin_view(floor_queue), name="floor-queue"), *super().get_urls()]
