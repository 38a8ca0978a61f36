"""What vendors state about their hardware: memory bandwidth, cache, dense matrix throughput, each with its source.

The table goes by the hardware slug, the product and the form factor in lower case, because variants of one product
differ: an H100 PCIe has 60 % of the bandwidth of an H100 SXM. A product name that leaves the variant open has no entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_GB_S: Final = 10**9
_TFLOPS: Final = 10**12
_MIB: Final = 2**20


@dataclass(frozen=True, slots=True)
class Sheet:
    """A publication of the vendor's that figures are taken from."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one product.

    `bandwidth` in bytes/s, as the data sheet prints it; `cache` in bytes, the last level before memory, None where the
    vendor states none; `peak` in operations/s of dense matrix products by dtype of the operands, at the clock of the
    data sheet and with the fastest accumulator that it lists.
    """

    bandwidth: int
    cache: int | None
    peak: Mapping[str, int]
    sheets: tuple[Sheet, ...]


def _figures(bandwidth: int, cache: int | None, peak: Mapping[str, float], *sheets: Sheet) -> Figures:
    """Figures from GB/s, MiB and TFLOPS."""
    return Figures(
        bandwidth * _GB_S,
        None if cache is None else cache * _MIB,
        {dtype: round(value * _TFLOPS) for dtype, value in peak.items()},
        sheets,
    )


def _halves(tflops: float, fp8: float | None = None) -> dict[str, float]:
    peak = {"fp16": tflops, "bf16": tflops}
    return peak if fp8 is None else peak | {"fp8_e4m3": fp8, "fp8_e5m2": fp8}


_A100 = Sheet("NVIDIA A100 Tensor Core GPU data sheet", "https://www.nvidia.com/en-us/data-center/a100/")
_AMPERE = Sheet(
    "NVIDIA A100 Tensor Core GPU Architecture (whitepaper)",
    "https://images.nvidia.com/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf",
)
_H100 = Sheet("NVIDIA H100 Tensor Core GPU data sheet", "https://www.nvidia.com/en-us/data-center/h100/")
_HOPPER = Sheet(
    "NVIDIA H100 Tensor Core GPU Architecture (whitepaper)",
    "https://resources.nvidia.com/en-us-hopper-architecture/nvidia-h100-tensor-c",
)
_H200 = Sheet("NVIDIA H200 Tensor Core GPU data sheet", "https://www.nvidia.com/en-us/data-center/h200/")
_HGX = Sheet("NVIDIA HGX platform specifications", "https://www.nvidia.com/en-us/data-center/hgx/")
_GB200 = Sheet("NVIDIA GB200 NVL72 specifications", "https://www.nvidia.com/en-us/data-center/gb200-nvl72/")
_BLACKWELL = Sheet("NVIDIA Blackwell Tuning Guide", "https://docs.nvidia.com/cuda/blackwell-tuning-guide/")
_GA102 = Sheet(
    "NVIDIA Ampere GA102 GPU Architecture (whitepaper)",
    "https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf",
)
_ADA = Sheet(
    "NVIDIA Ada GPU Architecture (whitepaper)",
    "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
)
_L4 = Sheet("NVIDIA L4 Tensor Core GPU data sheet", "https://www.nvidia.com/en-us/data-center/l4/")
_L40S = Sheet("NVIDIA L40S data sheet", "https://www.nvidia.com/en-us/data-center/l40s/")
_MI300X = Sheet(
    "AMD Instinct MI300X specifications", "https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html"
)
_MI325X = Sheet(
    "AMD Instinct MI325X specifications", "https://www.amd.com/en/products/accelerators/instinct/mi300/mi325x.html"
)
_MI355X = Sheet(
    "AMD Instinct MI355X specifications", "https://www.amd.com/en/products/accelerators/instinct/mi350/mi355x.html"
)

FIGURES: Final[Mapping[str, Figures]] = {
    "nvidia-a100-sxm4-40gb": _figures(1555, 40, _halves(312), _A100, _AMPERE),
    "nvidia-a100-sxm4-80gb": _figures(2039, 40, _halves(312), _A100, _AMPERE),
    "nvidia-a100-pcie-40gb": _figures(1555, 40, _halves(312), _A100, _AMPERE),
    "nvidia-a100-80gb-pcie": _figures(1935, 40, _halves(312), _A100, _AMPERE),
    "nvidia-h100-80gb-hbm3": _figures(3350, 50, _halves(989.4, 1978.9), _H100, _HOPPER),
    "nvidia-h100-pcie": _figures(2000, 50, _halves(756, 1513), _H100, _HOPPER),
    # Whose memory is one stack larger than the H100's; the cache is the 60 MiB that the driver reports for an H200.
    "nvidia-h100-nvl": _figures(3900, 60, _halves(835.5, 1671), _H100, _HOPPER),
    "nvidia-h200": _figures(4800, 60, _halves(989.4, 1978.9), _H200, _HOPPER),
    "nvidia-b200": _figures(8000, 126, _halves(2250, 4500), _HGX, _BLACKWELL),
    "nvidia-gb200": _figures(8000, 126, _halves(2500, 5000), _GB200, _BLACKWELL),
    # The driver's names for the module as it is sold; no cache size is published for it.
    "nvidia-b300-sxm6-ac": _figures(8000, None, _halves(2500, 5000), _HGX),
    "nvidia-b300-sxm6-pc": _figures(8000, None, _halves(2500, 5000), _HGX),
    # GeForce: bf16 accumulates in fp32 alone, at half the rate of fp16 with an fp16 accumulator.
    "nvidia-geforce-rtx-3090": _figures(936, 6, {"fp16": 142, "bf16": 71}, _GA102),
    "nvidia-geforce-rtx-4090": _figures(1008, 72, {"fp16": 330.3, "bf16": 165.2}, _ADA),
    "nvidia-l4": _figures(300, 48, _halves(121, 242.5), _L4, _ADA),
    "nvidia-l40s": _figures(864, 96, _halves(362, 733), _L40S, _ADA),
    # AMD: the Infinity Cache stands between L2 and memory.
    "amd-instinct-mi300x": _figures(5300, 256, _halves(1307.4, 2614.9), _MI300X),
    "amd-instinct-mi325x": _figures(6000, 256, _halves(1307.4, 2614.9), _MI325X),
    "amd-instinct-mi355x": _figures(8000, 256, _halves(2516.6, 5033.2), _MI355X),
}


def slug(environment: Mapping[str, Any]) -> str:
    """The hardware slug of an ExecutionEnvironment spec: `NVIDIA A100` and `SXM4-80GB` give `nvidia-a100-sxm4-80gb`."""
    hardware = environment["hardware"]
    name = f"{hardware['product']} {hardware.get('formFactor', '')}"
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
