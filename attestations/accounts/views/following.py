"""What a person follows and was told."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from attestations.accounts import digests, feeds
from attestations.accounts import following as service
from attestations.accounts.models import Notice, NoticeSettings, User
from attestations.accounts.people import signed_in

PAGE: Final = 50  # notices on a page


@never_cache
@require_safe
@login_required
def following(request: HttpRequest) -> HttpResponse:
    """The notices, the latest first; what is followed; the feed and the mail."""
    user = signed_in(request)
    before = _before(request)
    notices = Notice.objects.filter(user=user).order_by("-id")
    if before:
        notices = notices.filter(id__lt=before)
    shown = list(notices[: PAGE + 1])
    context = {
        "notices": shown[:PAGE],
        "next": shown[PAGE - 1].id if len(shown) > PAGE else None,
        "unseen": Notice.objects.filter(user=user, seen_at=None).count(),
        "subjects": service.followed(user),
        "feed_url": _feed_url(user),
        "digest": not NoticeSettings.objects.filter(user=user, digest=False).exists(),
    }
    return render(request, "accounts/following.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def subject(request: HttpRequest, kind: str, key: str) -> HttpResponse:
    """A page with the button that follows, and what the button does."""
    user = signed_in(request)
    found = service.find(kind, key)
    if found is None:
        raise Http404("There is nothing by this name that can be followed.")
    if request.method == "POST":
        try:
            service.follow(user, found)
        except service.TooManyFollows:
            messages.error(request, f"You follow {service.MOST} subjects, as many as one may. Remove one first.")
        else:
            messages.success(request, f"You follow {found.name}.")
        return redirect("following")
    context = {"subject": found, "is_following": service.is_following(user, found)}
    return render(request, "accounts/follow.html", context)


@require_POST
@login_required
def unfollow(request: HttpRequest, kind: str, key: str) -> HttpResponse:
    """Follow no more, also what is no longer there."""
    if not service.unfollow(signed_in(request), kind, key):
        raise Http404("You do not follow this.")
    messages.success(request, "You follow it no more.")
    return redirect("following")


@require_POST
@login_required
def seen(request: HttpRequest) -> HttpResponse:
    """Mark everything up to what the person was shown."""
    newest = request.POST.get("newest", "")
    if not newest.isdecimal() or len(newest) > 18:
        raise BadRequest("The form names no notice.")
    notices = Notice.objects.filter(user=signed_in(request), seen_at=None, id__lte=int(newest))
    notices.update(seen_at=timezone.now())
    return redirect("following")


@require_POST
@login_required
def digest(request: HttpRequest) -> HttpResponse:
    """Whether to get the daily mail."""
    wanted = request.POST.get("digest") == "on"
    digests.set_digest(signed_in(request), wanted)
    messages.success(request, "You get a mail a day." if wanted else "You get no more mail about what you follow.")
    return redirect("following")


@require_POST
@login_required
def rotate_feed(request: HttpRequest) -> HttpResponse:
    """Another address for the feed."""
    feeds.rotate_feed(signed_in(request))
    messages.success(request, "The feed has a new address. The old one no longer works.")
    return redirect("following")


def _before(request: HttpRequest) -> int | None:
    before = request.GET.get("before", "")
    if not before:
        return None
    if not before.isdecimal() or len(before) > 18:
        raise BadRequest("This is no page of the list. Begin again without it.")
    return int(before)


def _feed_url(user: User) -> str:
    return settings.BASE_URL + reverse("following-feed", args=[feeds.feed_token(user)])
