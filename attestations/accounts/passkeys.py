"""The forms that take a passkey's answer.

The parsers below them were written for what browsers send, and raise whatever comes to hand on anything else. Here that
is a refusal, as for a wrong code: an address that anybody can post to must not answer 500.
"""

from __future__ import annotations

from typing import Any, Final

from allauth.mfa.webauthn import forms
from cryptography.exceptions import InvalidSignature
from django.forms.utils import ErrorDict

_MALFORMED: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, InvalidSignature)


class Refusing:
    """Mixed into a form that parses a credential while it is cleaned."""

    def full_clean(self) -> None:
        """Clean; a credential that cannot be read is an error of the form."""
        try:
            super().full_clean()  # type: ignore[misc]
        except _MALFORMED:
            self.cleaned_data: dict[str, object] = {}
            self._errors = ErrorDict({"credential": ["This is no answer of a passkey. Try again."]})


class AddForm(Refusing, forms.AddWebAuthnForm):  # type: ignore[misc]
    """Another passkey or security key."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = "Name of the key"
        self.fields["passwordless"].label = "Sign in with it alone, without name and password (a passkey)"
        self.fields["passwordless"].help_text = "Otherwise it is asked for after the password."


class AuthenticateForm(Refusing, forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    """As a second factor."""


class LoginForm(Refusing, forms.LoginWebAuthnForm):  # type: ignore[misc]
    """In place of name and password."""


class ReauthenticateForm(Refusing, forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """Once more, before something important."""
