"""How names are compared. Pure.

A name is compared by its letters and digits alone: `RMSNorm`, `rms_norm`, `rms-norm` and `rms norm` are one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from typing import Final

# What people call GPUs, so that one which nobody has measured is understood as a GPU and not looked for in names.
_GPU: Final = re.compile(
    r"(?:nvidia)?(?:a(?:10|16|30|40|100|800|6000)|b(?:100|200|300)|g[bh](?:200|300)|h(?:20|100|200|800)|l(?:4|20|40s?)"
    r"|p(?:4|40|100)|t4|v100|rtx(?:pro)?a?[2-6]000(?:ada)?|(?:geforce)?(?:rtx|gtx)[1-5]0[5-9]0(?:ti|super)?)"
    r"(?:sxm[2-6]?|pcie|nvl|hbm3e?)?"
    r"|(?:amd)?mi\d{3}[axp]?|(?:radeon)?rx\d{4}(?:xtx?)?|gaudi[23]|tpuv\d[ep]?"
)
_DTYPES: Final = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "f16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "f32": "fp32",
    "float64": "fp64",
    "f64": "fp64",
    "double": "fp64",
    "float8": "fp8",
    "f8": "fp8",
    "float4": "fp4",
    "e4m3": "fp8e4m3",
    "e5m2": "fp8e5m2",
}
_DTYPE: Final = re.compile(
    r"(?:bf16|tf32|fp(?:8|4|6)(?:e\d+m\d+(?:fn|fnuz)?)?|fp(?:16|32|64)|(?:nv|mx)fp[468]|u?int(?:4|8|16|32|64))"
)
_NEAR: Final = 0.7  # how alike two names must be for one to be suggested for the other, of 1


@lru_cache(maxsize=2**16)
def squash(text: str) -> str:
    """The letters and digits of a name, lowercase."""
    return "".join(character for character in text.casefold() if character.isalnum())


@lru_cache(maxsize=2**16)
def tokens(text: str) -> tuple[str, ...]:
    """The words of a name: `NVIDIA A100 SXM4-80GB` has four."""
    return tuple(filter(None, re.split(r"[\W_]+", text.casefold())))


def spans(words: tuple[str, ...]) -> Iterable[str]:
    """Every run of neighbouring words, squashed: `a b c` gives `a`, `ab`, `abc`, `b`, `bc` and `c`."""
    for first in range(len(words)):
        for last in range(first + 1, len(words) + 1):
            yield "".join(words[first:last])


def holds(names: Iterable[str], wanted: str) -> bool:
    """Whether a name holds a squashed word: anywhere, or, where it has one letter or two, as a word of its own."""
    if len(wanted) < 3:
        return any(wanted in tokens(name) for name in names)
    return any(wanted in squash(name) for name in names)


def canonical_dtype(text: str) -> str:
    """One spelling for each dtype: `bfloat16` and `BF16` are `bf16`, `float8_e4m3fn` is `fp8e4m3fn`."""
    plain = squash(text)
    for long, short in _DTYPES.items():
        if plain.startswith(long):
            return short + plain.removeprefix(long)
    return plain


def is_dtype(text: str) -> bool:
    """Whether a word is a well-known dtype."""
    return bool(_DTYPE.fullmatch(canonical_dtype(text)))


def is_same_dtype(wanted: str, found: str) -> bool:
    """Whether a dtype is the wanted one, or a variety of it: `fp8` wants `fp8_e4m3` too."""
    wanted, found = canonical_dtype(wanted), canonical_dtype(found)
    return found == wanted or (wanted.startswith(("fp4", "fp6", "fp8")) and found.startswith(wanted))


def is_gpu(text: str) -> bool:
    """Whether a word is a well-known name of a GPU."""
    plain = squash(text)
    return len(plain) > 1 and bool(_GPU.fullmatch(plain))


def near(word: str, names: Collection[str], most: int = 3) -> list[str]:
    """The names most like a word, compared without punctuation; names that begin with it count as near."""
    wanted = squash(word)
    if not wanted:
        return []
    squashed: dict[str, str] = {}
    for name in names:
        squashed.setdefault(squash(name), name)
    begun = [plain for plain in squashed if len(wanted) >= 2 and plain.startswith(wanted)]
    begun.sort(key=lambda plain: (len(plain), plain))
    close = get_close_matches(wanted, squashed, n=most, cutoff=_NEAR)
    close.sort(key=lambda plain: (-SequenceMatcher(None, wanted, plain).ratio(), len(plain), plain))
    return [squashed[plain] for plain in dict.fromkeys((*close, *begun))][:most]
