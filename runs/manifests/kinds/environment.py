"""ExecutionEnvironment: on what was measured."""

from runs.manifests.fields import Amount, Count, Digest, Label, Maybe, Positive, Text, Token
from runs.manifests.kinds.base import Strict


class Hardware(Strict):
    """The device."""

    vendor: Token
    """The vendor, such as nvidia."""
    product: Label
    """The product name, such as NVIDIA H200."""
    architecture: Token
    """The architecture, such as sm_90; unknown where the source does not say."""
    form_factor: Maybe[Text] = None
    """The form, such as SXM or PCIe."""
    memory_bytes: Maybe[Count] = None
    """The device memory in bytes."""
    count: Maybe[Positive] = None
    """How many devices."""
    interconnect: Maybe[Text] = None
    """What joins them."""


class Framework(Strict):
    """The framework that calls the kernel."""

    name: Token
    """Its name, such as pytorch."""
    version: Text
    """Its version."""


class Software(Strict):
    """The software; empty where the source does not say."""

    operating_system: Maybe[Text] = None
    """The operating system."""
    kernel: Maybe[Text] = None
    """The kernel of the operating system."""
    driver: Maybe[Text] = None
    """The version of the device driver."""
    cuda_toolkit: Maybe[Text] = None
    """The version of the CUDA toolkit."""
    compiler: Maybe[Text] = None
    """The compiler."""
    framework: Maybe[Framework] = None
    """The framework that calls the kernel."""
    libraries: Maybe[dict[Text, Text]] = None
    """Versions of libraries, by name."""


class Settings(Strict):
    """How device and process were set."""

    clocks_locked: Maybe[bool] = None
    """Whether clocks were locked."""
    power_limit_watts: Maybe[Amount] = None
    """The power limit in watts."""
    persistence_mode: Maybe[bool] = None
    """Whether the driver stayed loaded."""
    ecc_enabled: Maybe[bool] = None
    """Whether error correction of the memory was on."""
    environment_variables: Maybe[dict[Text, Text]] = None
    """Environment variables that matter, by name."""


class ExecutionEnvironment(Strict):
    """On what was measured."""

    hardware: Hardware
    """The device."""
    software: Software
    """The software."""
    settings: Maybe[Settings] = None
    """How device and process were set."""
    image_digest: Maybe[Digest] = None
    """The digest of the container image."""
