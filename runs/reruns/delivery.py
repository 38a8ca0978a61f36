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
    app = lane(settings.RERUN_BROKER_URL, RESULTS)
    try:
        for delivery in deliveries:
            queue = job_queue(delivery.product, declare=True)
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
    with connect(settings.RERUN_BROKER_URL, RESULTS) as connection:
        channel = connection.channel()
        for queue in (result_queue(declare=True), *_queues(products)):
            queue(channel).declare()


def _queues(products: Iterable[str]) -> list[object]:
    return [job_queue(product, declare=True) for product in sorted({*products, *products_with_runners()})]
