"""People, and the names of those who left."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.urls import reverse
from django.utils.crypto import salted_hmac

from attestations.accounts.names import LONGEST, skeleton, validate_name


class User(AbstractUser):
    """A person with an account. One who deleted it stays as a row without anything personal, so that what others
    built upon (statements that were kept, the audit trail) still refers to something."""

    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    username = models.CharField(
        "name",
        max_length=LONGEST,
        unique=True,
        validators=[validate_name],
        help_text="Letters a to z, digits and single hyphens. It is public and part of your address here.",
        error_messages={"unique": "This name is taken."},
    )
    skeleton = models.CharField(max_length=LONGEST, unique=True, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    REQUIRED_FIELDS = ["email"]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Keep the skeleton in step with the name."""
        self.skeleton = self.username if self.deleted_at else skeleton(self.username)
        super().save(*args, **kwargs)

    @property
    def shown_name(self) -> str:
        """The name that pages show."""
        return "deleted account" if self.deleted_at else self.username

    def get_full_name(self) -> str:
        """The name that pages show; there is no other."""
        return self.shown_name

    def get_short_name(self) -> str:
        """The name that pages show; there is no other."""
        return self.shown_name

    def get_absolute_url(self) -> str:
        """The public profile."""
        return reverse("person", args=[self.username])


class RetiredName(models.Model):
    """A name that somebody had and that nobody may have again: old links and statements must not pass to a stranger.

    Only a keyed digest is stored, so the name itself is gone.
    """

    digest = models.CharField(max_length=64, primary_key=True)

    def __str__(self) -> str:
        return self.digest

    @staticmethod
    def digest_of(name: str) -> str:
        """The keyed digest of what a name looks like."""
        return salted_hmac("accounts.retired-name", skeleton(name), algorithm="sha256").hexdigest()
