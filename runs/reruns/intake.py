"""Results on their way in: verified, recorded once, published. What is refused is said on the rerun's page."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Final

from django.conf import settings
from django.utils import timezone

from runs.models import Rerun
from runs.publication import publish_rerun
from runs.refusals import PublicationRefused
from runs.reruns import queue
from runs.reruns.documents.device import DeviceOpening, device_hmac
from runs.reruns.documents.envelope import claimed_subject, open_envelope
from runs.reruns.documents.exchange import VerifiedResult, verify_result
from runs.reruns.documents.keys import KeySet
from runs.reruns.documents.refusals import Refusal
from runs.reruns.documents.result import MAX_PAYLOAD_BYTES, PREDICATE_TYPE
from runs.reruns.files import Message
from runs.reruns.keyring import key_set

LOG_SHOWN: Final = 3000


class Taken(StrEnum):
    """What became of a result that holds."""

    PUBLISHED = "published"
    FAILED = "failed"
    KNOWN = "known"
    """The rerun has ended already: a second delivery, or a second runner."""


def take(message: Message) -> Taken:
    """Take one result. Raises `Refusal` where it does not hold; then nothing has changed but perhaps a remark.

    A second delivery finds the rerun ended. What a stranger sends changes nothing; what one of our runners signed and
    we do not take (an expired job, a wrong clock) is said on the rerun's page, which stays open.
    """
    rerun = _rerun_of(message)
    if rerun.state not in queue.SENT:
        return Taken.KNOWN
    keys = key_set()
    try:
        verified = verify_result(message.envelope, json.loads(rerun.job), keys, timezone.now())
        opening = None if message.opening is None else DeviceOpening.read(message.opening)
        device = device_hmac(opening, verified.result.device_commitment, site_key=device_key())
    except Refusal as refusal:
        if _is_signed_by_a_runner(message, keys):
            queue.remark(rerun.id, refusal.code, str(refusal))
        raise
    if _measured_nothing(verified):
        return Taken.FAILED if _fail(rerun, verified) else Taken.KNOWN
    project = rerun.run.implementation.project
    try:
        result = publish_rerun(verified, message.envelope, device=device, project=project.slug if project else None)
    except PublicationRefused as refused:
        queue.fail(rerun.id, "PUBLICATION_REFUSED", str(refused))
        return Taken.FAILED
    return Taken.KNOWN if result is None else Taken.PUBLISHED


def device_key() -> bytes:
    """The site's own key for the identities of devices."""
    return hashlib.sha256(b"kernelindex device key v1\0" + settings.DEVICE_KEY.encode()).digest()


def _rerun_of(message: Message) -> Rerun:
    """The rerun whose job the result says it answers; believed only after `verify_result`."""
    rerun = (
        Rerun.objects.filter(job_digest=claimed_subject(message.envelope, "job"))
        .select_related("run__implementation__project")
        .first()
    )
    if rerun is None:
        raise Refusal("OTHER_JOB", "no job of ours has this digest")
    return rerun


def _is_signed_by_a_runner(message: Message, keys: KeySet) -> bool:
    try:
        opened = open_envelope(message.envelope, find=keys.find, predicate_type=PREDICATE_TYPE, limit=MAX_PAYLOAD_BYTES)
        opened.key.require("runner", at=timezone.now(), now=timezone.now())
    except Refusal:
        return False
    return True


def _measured_nothing(verified: VerifiedResult) -> bool:
    result = verified.result
    return result.failure is not None and not result.processes and result.correctness is None


def _fail(rerun: Rerun, verified: VerifiedResult) -> bool:
    failure = verified.result.failure
    assert failure is not None
    shown = f"{failure.message}\n\n{verified.result.log[-LOG_SHOWN:]}".strip()
    return queue.fail(rerun.id, failure.code, shown)
