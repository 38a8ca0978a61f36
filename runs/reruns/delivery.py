"""Handing deliveries to the broker, and declaring the queues that runners use but may not declare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.conf import settings

from runs.reruns.dispatch import Delivery, products_with_runners
from runs.reruns.transport import EXECUTE, RESULTS, connect, job_queue, lane, result_queue


def send(deliveries: Sequence[Delivery]) -> None:
    """Send each delivery as one message of its product's queue. Raises what the broker raises.

    A job that was marked queued and did not get out is sent again when its lease has run out.
    """
    if not deliveries:
        return
    declare({delivery.product for delivery in deliveries})
    url = settings.RERUN_BROKER_URL
    app = lane(url, RESULTS)
    try:
        for delivery in deliveries:
            queue = job_queue(url, delivery.product, declare=True)
            app.send_task(
                EXECUTE,
                args=[list(delivery.envelopes)],
                exchange=queue.exchange,
                routing_key=queue.routing_key,
                retry=True,
                retry_policy={"max_retries": 3},
            )
    finally:
        app.close()


def declare(products: Iterable[str] = ()) -> None:
    """Declare the result queue and the queues of these products and of all that have a runner."""
    url = settings.RERUN_BROKER_URL
    names = sorted({*products, *products_with_runners()})
    with connect(url, RESULTS) as connection:
        channel = connection.channel()
        for queue in (result_queue(url, declare=True), *(job_queue(url, name, declare=True) for name in names)):
            queue(channel).declare()
