"""On what a statement was measured, and where that differs from the run's environment. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

LOCKED: Final = "locked"
UNLOCKED: Final = "not locked"


@dataclass(frozen=True, slots=True)
class Environment:
    """What a person says of the machine; empty where nothing is said."""

    gpu: str = ""
    driver: str = ""
    toolkit: str = ""  # CUDA or ROCm: "CUDA 13.0", "ROCm 6.4"
    framework: str = ""  # "pytorch 2.11.0"
    libraries: Mapping[str, str] = field(default_factory=dict)
    clocks: str = ""  # "locked", "not locked"

    def document(self) -> dict[str, Any]:
        """What is said, as plain JSON."""
        named = {name: getattr(self, name) for name in ("gpu", "driver", "toolkit", "framework", "clocks")}
        said: dict[str, Any] = {name: value for name, value in named.items() if value}
        return said | ({"libraries": dict(self.libraries)} if self.libraries else {})

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Environment:
        """The reverse of `document`."""
        return cls(**document)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which the statement's environment is not the run's; `run` is empty where the run does not say."""

    field: str
    statement: str
    run: str


def of_run(spec: Mapping[str, Any]) -> Environment:
    """The environment of a run, from the spec of its ExecutionEnvironment."""
    hardware, software, settings = spec["hardware"], spec["software"], spec.get("settings", {})
    framework = software.get("framework", {})
    locked = settings.get("clocksLocked")
    return Environment(
        gpu=" ".join(filter(None, (hardware["product"], hardware.get("formFactor")))),
        driver=software.get("driver", ""),
        toolkit=software.get("cudaToolkit", ""),
        framework=f"{framework['name']} {framework['version']}" if framework else "",
        libraries=software.get("libraries", {}),
        clocks="" if locked is None else LOCKED if locked else UNLOCKED,
    )


def differences(statement: Environment, run: Environment) -> tuple[Difference, ...]:
    """The fields that the statement names and that are not known to be the same for the run."""
    return tuple(_differences(statement, run))


def _differences(statement: Environment, run: Environment) -> Iterator[Difference]:
    for name, same in (
        ("gpu", _same_product),
        ("driver", _same_version),
        ("toolkit", _same_toolkit),
        ("framework", _same_framework),
        ("clocks", str.__eq__),
    ):
        said, known = getattr(statement, name), getattr(run, name)
        if said and not (known and same(said, known)):
            yield Difference(name, said, known)
    for name, version in sorted(statement.libraries.items()):
        known = run.libraries.get(name, "")
        if not (known and _same_version(version, known)):
            yield Difference(name, version, known)


def _same_product(one: str, other: str) -> bool:
    return _words(one) == _words(other)


def _words(product: str) -> list[str]:
    """`NVIDIA H100 80GB HBM3` and `nvidia-h100` name one product; what form it comes in counts, memory does not."""
    words = re.split(r"[^a-z0-9.]+", product.lower())
    return [word for word in words if word and word != "nvidia" and not re.fullmatch(r"\d+g[i]?b|hbm\w*", word)]


def _same_version(one: str, other: str) -> bool:
    """Whether they agree in the parts that both have; what a build appends (`+cu130`) does not count."""
    first, second = (
        re.split(r"[.\s]+", text.partition("+")[0].strip().lower().removeprefix("v")) for text in (one, other)
    )
    shared = min(len(first), len(second))
    return first[:shared] == second[:shared]


def _same_toolkit(one: str, other: str) -> bool:
    kinds = {("rocm" if "rocm" in text.lower() else "cuda") for text in (one, other)}
    numbers = [re.sub(r"^\D+", "", text) for text in (one, other)]
    return len(kinds) == 1 and _same_version(*numbers)


def _same_framework(one: str, other: str) -> bool:
    names = {("pytorch" if name in {"torch", "pytorch"} else name) for name, _ in map(_framework, (one, other))}
    return len(names) == 1 and _same_version(_framework(one)[1], _framework(other)[1])


def _framework(text: str) -> tuple[str, str]:
    name, _, version = text.strip().lower().partition(" ")
    return name, version
