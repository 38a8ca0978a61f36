"""Charts of controlled reruns: samples with the claim drawn in, telemetry, and the calibration of a runner.

Like `runs.charts` in colours, finish and digest; nothing is remembered here, because a rerun has many samples and the
finished picture is what is worth keeping.
"""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import orjson

from runs import charts
from runs.charts import WIDTHS, Width
from runs.policy.verdict import HIGH, LOW
from runs.reads.format import duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROWS: Final = 240  # pixel rows that a strip tells apart
_LOGARITHMIC_BEYOND: Final = 5.0  # greatest over least
_SCALES: Final = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


@dataclass(frozen=True, slots=True)
class StripProcess:
    """The samples of one process in ns, and its device time."""

    index: int
    samples: tuple[int, ...]
    device: int | None
    void: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """All samples of event time, process by process, with the claim as a line. Times are ns."""

    title: str
    description: str
    claim: float
    processes: tuple[StripProcess, ...]


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The GPU while a batch ran: columns over seconds; `throttled` and `company` mark where either was seen."""

    title: str
    description: str
    seconds: tuple[float, ...]
    megahertz: tuple[float, ...]
    celsius: tuple[float, ...]
    watts: tuple[float, ...]
    throttled: tuple[bool, ...]
    company: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Sentinel:
    """One sentinel kernel batch by batch, before and after: times over their median, None where it did not run."""

    name: str
    before: tuple[float | None, ...]
    after: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Calibrations:
    """The sentinels of a runner, the oldest batch first."""

    title: str
    description: str
    sentinels: tuple[Sentinel, ...]


RerunChart = Strip | Telemetry | Calibrations


def digest(chart: RerunChart) -> str:
    """Names the picture: equal values, equal digest. Changes with the way of drawing too."""
    content = [drawing(), type(chart).__name__, asdict(chart)]
    return hashlib.sha256(orjson.dumps(content)).hexdigest()[:24]


@lru_cache(maxsize=1)
def drawing() -> str:
    """Names the way of drawing: changes with the code that draws."""
    with open(__file__, "rb") as source:
        return hashlib.sha256(charts._drawing().encode() + source.read()).hexdigest()


def svg(chart: RerunChart, width: Width = "wide") -> bytes:
    """The picture. Drawing takes about 50 ms."""
    pixels = WIDTHS[width]
    return charts._finish(charts.render(lambda: _figure(chart, pixels)), chart, pixels).encode()


def _figure(chart: RerunChart, pixels: int) -> Figure:
    from matplotlib.figure import Figure  # noqa: PLC0415

    height = {Strip: 0.32 * pixels + 110, Telemetry: 330, Calibrations: 260}[type(chart)]
    size = (pixels / charts._DPI, height / charts._DPI)
    figure = Figure(figsize=size, dpi=charts._DPI, layout="constrained")
    if isinstance(chart, Strip):
        _strip(figure.subplots(), chart, figure)
    elif isinstance(chart, Telemetry):
        _telemetry(figure.subplots(3, 1, sharex=True), chart)
    else:
        _calibrations(figure.subplots(), chart, figure)
    return figure


def colour(role: str) -> str:
    """The colour that stands for a role while drawing."""
    return charts._ROLES[role][0]


def _grid(axes: Axes) -> None:
    axes.grid(axis="y", color=colour("rule"), linewidth=0.6)
    axes.set_axisbelow(True)


def _strip(axes: Axes, chart: Strip, figure: Figure) -> None:
    values = [value for process in chart.processes for value in process.samples if value > 0]
    devices = [process.device for process in chart.processes if process.device]
    low, high = min([*values, *devices, chart.claim * LOW]), max([*values, *devices, chart.claim * HIGH])
    logarithmic = high / low > _LOGARITHMIC_BEYOND
    unit, scale = next((unit, scale) for unit, scale in _SCALES if high >= scale or scale == 1.0)
    axes.axhspan(chart.claim * LOW / scale, chart.claim * HIGH / scale, color=colour("rule"), alpha=0.28, linewidth=0)
    axes.axhline(
        chart.claim / scale, color=colour("accent"), linewidth=1.6, label=f"claim {duration(chart.claim, 'ns')}"
    )
    row = strip_rows(low, high, logarithmic=logarithmic)
    for place, process in enumerate(chart.processes):
        _samples(axes, place, process, scale, row)
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xticks(range(len(chart.processes)), [str(process.index + 1) for process in chart.processes])
    axes.set_xlim(-0.6, len(chart.processes) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel("process")
    axes.set_ylabel(unit)
    _grid(axes)
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    figure.legend(named.values(), named.keys(), loc="outside upper left", frameon=False, ncols=2, fontsize=10)


def strip_rows(low: float, high: float, *, logarithmic: bool) -> Callable[[float], float]:
    """The middle of the pixel row that a value falls into."""
    if high <= low:
        return lambda value: value
    if not logarithmic:
        step = (high - low) / _ROWS
        return lambda value: low + (math.floor((value - low) / step) + 0.5) * step
    ratio = math.log(high / low) / _ROWS
    return lambda value: low * math.exp((math.floor(math.log(value / low) / ratio) + 0.5) * ratio)


def _samples(axes: Axes, place: int, process: StripProcess, scale: float, row: Callable[[float], float]) -> None:
    """One column: a line for each pixel row, the wider the more samples fall into it, so that none is left out."""
    counts = Counter(row(value) for value in process.samples if value > 0)
    most = max(counts.values(), default=1)
    widths = {value: 0.06 + 0.32 * count / most for value, count in counts.items()}
    axes.hlines(
        [value / scale for value in widths],
        [place - width for width in widths.values()],
        [place + width for width in widths.values()],
        color=colour("warning" if process.void else "muted"),
        linewidth=1.1,
        label="samples of a void process" if process.void else "samples of event time",
    )
    median = statistics.median(process.samples) / scale
    axes.plot(place, median, "_", color=colour("ink"), markersize=14, markeredgewidth=2.2, label="median of a process")
    if process.device:
        axes.plot(place, process.device / scale, "D", color=colour("second"), markersize=4.5, label="device time")


def _telemetry(panels: Sequence[Axes], chart: Telemetry) -> None:
    rows = (("MHz", "SM clock", chart.megahertz), ("°C", "temperature", chart.celsius), ("W", "power", chart.watts))
    for axes, (unit, name, values) in zip(panels, rows, strict=True):
        axes.plot(chart.seconds, values, color=colour("accent"), linewidth=1.3)
        axes.set_ylabel(unit)
        axes.set_title(name, loc="left", fontsize=10, color=colour("muted"))
        _grid(axes)
        axes.margins(x=0, y=0.15)
        for start, end in spans(chart.seconds, [*map(bool, _either(chart))]):
            axes.axvspan(start, end, color=colour("warning"), alpha=0.35, linewidth=0)
    panels[-1].set_xlabel("seconds since the batch began")


def _either(chart: Telemetry) -> list[bool]:
    return [one or other for one, other in zip(chart.throttled, chart.company, strict=True)]


def spans(seconds: Sequence[float], marked: Sequence[bool]) -> list[tuple[float, float]]:
    """The stretches of time in which something is marked; a mark lasts until the next row."""
    found: list[tuple[float, float]] = []
    for place, on in enumerate(marked):
        if not on:
            continue
        end = seconds[min(place + 1, len(seconds) - 1)]
        if found and found[-1][1] >= seconds[place]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((seconds[place], end))
    return found


def _calibrations(axes: Axes, chart: Calibrations, figure: Figure) -> None:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    axes.axhline(1, color=colour("rule"), linewidth=1.2)
    for place, sentinel in enumerate(chart.sentinels):
        line = colour(charts.LINES[place % len(charts.LINES)])
        marker = charts.MARKERS[place % len(charts.MARKERS)]
        batches = range(1, len(sentinel.before) + 1)
        for values, fill, name in ((sentinel.before, line, sentinel.name), (sentinel.after, "none", None)):
            points = [(batch, value) for batch, value in zip(batches, values, strict=True) if value is not None]
            axes.plot(
                [batch for batch, _ in points],
                [value for _, value in points],
                marker,
                color=line,
                markerfacecolor=fill,
                markersize=5,
                label=name or f"{sentinel.name}, after",
            )
    axes.set_xlabel("batch, the latest on the right")
    axes.set_ylabel("time over its median")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _grid(axes)
    axes.margins(y=0.2)
    figure.legend(loc="outside upper left", frameon=False, ncols=3, fontsize=10)
