"""Check a rerun offline: `python -m runs.reruns.verify FILE --keys KEYS`.

FILE is a bundle, KEYS the public keys from the site's own address or from anywhere else but the bundle. Exit status: 0
the bundle holds, 1 it does not, 2 a file cannot be read.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from runs.policy.statistics import Ratio
from runs.policy.verdict import Decision
from runs.reruns.documents import bundle
from runs.reruns.documents.base import read_json
from runs.reruns.documents.exchange import VerifiedResult
from runs.reruns.documents.keys import KeySet, PublicKey
from runs.reruns.documents.refusals import Refusal

HOLDS, REFUSED, UNREADABLE = 0, 1, 2
_MAX_KEYS_BYTES = 8 * 1024 * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m runs.reruns.verify", description="Check a rerun's bundle offline.")
    parser.add_argument("file", type=Path, metavar="FILE", help="the bundle")
    parser.add_argument(
        "--keys", type=Path, required=True, metavar="KEYS", help="the published keys; never the bundle's"
    )
    options = parser.parse_args(arguments)
    try:
        data = _read(options.file, bundle.MAX_BYTES)
        keys = read_keys(_read(options.keys, _MAX_KEYS_BYTES))
    except (OSError, Refusal) as error:
        sys.stderr.write(f"cannot read: {error}\n")
        return UNREADABLE
    try:
        verified, decision = bundle.check(data, keys, datetime.now(UTC))
    except Refusal as refusal:
        sys.stderr.write(f"REFUSED {refusal.code}: {refusal}\n")
        return REFUSED
    explain(verified, decision, sys.stdout)
    return HOLDS


def read_keys(data: bytes) -> KeySet:
    """The key set in a KEYS file. Raises `Refusal`."""
    return KeySet.read(read_json(data, limit=_MAX_KEYS_BYTES))


def explain(verified: VerifiedResult, decision: Decision, out: TextIO) -> None:
    """Write what was checked and what it says."""
    job, result = verified.job.job, verified.result
    out.write(f"job        {job.job_id}  {verified.job.digest}\n")
    out.write(f"  signed by {_who(verified.job.key)} at {job.issued_at}\n")
    out.write(f"result     {verified.digest}\n")
    out.write(f"  signed by {_who(verified.key)}, finished at {result.finished_at}\n")
    for role, manifest in job.manifests.parsed.items():
        out.write(f"{role:<15}{manifest.digest}\n")
    out.write(f"executed   {result.executed.recipe.id} version {result.executed.recipe.version}, ")
    out.write(f"on {result.product}\n")
    claim_ns = float(job.claim.value)
    out.write(f"claim      {claim_ns:,.0f} ns ({job.claim.statistic})\n")
    _ratio("event time", decision.event, claim_ns, out)
    _ratio("device time", decision.device, claim_ns, out)
    out.write(f"verdict    {decision.verdict.replace('_', ' ')} ({decision.version}, {decision.processes} processes)\n")
    for reason in decision.reasons:
        out.write(f"  {reason.code}: {reason.sentence}{f' ({reason.detail})' if reason.detail else ''}\n")
    out.write("HOLDS: both signatures, all digests, all seeds, and the verdict taken anew from the samples.\n")


def _who(key: PublicKey) -> str:
    operator = f", operated by {key.operator}" if key.operator else ""
    return f"{key.role} {key.name}{operator} ({key.keyid[:16]}…)"


def _ratio(name: str, ratio: Ratio | None, claim_ns: float, out: TextIO) -> None:
    if ratio is None:
        out.write(f"{name}: not measured\n")
        return
    out.write(f"{name}: {ratio.estimate * claim_ns:,.0f} ns, {ratio.estimate:.3f} of the claim ")
    out.write(f"({ratio.low:.3f} to {ratio.high:.3f})\n")


def _read(path: Path, limit: int) -> bytes:
    with path.open("rb") as file:
        # One byte more than allowed is enough to refuse it, however large the file is.
        return file.read(limit + 1)


if __name__ == "__main__":
    raise SystemExit(main())
