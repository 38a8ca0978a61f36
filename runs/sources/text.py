"""Names as the record format writes them, made from names as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_LONGEST_NAME = 200


def token(text: str) -> str:
    """Lowercase letters, digits and underscores, a letter first: `GPU time` becomes `gpu_time`, `2d` becomes `x2d`."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return plain if plain[:1].isalpha() else f"x{plain}"


def name(text: str) -> str:
    """Lowercase letters, digits, dots and hyphens: `GEMM (fp8) v1.2` becomes `gemm-fp8-v1.2`."""
    plain = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")
    return plain[:_LONGEST_NAME].strip("-.") or "unnamed"


def slug(text: str) -> str:
    """Lowercase letters, digits and hyphens, at most 100 characters."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return plain[:100].strip("-") or "unnamed"


def instant(text: str) -> str:
    """A point in time in UTC with milliseconds; one without an offset is taken to be in UTC. Raises ValueError."""
    at = datetime.fromisoformat(text.strip())
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def vendor(product: str) -> str:
    """Who makes a product, where its name says it; else `unknown`."""
    known = {"nvidia": "nvidia", "geforce": "nvidia", "tesla": "nvidia", "amd": "amd", "instinct": "amd"}
    known |= {"radeon": "amd", "intel": "intel", "apple": "apple", "google": "google", "tpu": "google"}
    return next((maker for word, maker in known.items() if word in product.lower()), "unknown")
