"""Who is asking."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from attestations.accounts.models import User


def signed_in(request: HttpRequest) -> User:
    """The person who is signed in; PermissionDenied where nobody is."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def can_reauthenticate(request: HttpRequest) -> bool:
    """Whether the person has anything to prove themselves by: one who only comes in through GitHub has not."""
    return bool(get_adapter().get_reauthentication_methods(request.user))


def client_address(request: HttpRequest) -> str:
    """The address of the client, believing as many proxies as the settings say there are. For rate limits."""
    address: str = get_adapter().get_client_ip(request)
    return address
