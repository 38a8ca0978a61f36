"""What a worker does beside the web processes. Celery beat starts it."""

from __future__ import annotations

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone

from attestations.accounts import digests, notices
from attestations.accounts.models import CacheEntry


@shared_task(name="accounts.fan_out")
def fan_out() -> None:
    """Every minute: tell those who follow what happened to the evidence."""
    notices.fan_out()


@shared_task(name="accounts.send_digests")
def send_digests() -> None:
    """Every day: the mail about what was not seen on the page."""
    digests.send_digests()


@shared_task(name="accounts.tidy")
def tidy() -> None:
    """Every day: sessions and rate-limit counts that ended go, and with the counts the addresses in their keys."""
    call_command("clearsessions")
    CacheEntry.objects.filter(expires__lt=timezone.now()).delete()
