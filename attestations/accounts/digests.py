"""The daily mail about what a person follows, and leaving it with one click (RFC 8058)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.signing import BadSignature, Signer
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from attestations.accounts.models import Notice, NoticeSettings, User

MOST: Final = 50  # notices that one mail lists; the page has the rest
_signer = Signer(salt="accounts.unsubscribe")


def send_digests() -> int:
    """Send everybody who wants it what was not mailed yet. Yields the number of mails.

    Notices are claimed by an update before the mail is sent and given back where that fails, so two workers send one
    mail, and no transaction is open while a mail server takes its time.
    """
    waiting = Notice.objects.filter(mailed_at=None, user__is_active=True).values_list("user_id", flat=True)
    sent = 0
    for user in User.objects.filter(id__in=waiting.distinct().order_by()):
        sent += _send_digest(user, timezone.now())
    return sent


def _send_digest(user: User, now: datetime) -> bool:
    unmailed = Notice.objects.filter(user=user, mailed_at=None)
    unseen = list(unmailed.filter(seen_at=None).order_by("-id")[: MOST + 1])
    address = EmailAddress.objects.filter(user=user, primary=True, verified=True).first()
    wanted = not NoticeSettings.objects.filter(user=user, digest=False).exists()
    ids = list(unmailed.values_list("id", flat=True))
    claimed = Notice.objects.filter(id__in=ids, mailed_at=None).update(mailed_at=now)
    if not (claimed == len(ids) and unseen and wanted and address):
        return False
    try:
        _message(user, address.email, unseen).send()
    except OSError:  # of the mail server: what is not sent today is sent tomorrow
        Notice.objects.filter(id__in=ids, mailed_at=now).update(mailed_at=None)
        return False
    return True


def _message(user: User, address: str, notices: list[Notice]) -> EmailMessage:
    leave = settings.BASE_URL + reverse("unsubscribe", args=[unsubscribe_token(user)])
    context = {
        "name": user.username,
        "notices": notices[:MOST],
        "more": len(notices) > MOST,
        "site": settings.BASE_URL,
        "page": settings.BASE_URL + reverse("following"),
        "unsubscribe": leave,
    }
    count = f"{MOST}+" if len(notices) > MOST else len(notices)
    return EmailMessage(
        subject=f"KernelIndex: {count} {'notice' if len(notices) == 1 else 'notices'}",
        body=render_to_string("accounts/digest.txt", context),
        to=[address],
        headers={"List-Unsubscribe": f"<{leave}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
    )


def unsubscribe_token(user: User) -> str:
    """What the link in a mail carries: it ends the digest of this person and can do nothing else."""
    return _signer.sign(str(user.pk))


def user_of_token(token: str) -> User | None:
    """Whose mail a link came from."""
    try:
        return User.objects.filter(pk=_signer.unsign(token), deleted_at=None).first()
    except BadSignature:
        return None


def set_digest(user: User, wanted: bool) -> None:
    """Whether this person gets the mail."""
    NoticeSettings.objects.update_or_create(user=user, defaults={"digest": wanted})
