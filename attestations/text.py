"""What people write, before it is kept: one spelling of each text, without characters that hide or reorder others."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Private use, unassigned and surrogate code points, controls and formats. Formats are what bidirectional overrides,
# zero-width spaces, byte order marks and tags are; what a script needs of them (joiners) is kept between letters.
_DROPPED: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_KEPT: Final = frozenset("\n\t")
_JOINERS: Final = frozenset("\u200c\u200d")
# Latin, Greek and Cyrillic have no use for joiners: between their letters they only make equal words unequal.
_JOINING_FROM: Final = 0x0590
_MOST_MARKS: Final = 4  # combining marks on one letter
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")  # letters and marks that show nothing


def clean(text: str) -> str:
    """The text in NFC with Unix line ends, without invisible and reordering characters, and without outer blanks."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    kept: list[str] = []
    marks = 0
    for place, character in enumerate(text):
        if character in _JOINERS:
            if _joins(text, place):
                kept.append(character)
            continue
        if character in _FILLERS or _is_selector(character):
            continue
        category = unicodedata.category(character)
        if category in _DROPPED and character not in _KEPT:
            continue
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks <= _MOST_MARKS:
            kept.append("\n" if category in {"Zl", "Zp"} else character)
    return "".join(kept).strip()


def clean_line(text: str) -> str:
    """The text as one line, blanks between words single."""
    return re.sub(r"\s+", " ", clean(text))


def _is_selector(character: str) -> bool:
    return 0xFE00 <= ord(character) <= 0xFE0E or 0xE0100 <= ord(character) <= 0xE01EF


def _joins(text: str, place: int) -> bool:
    if place == 0 or place + 1 == len(text):
        return False
    before, after = text[place - 1], text[place + 1]
    return ord(before) >= _JOINING_FROM and ord(after) >= _JOINING_FROM and after not in _JOINERS
