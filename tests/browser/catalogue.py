"""What the browser tests look at: a catalogue with every state that a page can show.

    python -m tests.browser.catalogue

publishes it into the database of the environment, with people who have spoken of it (`community`), and prints, as
JSON, what the addresses of the pages are made of: the ids of the runs, reruns, statements and so on that tests name,
and the session of each person.
"""

from __future__ import annotations

import json
from typing import Any

import django

# One run with everything that a manifest may say.
FULL = {
    "correctness": {"comparator": "allclose", "maximumAbsoluteError": 1e-05, "matchedRatio": 1},
    "timing": {
        "primaryStatistic": "mean",
        "samples": 1000,
        "latencyNs": {"mean": 1_234_567, "p05": 1_200_000, "p95": 1_400_000, "confidence95": [1_230_000, 1_239_000]},
    },
    "measurements": [
        {"metric": "peak_memory", "unit": "bytes", "statistic": "maximum", "value": 1_610_612_736, "sampleCount": 3},
        {"metric": "throughput", "unit": "tflops", "statistic": "median", "value": 612.5},
    ],
    "evidence": {"logs": {"uri": f"https://example.org/{'a-long-path/' * 8}logs.txt", "digest": "sha256:" + "a" * 64}},
}
# RMSNorm at these sizes on an H100, so that there is something to search for, and a scaling along an axis.
SIZES = (1024, 2048, 4096, 8192)


def fill() -> dict[str, str]:
    """Publish; returns the id of each run that has a name here, and of each other page."""
    from runs.models import Run
    from runs.publication import publish, retract, supersede
    from tests import factories

    def made(name: str, **options: object) -> dict[str, object]:
        given = {"median": 90_000, "observed_at": "2026-03-02T00:00:00.000Z", **options}
        return factories.run(factories.LIGER, factories.workload(), name=name, title=name, **given)

    full = made("full", median=None, environment=factories.H100, **FULL)
    failed = made("failed", median=None, status="incorrect_numerical")
    withdrawn, removed = made("withdrawn", median=90_001), made("removed", median=90_005)
    corrected, correction = made("corrected", median=90_002), made("correction", median=90_003)
    made_up = made("made-up", median=90_004)
    publish(factories.bundle(factories.FIRST, factories.SEED, full, failed, withdrawn, removed, corrected, correction))
    publish(factories.bundle(made_up, illustrative=True))
    publish(factories.filler(60))
    digests = {
        "first": factories.digest(factories.FIRST),
        "seed": factories.digest(factories.SEED),
        "full": factories.digest(full),
        "failed": factories.digest(failed),
        "withdrawn": factories.digest(withdrawn),
        "removed": factories.digest(removed),
        "corrected": factories.digest(corrected),
        "made_up": factories.digest(made_up),
        "rms_norm": norms(),
    }
    retract(digests["withdrawn"], reason="The timer included compilation.", actor="A. Moderator")
    supersede(
        digests["corrected"], factories.digest(correction), reason="The batch size was wrong.", actor="A. Moderator"
    )
    runs = {name: Run.objects.get(digest=digest) for name, digest in digests.items()}
    return {**{name: str(run.id) for name, run in runs.items()}, **subjects(runs), **reruns()}


def norms() -> str:
    """Publish RMSNorm by two implementations; returns the digest of the faster one at 4096."""
    from runs.manifests.bundle import Record
    from runs.publication import publish
    from tests import factories

    operation = factories.manifest(
        "OperationSpec",
        "liger-rms-norm",
        {
            "family": "rmsnorm",
            "axes": {name: {"role": "variable", "type": "integer"} for name in ("rows", "hidden")},
            "inputs": [{"name": "x", "tensor": {"shape": ["rows", "hidden"], "dtype": "float"}}],
            "outputs": [{"name": "y", "tensor": {"shape": ["rows", "hidden"], "dtype": "float"}}],
            "semantics": {"mutation": "none", "determinism": "unspecified"},
        },
        title="RMSNorm",
    )
    licences = {"liger-kernel": {"declared": "BSD-2-Clause"}, "transformers": {"declared": "Apache-2.0"}}
    kernels = [
        (
            factories.implementation(
                "liger-rms-norm-triton", "Liger-Kernel", "triton", operation, licensing=licences["liger-kernel"]
            ),
            "liger-kernel",
            9,
        ),
        (
            factories.implementation(
                "huggingface-rms-norm", "Transformers", "python", operation, licensing=licences["transformers"]
            ),
            "transformers",
            31,
        ),
    ]
    cases = {size: norm_case(operation, size) for size in SIZES}
    runs = {
        (size, project): factories.run(
            kernel,
            case,
            name=f"rms-norm-{size}-{project}",
            title=f"RMSNorm · {size} · {project}",
            median=5_000 + pace * size,
            observed_at="2026-03-03T00:00:00.000Z",
            environment=factories.H100,
        )
        for size, case in cases.items()
        for kernel, project, pace in kernels
    }
    records = (
        *factories.SUBJECTS,
        Record(operation, aliases=("rms_norm", "rmsnorm")),
        *map(Record, cases.values()),
        *(Record(kernel, project=project) for kernel, project, _ in kernels),
    )
    publish(factories.bundle(*runs.values(), subjects=records))
    return factories.digest(runs[4096, "liger-kernel"])


def norm_case(operation: dict[str, Any], hidden: int) -> dict[str, Any]:
    """A workload of RMSNorm in bf16."""
    from tests import factories

    return factories.manifest(
        "WorkloadCase",
        f"rms-norm-{hidden}",
        {
            "operationSpecDigest": factories.digest(operation),
            "axes": {"rows": 2048, "hidden": hidden},
            "tensors": {"x": {"shape": [2048, hidden], "dtype": "bf16"}},
            "correctness": {"comparator": "not_asserted"},
        },
    )


def subjects(runs: dict[str, Any]) -> dict[str, str]:
    """What the addresses of groups and of everything that a run refers to are made of."""
    seed, full, norm = runs["seed"], runs["full"], runs["rms_norm"]
    return {
        "group": seed.comparison_key[7:23],
        "group_of_full": full.comparison_key[7:23],
        "protocol": seed.protocol.digest,
        "environment": full.environment.digest,
        "hardware": full.hardware,
        "norm_hardware": norm.hardware,
        "norm_group": norm.comparison_key[7:23],
    }


def reruns() -> dict[str, str]:
    """A rerun of each outcome; returns the id of each."""
    from tests.views import rerun_cases

    rerun_cases.register()
    return {f"rerun_{name}": str(rerun_cases.make(name).id) for name in rerun_cases.CASES}


if __name__ == "__main__":
    django.setup()
    from tests.browser.community import gather

    ids = fill()
    print(json.dumps({**ids, **gather(ids)}))
