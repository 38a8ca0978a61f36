"""The Celery task of the dispatcher: a worker of its own with one queue, the only process that has the key."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from runs.reruns import queue
from runs.reruns.delivery import declare, send
from runs.reruns.dispatch import dispatch, overdue
from runs.reruns.documents.keys import load_private_key


@shared_task(name="reruns.dispatch")
def dispatch_waiting() -> int:
    """Expire what nobody answered, send again what nobody spoke of, send what was approved. How many jobs were sent.

    Raises RuntimeError in a process without the key, and `Refusal` where the key may not sign.
    """
    if settings.DISPATCHER_KEY is None:
        raise RuntimeError("KERNELINDEX_DISPATCHER_KEY is not set: this worker is not the dispatcher")
    now = timezone.now()
    queue.expire(now)
    declare()
    deliveries = [
        *overdue(now),
        *dispatch(load_private_key(settings.DISPATCHER_KEY), budget=settings.RERUNS_A_DAY),
    ]
    send(deliveries)
    return sum(len(delivery.envelopes) for delivery in deliveries)
