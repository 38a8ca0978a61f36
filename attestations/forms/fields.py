"""Fields that more than one form has. What they yield is cleaned: no invisible characters, one spelling."""

from __future__ import annotations

import math
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError

from attestations import markdown
from attestations.text import clean, clean_line

LONGEST_URL: Final = 2_000


class LineField(forms.CharField):
    """One line of text."""

    def to_python(self, value: Any) -> str:
        return clean_line(super().to_python(value) or "")


class ProseField(forms.CharField):
    """Text of several lines; a few links, not a thousand."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        return clean(super().to_python(value) or "")

    def validate(self, value: Any) -> None:
        super().validate(value)
        if markdown.count_links(value) > markdown.MOST_LINKS:
            raise ValidationError(f"The text has more than {markdown.MOST_LINKS} links. Keep those that matter.")


class HttpsField(forms.CharField):
    """An https address in ASCII, without a user name in it."""

    widget = forms.URLInput

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=LONGEST_URL, **kwargs)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if not value:
            return
        try:
            parts = urlsplit(value)
            host, _ = parts.hostname, parts.port
        except ValueError as error:
            raise ValidationError("This is no address.") from error
        if parts.scheme != "https" or not host or "." not in host:
            raise ValidationError("Give an address that begins with https://.")
        if not value.isascii() or not value.isprintable() or " " in value or parts.username is not None:
            raise ValidationError("Give the address in ASCII, without blanks and without a user name.")


class FigureField(forms.FloatField):
    """A positive, finite number."""

    widget = forms.TextInput

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is not None and not (math.isfinite(value) and 0 < value < 1e18):
            raise ValidationError("Give a positive number.")
