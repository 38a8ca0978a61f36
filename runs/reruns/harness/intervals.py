"""The union of busy intervals: how long a device worked, however many streams worked at once."""

from collections.abc import Iterable


def union_length(intervals: Iterable[tuple[int, int]]) -> int:
    """Nanoseconds covered by at least one of the intervals [start, end).

    Overlapping work on several streams counts once. Raises ValueError for an interval that ends before it starts.
    """
    total = 0
    reached: int | None = None
    for start, end in sorted(intervals):
        if end < start:
            raise ValueError(f"an interval ends at {end} before it starts at {start}")
        if reached is None or start >= reached:
            total += end - start
            reached = end
        elif end > reached:
            total += end - reached
            reached = end
    return total
