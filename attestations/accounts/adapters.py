"""What this site decides where django-allauth asks: names, redirects, and how second factors are kept."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.text import slugify

from attestations.accounts.models import RetiredName, User
from attestations.accounts.names import LONGEST, skeleton

SITE_NAME = "KernelIndex"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Names that nobody else has, had, or could be taken for; redirects to this site alone."""

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """The name, lower-cased. ValidationError where it may not be had. `shallow` leaves out the database."""
        name = username.lower()
        for validator in User._meta.get_field("username").validators:
            validator(name)
        if not shallow:
            if User.objects.filter(skeleton=skeleton(name)).exists():
                raise ValidationError("This name is taken, or looks like one that is.", code="taken")
            if RetiredName.objects.filter(digest=RetiredName.digest_of(name)).exists():
                raise ValidationError("This name was somebody's and is not given again.", code="retired")
        return name

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """The new account. Whoever loses a race for a name is told so, and chooses another."""
        try:
            with transaction.atomic():
                return super().save_user(request, user, form, commit)  # type: ignore[no-any-return]
        except IntegrityError:
            messages.error(request, "Somebody took this name a moment ago. Choose another.")
            raise ImmediateHttpResponse(redirect("account_signup")) from None

    def generate_unique_username(self, txts: list[str | None], regex: str | None = None) -> str:
        """A free name that is like one of the texts: what the form suggests to somebody who comes from elsewhere."""
        for text in txts:
            base = slugify((text or "").partition("@")[0]).replace("_", "-").strip("-")[: LONGEST - 4].strip("-")
            for candidate in (base, *(f"{base}-{number}" for number in range(2, 50))):
                try:
                    return self.clean_username(candidate)
                except ValidationError:
                    continue
        return ""

    def is_safe_url(self, url: str | None) -> bool:
        """Whether to go there after signing in: a path on this site, whatever hosts it answers to."""
        return bool(url) and url_has_allowed_host_and_scheme(url, allowed_hosts=None)


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of second factors are encrypted with the site's key, so that a copy of the database has none."""

    def encrypt(self, text: str) -> str:
        """A secret as it is stored."""
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """A stored secret as it was."""
        return _cipher().decrypt(encrypted_text.encode()).decode()

    def get_totp_label(self, user: Any) -> str:
        """What an authenticator app shows beside the code."""
        return str(user.username)

    def _get_site_name(self) -> str:
        return SITE_NAME

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        """The name that the form for another passkey suggests."""
        return f"Passkey {user.authenticator_set.filter(type=type).count() + 1}"


def _cipher() -> MultiFernet:
    """With the current key first; what an earlier key encrypted can still be read while that is a fallback."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    derived = (salted_hmac("accounts.second-factor", "", secret=key, algorithm="sha256").digest() for key in keys)
    return MultiFernet([Fernet(urlsafe_b64encode(key)) for key in derived])
