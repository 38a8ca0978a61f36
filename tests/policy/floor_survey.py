"""How runs stand to the physical floor: `python -m tests.policy.floor_survey FILE…`, as docs/policy.md quotes it.

A file is a CSV file of the Liger-Kernel benchmarks or a source distribution that holds such files. A run that several
files hold counts once.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runs.manifests.canonical import manifest_digest
from runs.policy.roofline import Floor, NoClaim, floor
from runs.sources.liger.archive import read_local
from runs.sources.liger.build import build_bundle

NEAREST = 10


@dataclass(frozen=True)
class Surveyed:
    """A latency run, what is claimed about its floor, and its median in ns."""

    title: str
    workload: str
    claim: Floor | NoClaim
    value: int


def survey(files: Iterable[Path]) -> Iterator[Surveyed]:
    """The latency runs of the files, each once."""
    seen = set()
    for file in files:
        bundle, _ = build_bundle(read_local(file).files)
        known = {manifest_digest(each.manifest): each.manifest for each in bundle.records}
        for digest, manifest in known.items():
            run = manifest["spec"]
            if manifest["kind"] != "BenchmarkRun" or "timing" not in run or digest in seen:
                continue
            seen.add(digest)
            workload = known[run["workloadDigest"]]
            specs = [known[workload["spec"]["operationSpecDigest"]]["spec"], workload["spec"]]
            specs += [known[run[f"{kind}Digest"]]["spec"] for kind in ("protocol", "environment")]
            yield Surveyed(
                manifest["metadata"]["title"],
                workload["metadata"]["title"],
                floor(*specs),
                run["timing"]["latencyNs"]["median"],
            )


def main(files: Iterable[Path]) -> None:
    """Print the counts, every run that is faster than the data sheet allows, and those that come nearest."""
    runs = list(survey(files))
    counts = Counter(run.claim.reason if isinstance(run.claim, NoClaim) else run.claim.binding for run in runs)
    print(f"{len(runs)} latency runs")
    for name, count in counts.most_common():
        print(f"{count:>6}  {name}")
    checked = [(run, run.claim) for run in runs if isinstance(run.claim, Floor)]
    below = sum(claim.is_above(run.value) for run, claim in checked)
    print(f"{len(checked)} checked, {below} below the physical floor; by share of the floor:")
    checked.sort(key=lambda entry: entry[1].share(entry[0].value), reverse=True)
    for number, (run, claim) in enumerate(checked):
        share = claim.share(run.value)
        if number < NEAREST or share > 1:
            print(f"  {share:.3f}  {run.title} · {run.workload} · {claim.hardware} · {claim.binding}")


if __name__ == "__main__":
    main(map(Path, sys.argv[1:]))
