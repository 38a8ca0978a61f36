"""Deleting an account: what is personal goes, the rest stays under "deleted account"."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.utils import timezone

from attestations.accounts import hooks
from attestations.accounts.models import ApiToken, Follow, Notice, NoticeSettings, RetiredName, User


@transaction.atomic
def delete_account(user: User, statements: hooks.Statements) -> None:
    """Erase a person's e-mail addresses, name, sessions, tokens, second factors, follows and notices.

    Statements stay or are withdrawn, as the person chose. A second call finds nothing to do.
    """
    account = User.objects.select_for_update().get(pk=user.pk)
    if account.deleted_at:
        return
    hooks.deleting(account, statements)
    for session in UserSession.objects.filter(user=account):
        session.end()
    for model in (EmailAddress, Authenticator, SocialAccount, ApiToken, Follow, Notice, NoticeSettings):
        model.objects.filter(user=account).delete()
    # The admin's own history names the objects that it changed.
    LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=str(account.pk)).update(
        object_repr="deleted account"
    )
    RetiredName.objects.get_or_create(digest=RetiredName.digest_of(account.username))
    account.username = f"deleted-{account.pk}"
    account.email = ""
    account.deleted_at = timezone.now()
    account.last_login = None
    account.is_active = account.is_staff = account.is_superuser = False
    account.set_unusable_password()
    account.groups.clear()
    account.user_permissions.clear()
    account.save()
