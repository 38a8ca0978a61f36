"""Forms of the account pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms

from attestations.accounts.hooks import Statements
from attestations.accounts.models import User
from attestations.accounts.tokens import Scope


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(
        max_length=60, help_text="For yourself: where the token will be used.", label="Name of the token"
    )
    scopes = forms.MultipleChoiceField(
        choices=[
            (Scope.READ, "read: what the public API answers, and your own records"),
            (Scope.ATTEST, "attest: post statements and submissions in your name"),
        ],
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ],
        error_messages={"required": "Choose at least one."},
    )
    days = forms.TypedChoiceField(
        label="Ends after",
        choices=[(7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "1 year")],
        coerce=int,
        initial=90,
    )

    def life(self) -> timedelta:
        """How long the token will be valid."""
        return timedelta(days=self.cleaned_data["days"])


class DeletionForm(forms.Form):
    """Asks what becomes of the statements, and for the name, so that nobody deletes an account by a slip."""

    statements = forms.ChoiceField(
        label="Your statements",
        choices=[
            (Statements.KEEP, "stay, under “deleted account”"),
            (Statements.WITHDRAW, "are withdrawn"),
        ],
        widget=forms.RadioSelect,
        error_messages={"required": "Choose what becomes of your statements."},
    )
    name = forms.CharField(
        label="Your name here, to confirm", widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user

    def clean_name(self) -> str:
        """The name of the account that is to be deleted, and no other."""
        name: str = self.cleaned_data["name"].strip()
        if name.lower() != self._user.username:
            raise forms.ValidationError("This is not the name of your account.")
        return name
