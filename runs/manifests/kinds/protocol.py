"""BenchmarkProtocol: how was measured."""

from runs.manifests.fields import Amount, Commit, Count, Duration, HttpsUrl, Label, Maybe, Text, Token
from runs.manifests.kinds.base import Strict


class Harness(Strict):
    """The program that measures."""

    name: Label
    """Its name."""
    version: Maybe[Text] = None
    """Its version."""
    repository: Maybe[HttpsUrl] = None
    """Its repository."""
    commit: Maybe[Commit] = None
    """Its full git commit."""


class Measurement(Strict):
    """What is timed, and how often."""

    timer: Token
    """The clock, such as cuda_events or wall_clock."""
    synchronization: Maybe[Text] = None
    """When the device is waited for."""
    compile_included: Maybe[bool] = None
    """Whether compilation is inside the timed region."""
    setup_included: Maybe[bool] = None
    """Whether set-up is inside the timed region."""
    warmup_iterations: Maybe[Count] = None
    """Iterations before the first that counts."""
    warmup_duration: Maybe[Duration] = None
    """Time before the first iteration that counts, in ns."""
    measured_iterations: Maybe[Count] = None
    """Iterations that count."""
    samples: Maybe[Count] = None
    """Samples taken."""
    input_regeneration: Maybe[Text] = None
    """When inputs are made anew."""
    outlier_policy: Maybe[Text] = None
    """Which samples are left out."""
    primary_statistic: Token
    """The statistic that stands for a run, such as median."""


class ProtocolCorrectness(Strict):
    """What results are compared with."""

    reference: Text
    """The reference."""
    comparator: Token
    """What compares."""


class DevicePolicy(Strict):
    """The state the device is put into."""

    clocks_locked: Maybe[bool] = None
    """Whether clocks are locked."""
    power_limit_watts: Maybe[Amount] = None
    """The power limit in watts."""
    persistence_mode: Maybe[bool] = None
    """Whether the driver stays loaded."""


class Comparability(Strict):
    """Which results may stand beside each other."""

    family: Text
    """The family of protocols that is comparable."""
    notes: Maybe[Text] = None
    """The limits in words."""


class BenchmarkProtocol(Strict):
    """How was measured."""

    harness: Harness
    """The program that measures."""
    measurement: Measurement
    """What is timed, and how often."""
    correctness: Maybe[ProtocolCorrectness] = None
    """What results are compared with."""
    device_policy: Maybe[DevicePolicy] = None
    """The state the device is put into."""
    comparability: Maybe[Comparability] = None
    """Which results may stand beside each other."""
