"""Which names people may choose.

A name is an address (`/people/<name>/`) and stands beside statements, so it must be readable, and must not pass for
another. It is an ASCII slug: what is left to confuse after that (0 and o, 1 and l) is compared by `skeleton`.
"""

from __future__ import annotations

import re
from typing import Final

from django.core.exceptions import ValidationError

LONGEST: Final = 39
_SLUG: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_LOOKALIKES: Final = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "-": None})

# Names that would pass for the site, for an office on it, or for a mailbox that only its operator may have.
_RESERVED_WORDS: Final = """
    abuse account accounts admin administrator anonymous api attestation attestations contact controlled deleted
    everyone feed feeds following help hostmaster info kernelindex kernel-index legal mail me media moderation moderator
    moderators nobody noreply no-reply null official operator owner people postmaster privacy report reports root runner
    runs search security self settings site staff static superuser support system team undefined unknown user users
    verified verify webmaster www you
"""
RESERVED: Final = frozenset(_RESERVED_WORDS.split())


def skeleton(name: str) -> str:
    """What a name looks like at a glance: two names with one skeleton could be taken for each other."""
    return name.lower().translate(_LOOKALIKES).replace("rn", "m").replace("vv", "w")


_RESERVED_SKELETONS: Final = frozenset(map(skeleton, RESERVED))


def validate_name(name: str) -> None:
    """Raise ValidationError, with a sentence for the person who chose it, for a name that is no slug or is reserved."""
    if not 2 <= len(name) <= LONGEST:
        raise ValidationError(f"A name has 2 to {LONGEST} characters.", code="length")
    if not _SLUG.fullmatch(name):
        raise ValidationError(
            "A name has the letters a to z, digits, and single hyphens between them. Nothing else.", code="slug"
        )
    if skeleton(name) in _RESERVED_SKELETONS or name.startswith("deleted-"):
        raise ValidationError("This name is reserved.", code="reserved")


validators = [validate_name]
