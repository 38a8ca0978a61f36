"""A progress bar on standard error, for work that takes longer than a moment. Silent where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Bar:
    """One bar: advanced by steps, or set to where something has got to."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar, self._task = bar, task

    def advance(self, done: int) -> None:
        self._bar.advance(self._task, done)

    def reach(self, done: int, total: int | None) -> None:
        self._bar.update(self._task, completed=done, total=total)


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Bar]:
    """Shows a bar while the block runs."""
    columns = (TextColumn("· {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        yield Bar(bar, bar.add_task(what, total=total))
