"""Which elements of an output are compared. Chosen by the parent, which has no torch."""

BLOCK = 1 << 15
MAX_CHECKED = 1 << 21


def choose_blocks(elements: int, random_bits: int) -> list[tuple[int, int]]:
    """Which stretches [start, end) of a flat tensor are compared: all of it up to 2²¹ elements, else 64 stretches.

    The parent chooses after the outputs exist, from bits the executor has not seen, so that no implementation knows
    which elements will be looked at. One stretch lies in each of 64 equal parts.
    """
    if elements <= MAX_CHECKED:
        return [(0, elements)]
    parts = MAX_CHECKED // BLOCK
    blocks: list[tuple[int, int]] = []
    for part in range(parts):
        low, high = elements * part // parts, elements * (part + 1) // parts
        random_bits = (random_bits * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        start = low + (random_bits >> 11) % max(1, high - low - BLOCK + 1)
        blocks.append((start, min(start + BLOCK, high)))
    return blocks
