"""The forms of sign-in and sign-up, in this site's words."""

from __future__ import annotations

from typing import Any, Final

from allauth.account import forms
from allauth.socialaccount.forms import SignupForm as SocialForm
from django.forms import Form

LABELS: Final = {"login": "Name or e-mail", "username": "Name", "email": "E-mail", "password1": "Password"}
PUBLIC: Final = "Public, and part of your address here: letters a to z, digits, single hyphens. It stays as it is."


def _word(form: Form) -> None:
    """Labels in this site's words; no placeholders, which vanish when they are needed."""
    for name, field in form.fields.items():
        field.label = LABELS.get(name, field.label)
        field.widget.attrs.pop("placeholder", None)
    if "username" in form.fields:
        form.fields["username"].help_text = PUBLIC


class LoginForm(forms.LoginForm):  # type: ignore[misc]
    """Signing in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _word(self)


class SignupForm(forms.SignupForm):  # type: ignore[misc]
    """Signing up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _word(self)


class SocialSignupForm(SocialForm):  # type: ignore[misc]
    """Signing up through GitHub."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _word(self)
