"""What the browser tests look at: a catalogue with every state that a page can show.

    python -m tests.browser.catalogue

publishes it into the database of the environment and prints, as JSON, the id of each run that a test names.
"""

from __future__ import annotations

import json

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


def fill() -> dict[str, str]:
    """Publish; returns the id of each run that has a name here."""
    from runs.models import Run
    from runs.publication import publish, retract, supersede
    from tests import factories

    def made(name: str, **options: object) -> dict[str, object]:
        given = {"median": 90_000, "observed_at": "2026-03-02T00:00:00.000Z", **options}
        return factories.run(factories.LIGER, factories.workload(), name=name, title=name, **given)

    full = made("full", median=None, environment=factories.H100, **FULL)
    failed = made("failed", median=None, status="incorrect_numerical")
    withdrawn = made("withdrawn", median=90_001)
    corrected, correction = made("corrected", median=90_002), made("correction", median=90_003)
    made_up = made("made-up", median=90_004)
    publish(factories.bundle(factories.FIRST, factories.SEED, full, failed, withdrawn, corrected, correction))
    publish(factories.bundle(made_up, illustrative=True))
    publish(factories.filler(60))
    digests = {
        "seed": factories.digest(factories.SEED),
        "full": factories.digest(full),
        "failed": factories.digest(failed),
        "withdrawn": factories.digest(withdrawn),
        "corrected": factories.digest(corrected),
        "made_up": factories.digest(made_up),
    }
    retract(digests["withdrawn"], reason="The timer included compilation.", actor="A. Moderator")
    supersede(
        digests["corrected"], factories.digest(correction), reason="The batch size was wrong.", actor="A. Moderator"
    )
    return {name: str(Run.objects.get(digest=digest).id) for name, digest in digests.items()}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(fill()))
