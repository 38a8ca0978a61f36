"""A person's notices as an Atom feed. The address is the secret; no session is needed."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.cache import never_cache

from attestations.accounts.feeds import user_of_feed
from attestations.accounts.models import Notice
from kernelindex.methods import read_only

LENGTH: Final = 100  # notices in the feed


@never_cache
@read_only
def feed(request: HttpRequest, token: str) -> HttpResponse:
    """The latest notices."""
    user = user_of_feed(token)
    if user is None:
        raise Http404("There is no feed at this address. It may have been replaced by another.")
    atom = Atom1Feed(
        title=f"KernelIndex: what {user.username} follows",
        link=settings.BASE_URL + reverse("following"),
        description="",
        feed_url=settings.BASE_URL + request.path,
    )
    for notice in Notice.objects.filter(user=user).order_by("-id")[:LENGTH]:
        atom.add_item(
            title=notice.subject,
            link=settings.BASE_URL + notice.path,
            description=notice.facts,
            unique_id=f"{settings.BASE_URL}{notice.path}#{notice.topic}-{notice.id}",
            pubdate=notice.at,
            updateddate=notice.at,
        )
    response = HttpResponse(atom.writeString("utf-8"), content_type=atom.content_type)
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
