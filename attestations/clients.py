"""Telling clients apart without knowing who they are.

A hash of an address is made with the salt of its day. Salts are random, and those older than yesterday are thrown away:
from then on nobody, this site included, can tell whose hash it was, or that two of them are one client's.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from secrets import token_bytes

from django.utils import timezone

from attestations.models import ClientSalt


@dataclass(frozen=True, slots=True)
class Hashes:
    """A client and its network, hashed with one day's salt."""

    client: str
    network: str


def hashes(address: str) -> list[Hashes]:
    """With today's salt, and with yesterday's where there is one: what to write, and what else to look for."""
    return [Hashes(*(_keyed(salt, part) for part in _parts(address))) for salt in _salts(timezone.now().date())]


def _parts(address: str) -> tuple[str, str]:
    """The client (an IPv4 address, an IPv6 /64) and its network (a /24, a /48)."""
    try:
        found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return address, address
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    lengths = (32, 24) if isinstance(found, IPv4Address) else (64, 48)
    client, network = (str(ip_network(f"{found}/{length}", strict=False)) for length in lengths)
    return client, network


def _salts(today: date) -> Iterator[bytes]:
    yesterday = today - timedelta(days=1)
    salt, made = ClientSalt.objects.get_or_create(day=today, defaults={"value": token_bytes(32)})
    if made:
        ClientSalt.objects.filter(day__lt=yesterday).delete()
    yield bytes(salt.value)
    for earlier in ClientSalt.objects.filter(day=yesterday):
        yield bytes(earlier.value)


def _keyed(salt: bytes, text: str) -> str:
    return hmac.new(salt, text.encode(), sha256).hexdigest()
