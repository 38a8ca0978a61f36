"""Signing jobs. The dispatcher alone does this: it is the one process of the site that has the key."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import F
from django.utils import timezone

from runs.models import Rerun, Signer
from runs.reruns import queue
from runs.reruns.documents.envelope import envelope_digest
from runs.reruns.documents.exchange import sign_job
from runs.reruns.documents.job import Job
from runs.reruns.documents.keys import PrivateKey
from runs.reruns.documents.refusals import Refusal
from runs.reruns.harness.batch import HARNESS_VERSION
from runs.reruns.harness.recipes.catalog import NotRerunnable
from runs.reruns.keyring import key_set
from runs.storage import one_writer

A_DAY: Final = timedelta(days=1)
VALID_FOR: Final = timedelta(hours=24)
BATCH_JOBS: Final = 60
"""Jobs of one message: as many as a runner executes within 8 minutes."""
MOST_SENT: Final = 3 * BATCH_JOBS
"""Jobs of a product that are with its runners at one time; the rest waits here, where priorities still count."""
SECONDS: Final = 480
MEMORY_BYTES: Final = 120 * 2**30
LOG_CHARACTERS: Final = 16 * 1024
_RELATED: Final = ("run__operation", "run__workload", "run__implementation", "run__protocol", "run__environment")


@dataclass(frozen=True, slots=True)
class Delivery:
    """Jobs that one runner is to execute as a batch: one message of a product's queue."""

    product: str
    envelopes: tuple[dict[str, Any], ...]


def require_key(key: PrivateKey) -> None:
    """Refuse to sign with a key that no runner would accept. Raises `Refusal`."""
    now = timezone.now()
    key_set().find(key.keyid).require("dispatcher", at=now, now=now)


def dispatch(key: PrivateKey, *, budget: int, product: str | None = None, most: int = MOST_SENT) -> list[Delivery]:
    """Sign the jobs of approved reruns and mark them queued, product by product, the urgent ones first.

    At most `most` jobs of a product are out at one time, and at most `budget` are sent a day. Jobs of one delivery
    share a salt, so that a runner executes them as one batch. Raises `Refusal` where the key may not sign.
    """
    require_key(key)
    products = Rerun.objects.filter(state="approved").values_list("product", flat=True).distinct().order_by("product")
    if product:
        products = products.filter(product=product)
    return [delivery for name in list(products) for delivery in _of_product(key, name, budget, most)]


def _of_product(key: PrivateKey, product: str, budget: int, most: int) -> Iterator[Delivery]:
    with one_writer():
        now = timezone.now()
        reruns = Rerun.objects.filter(product=product)
        room = min(
            most - reruns.filter(state__in=queue.SENT).count(),
            budget - reruns.filter(queued_at__gt=now - A_DAY).count(),
        )
        waiting = reruns.filter(state="approved").order_by("-priority", "id").select_related(*_RELATED)
        chosen = list(waiting[: max(0, room)])
        deliveries = []
        for start in range(0, len(chosen), BATCH_JOBS):
            envelopes = _sign_all(chosen[start : start + BATCH_JOBS], key, now)
            if envelopes:
                deliveries.append(Delivery(product, envelopes))
    yield from deliveries  # after the commit: what a runner gets is known here


def overdue(now: datetime, *, product: str | None = None, again: bool = False) -> list[Delivery]:
    """Deliveries of jobs that were sent before and not heard of (see `queue.take_overdue`)."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in _runner_products(product):
        found[name] = queue.take_overdue(now, product=name, again=again)
    return [
        Delivery(name, tuple(envelopes[start : start + BATCH_JOBS]))
        for name, envelopes in found.items()
        for start in range(0, len(envelopes), BATCH_JOBS)
    ]


def _runner_products(product: str | None) -> Sequence[str]:
    if product:
        return [product]
    return sorted(set(Rerun.objects.filter(state__in=queue.SENT).values_list("product", flat=True)))


def products_with_runners() -> list[str]:
    """The products that some runner is registered for: the queues that have to exist."""
    return sorted(set(Signer.objects.filter(role="runner").values_list("product", flat=True)))


def _sign_all(reruns: Sequence[Rerun], key: PrivateKey, now: datetime) -> tuple[dict[str, Any], ...]:
    salt = secrets.token_hex(32)
    envelopes = []
    for rerun in reruns:
        try:
            envelope = _sign(rerun, key, salt, now)
        except Refusal as refusal:
            # One claim that no job can carry must not hold up the others.
            queue.move(
                rerun.id,
                leave=("approved",),
                to="failed",
                code=refusal.code,
                detail=str(refusal)[: queue.DETAIL_CHARACTERS],
                finished_at=now,
            )
            continue
        moved = Rerun.objects.filter(id=rerun.id, state="approved").update(
            state="queued",
            job=json.dumps(envelope),
            job_digest=envelope_digest(envelope),
            queued_at=now,
            leased_until=now + queue.LEASE,
            expires_at=now + VALID_FOR,
            version=F("version") + 1,
        )
        if moved:
            envelopes.append(envelope)
    return tuple(envelopes)


def _sign(rerun: Rerun, key: PrivateKey, salt: str, now: datetime) -> dict[str, Any]:
    run = rerun.run
    claim = queue.claim_of(run)
    if isinstance(claim, NotRerunnable):
        raise Refusal("OTHER_RECIPE", claim.reason)
    records = {
        "run": run,
        "workload": run.workload,
        "implementation": run.implementation,
        "protocol": run.protocol,
        "environment": run.environment,
    }
    job = Job.read(
        {
            "jobId": str(rerun.id),
            "nonce": secrets.token_hex(32),
            "issuedAt": _instant(now),
            "expiresAt": _instant(now + VALID_FOR),
            "product": rerun.product,
            "recipe": {"id": claim.recipe.id, "version": claim.recipe.version},
            "harnessVersion": HARNESS_VERSION,
            "implementationPackage": claim.recipe.package,
            "claimedVersions": [
                {"package": package, "version": version, "readFrom": where}
                for package, version, where in claim.versions
            ],
            "siteSalt": salt,
            "limits": {"seconds": SECONDS, "memoryBytes": MEMORY_BYTES, "logCharacters": LOG_CHARACTERS},
            "manifests": {
                role: {**json.loads(record.canonical), "metadata": record.metadata} for role, record in records.items()
            },
        }
    )
    return sign_job(job, key)


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
