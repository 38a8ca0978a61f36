"""What `python -m torch.utils.collect_env` and `nvidia-smi -q` say of a machine, read from a paste. Pure.

Both print `name: value` lines for people. What is not recognised is left out; a field that several GPUs disagree on
as well.
"""

from __future__ import annotations

import re
from typing import Final

from attestations.environment import Environment
from attestations.text import clean_line

LONGEST_PASTE: Final = 200_000  # characters: nvidia-smi -q prints about 12,000 a GPU
_LONGEST_VALUE: Final = 200
_LINE: Final = re.compile(r"^\s*(?P<name>[A-Za-z][^:\n]{0,80}?)\s*:[ \t]*(?P<value>.*)$")
_PACKAGE: Final = re.compile(r"^\[(?:pip3?|conda)\] (?P<name>[A-Za-z0-9._-]{1,60})(?:==|\s+)(?P<version>[^\s]{1,60})")
# What a benchmark of kernels depends on; a paste lists everything that is installed.
_LIBRARIES: Final = frozenset(
    {
        "flash-attn",
        "flashinfer-python",
        "liger-kernel",
        "nvidia-cublas",
        "nvidia-cublas-cu12",
        "nvidia-cudnn-cu12",
        "nvidia-cudnn-cu13",
        "pytorch-triton",
        "transformers",
        "triton",
        "triton-rocm",
        "xformers",
    }
)


def read_paste(text: str) -> Environment:
    """The environment that a paste of either tool describes; empty fields where it does not say."""
    text = text[:LONGEST_PASTE]
    if "NVSMI LOG" in text or re.search(r"^\s*Attached GPUs\s*:", text, re.MULTILINE):
        return parse_nvidia_smi(text)
    return parse_collect_env(text)


def parse_collect_env(text: str) -> Environment:
    """The environment in a paste of `python -m torch.utils.collect_env`."""
    said: dict[str, str] = {}
    gpus: list[str] = []
    libraries: dict[str, str] = {}
    for line in text.splitlines():
        if package := _PACKAGE.match(line):
            if package["name"].lower() in _LIBRARIES:
                libraries.setdefault(package["name"].lower(), package["version"])
        elif gpu := re.match(r"^\s*GPU \d+:\s*(.+)$", line):
            gpus.append(_value(re.sub(r"\(UUID:.*", "", gpu[1])))
        elif found := _LINE.match(line):
            said.setdefault(found["name"].lower(), _value(found["value"]))
    torch, cuda, rocm = (
        said.get(name, "") for name in ("pytorch version", "cuda used to build pytorch", "rocm used to build pytorch")
    )
    single = re.sub(r"^GPU 0: ", "", said.get("gpu models and configuration", ""))
    toolkit = f"ROCm {rocm}" if rocm else f"CUDA {cuda}" if cuda else ""
    return Environment(
        gpu=_agreed([*gpus, single] if single else gpus),
        driver=said.get("nvidia driver version", ""),
        toolkit=toolkit,
        framework=f"pytorch {torch}" if torch else "",
        libraries=libraries,
    )


def parse_nvidia_smi(text: str) -> Environment:
    """The environment in a paste of `nvidia-smi -q`."""
    said: dict[str, list[str]] = {}
    for line in text.splitlines():
        if found := _LINE.match(line):
            said.setdefault(found["name"].lower(), []).append(_value(found["value"]))
    cuda = _agreed(said.get("cuda version", []))
    return Environment(
        gpu=_agreed(said.get("product name", [])),
        driver=_agreed(said.get("driver version", [])),
        toolkit=f"CUDA {cuda}" if cuda else "",
    )


def _agreed(values: list[str]) -> str:
    distinct = {value for value in values if value}
    return distinct.pop() if len(distinct) == 1 else ""


def _value(text: str) -> str:
    value = clean_line(text)[:_LONGEST_VALUE]
    return "" if value.lower() in {"n/a", "none", "could not collect", "[n/a]", "unknown"} else value
