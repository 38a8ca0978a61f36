"""How many requests a client may make: fixed windows of a minute, counted in each process by itself.

A count shared by all processes would need a write to the database for every read, which costs more than the reads that
it would hold off; so a site with N processes lets through up to N times the figures. What is costly has a smaller
budget, and an endpoint that names none is taken for costly.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from threading import Lock
from typing import Final

from django.conf import settings

WINDOW: Final = 60  # seconds
_MOST_CLIENTS: Final = 100_000  # of one window; beyond it the clients that came first are forgotten
_IPV6_SITE: Final = 64  # bits of an IPv6 address that one client is given


@dataclass(frozen=True, slots=True)
class Budget:
    """A kind of request. Its quota a minute is the setting `API_QUOTAS[name]`."""

    name: str

    @property
    def quota(self) -> int:
        quotas: dict[str, int] = getattr(settings, "API_QUOTAS")  # noqa: B009 — a setting of ours: the stubs know Django's alone
        return quotas[self.name]

    @property
    def policy(self) -> str:
        """The budget as the field RateLimit-Policy has it."""
        return f'"{self.name}";q={self.quota};w={WINDOW}'


READ: Final = Budget("read")
COSTLY: Final = Budget("costly")


@dataclass(frozen=True, slots=True)
class Taken:
    """What is left after a request: of which budget, how much, and for how many seconds."""

    budget: Budget
    granted: bool
    remaining: int
    reset: int

    @property
    def field(self) -> str:
        """The field RateLimit."""
        return f'"{self.budget.name}";r={self.remaining};t={self.reset}'


class Counter:
    """Counts within the current window. Safe for several threads."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._window = 0
        self._counts: dict[tuple[str, str], int] = {}

    def take(self, budget: Budget, client: str, cost: int = 1) -> Taken:
        """Count a request of some cost. One that goes beyond the quota is not granted, and counts nothing."""
        now = self._clock()
        window = int(now // WINDOW)
        reset = max(1, int((window + 1) * WINDOW - now))
        quota = budget.quota
        with self._lock:
            if window != self._window:
                self._window, self._counts = window, {}
            key = (budget.name, client)
            spent = self._counts.pop(key, 0)
            granted = spent + cost <= quota
            if granted:
                spent += cost
            self._counts[key] = spent
            if len(self._counts) > _MOST_CLIENTS:
                del self._counts[next(iter(self._counts))]
        return Taken(budget, granted, max(quota - spent, 0), reset)

    def clear(self) -> None:
        """Forget everybody."""
        with self._lock:
            self._counts = {}


counter: Final = Counter()


def client_of(address: str) -> str:
    """The client behind an address: the address itself, or the network that an IPv6 client is given."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    mapped = getattr(parsed, "ipv4_mapped", None)
    return str(mapped) if mapped else str(ip_network((parsed, _IPV6_SITE), strict=False))
