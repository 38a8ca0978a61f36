"""People in the admin: administrators give roles and suspend; nobody deletes, and no secret is shown."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.http import HttpRequest

from attestations.accounts.models import User

# They hold addresses, keys of second factors and ids of sessions. What is needed of them is on the person's page.
for model in (EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken, UserSession):
    if admin.site.is_registered(model):
        admin.site.unregister(model)


@admin.register(User)
class PersonAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Roles and suspension. Everything else belongs to the person."""

    list_display = ("username", "is_active", "is_staff", "date_joined", "deleted_at")
    list_filter = ("is_active", "is_staff", "groups")
    search_fields = ("username",)
    ordering = ("-date_joined",)
    fields = ("username", "is_active", "is_staff", "is_superuser", "groups", "date_joined", "last_login", "deleted_at")
    readonly_fields = ("username", "date_joined", "last_login", "deleted_at")
    filter_horizontal = ("groups",)
    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        """People sign up themselves."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody gives a role to themselves, and what was deleted stays so."""
        if isinstance(obj, User) and (obj.pk == request.user.pk or obj.deleted_at):
            return False
        return super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Who is no superuser makes none, and gives no groups: those carry permissions."""
        protected = () if request.user.is_superuser else ("is_staff", "is_superuser", "groups")
        return (*self.readonly_fields, *protected)
