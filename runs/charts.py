"""Charts as SVG, drawn by matplotlib and made fit for the site.

A chart is a function of plain values. Colours are roles (ink, muted, rule, accent, warning), and the finished SVG says
by `prefers-color-scheme` what each role looks like, so one file serves light and dark. What matplotlib writes as style
attributes becomes presentation attributes, so that a page with a strict Content-Security-Policy can show it. Equal
values give equal bytes: `digest` names them, and a chart is kept and cached under that name for ever.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from html import escape
from importlib.metadata import version
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal

import orjson

from runs import ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Width = Literal["wide", "narrow"]
WIDTHS: Final[dict[Width, int]] = {"wide": 720, "narrow": 340}  # CSS pixels
_DPI: Final = 72  # one point is one pixel of the viewBox
_ROLES: Final[dict[str, tuple[str, str, str]]] = {
    # role: the colour that stands for it while drawing, light, dark (tokens.css)
    "ink": ("#010101", "#15181c", "#e7e8e4"),
    "muted": ("#020202", "#565c65", "#a1a7af"),
    "rule": ("#030303", "#c9cac5", "#454a50"),
    "accent": ("#040404", "#1b4fc4", "#93b4ff"),
    "warning": ("#050505", "#855000", "#efb456"),
    "second": ("#060606", "#00695c", "#6fd3c3"),
    "third": ("#070707", "#8a2d7a", "#e59ad8"),
    "fourth": ("#080808", "#4d6b1b", "#b3d27f"),
    "fifth": ("#090909", "#4a5568", "#b8c0cc"),
}
LINES: Final = ("accent", "second", "third", "fourth", "fifth")
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
_DASHES: Final = ("-", "--", ":")
_STYLE: Final = re.compile(r' style="([^"]*)"')
_PRESENTATION: Final = re.compile(r"\s*([a-z-]+):\s*([^;]+);?")
# What XML 1.0 cannot hold, and lone halves of surrogate pairs, which UTF-8 cannot.
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_GRID: Final[dict[str, Any]] = {"color": _ROLES["rule"][0], "linewidth": 0.6}
_RC: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kernelindex",
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _ROLES["rule"][0],
    "axes.labelcolor": _ROLES["muted"][0],
    "axes.titlecolor": _ROLES["muted"][0],
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "xtick.color": _ROLES["muted"][0],
    "ytick.color": _ROLES["muted"][0],
    "text.color": _ROLES["ink"][0],
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar with its spread: values in the unit that the chart names, and the value as text beside the bar."""

    label: str
    value: float
    text: str
    low: float | None = None
    high: float | None = None
    highlighted: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """A comparison group: one bar a run, the first on top."""

    title: str
    description: str
    unit: str
    bars: tuple[Bar, ...]

    def height(self, width: Width) -> int:
        """Pixels that the picture is high."""
        return (30 if width == "wide" else 46) * len(self.bars) + 46


@dataclass(frozen=True, slots=True)
class Series:
    """One implementation along an axis: (axis value, measured value), by axis value."""

    label: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Scaling:
    """How a measurement grows along one axis of the workload, by implementation; logarithmic where values allow it."""

    title: str
    description: str
    axis: str
    unit: str
    series: tuple[Series, ...]

    def height(self, width: Width) -> int:
        """Pixels that the picture is high."""
        return (330 if width == "wide" else 274) + _KEY * self.key_rows(width)

    def key_rows(self, width: Width) -> int:
        """Lines that the names of the series take."""
        return -(-len(self.series) // _key_columns(width))


@dataclass(frozen=True, slots=True)
class Steps:
    """The history of a record: (seconds since 1970, value) at each change, by time."""

    title: str
    description: str
    unit: str
    points: tuple[tuple[float, float], ...]

    def height(self, width: Width) -> int:
        """Pixels that the picture is high."""
        return 220 if width == "wide" else 200


Chart = Bars | Scaling | Steps
_KEY: Final = 18  # pixels of a line of names


def _key_columns(width: Width) -> int:
    return 2 if width == "wide" else 1


def digest(chart: Chart) -> str:
    """Names the picture: equal values, equal digest. Changes with the way of drawing too."""
    return hashlib.sha256(orjson.dumps([_drawing(), type(chart).__name__, asdict(chart)])).hexdigest()[:24]


@lru_cache(maxsize=1)
def _drawing() -> str:
    sources = hashlib.sha256(version("matplotlib").encode())
    for path in (__file__, ticks.__file__):
        with open(path, "rb") as source:
            sources.update(source.read())
    return sources.hexdigest()


@lru_cache(maxsize=512)
def svg(chart: Chart, width: Width = "wide") -> bytes:
    """The picture. Drawing takes about 50 ms; equal charts are drawn once by a process."""
    return _finish(render(lambda: _figure(chart, width)), chart, WIDTHS[width]).encode()


_pen: Final = Lock()


def render(make: Callable[[], Figure]) -> str:
    """A figure as matplotlib's SVG, in the site's style.

    The style is global to matplotlib, so one thread draws at a time: two would draw in each other's.
    """
    import matplotlib  # noqa: PLC0415 — a process that draws nothing need not load it

    with _pen, warnings.catch_warnings(), matplotlib.rc_context(_RC):
        # The reader's browser has the glyphs; the face that matplotlib measures with may lack some.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        out = io.StringIO()
        make().savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _figure(chart: Chart, width: Width) -> Figure:
    from matplotlib.figure import Figure  # noqa: PLC0415

    pixels, height = WIDTHS[width], chart.height(width)
    figure = Figure(figsize=(pixels / _DPI, height / _DPI), dpi=_DPI)
    if isinstance(chart, Bars):
        _bars(figure, chart, width)
    elif isinstance(chart, Scaling):
        _scaling(figure, chart, width)
    else:
        _steps(figure, chart)
    return figure


def _plot(figure: Figure, *, left: float, right: float, top: float, bottom: float) -> Axes:
    """Axes at these distances from the figure's edges, in pixels."""
    across, down = figure.get_size_inches() * _DPI
    return figure.add_axes(
        (left / across, bottom / down, (across - left - right) / across, (down - top - bottom) / down)
    )


def _plot_width(figure: Figure, left: float, right: float) -> float:
    return float(figure.get_figwidth() * _DPI - left - right)


def _bars(figure: Figure, chart: Bars, width: Width) -> None:
    wide = width == "wide"
    longest = max(ticks.width(_name(bar.label, 37)) for bar in chart.bars)
    left, right = (min(236.0, longest + 16), 78.0) if wide else (10.0, 12.0)
    axes = _plot(figure, left=left, right=right, top=2, bottom=44)
    places = range(len(chart.bars))
    drop = 0.0 if wide else 0.2  # where there is no room beside a bar, its name stands over it
    for place, bar in zip(places, chart.bars, strict=True):
        colour = _ROLES["accent" if bar.highlighted else "muted"][0]
        axes.barh(place + drop, bar.value, height=0.5 if wide else 0.3, color=colour, alpha=0.42, linewidth=0)
        half = 0.25 if wide else 0.15
        axes.plot([bar.value] * 2, [place + drop - half, place + drop + half], color=colour, linewidth=2)
        if bar.low is not None and bar.high is not None:
            ends = ([bar.low, bar.high], [place + drop] * 2)
            axes.plot(*ends, color=_ROLES["ink"][0], linewidth=1.2, marker="|", markersize=7, markeredgewidth=1.2)
    highest = max(max(bar.value, bar.high or bar.value) for bar in chart.bars)
    axes.set_xlim(0, highest * 1.02)
    axes.set_ylim(len(chart.bars) - 0.5, -0.5)
    marks = ticks.linear(0, highest * 1.02, most=7 if wide else 5)
    axes.set_xticks(marks, [ticks.shown(mark) for mark in marks])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    side, gap = axes.get_yaxis_transform(), 8 / _plot_width(figure, left, right)
    for place, bar in zip(places, chart.bars, strict=True):
        label, text = _name(bar.label, 37 if wide else 40), _name(bar.text, 12)
        if wide:
            axes.text(-gap, place, label, transform=side, ha="right", va="center")
            axes.text(1 + gap, place, text, transform=side, va="center")
        else:
            axes.text(0, place - 0.22, label, transform=side, va="center")
            axes.text(1, place - 0.22, text, transform=side, ha="right", va="center")
    axes.set_xlabel(_name(chart.unit, 60))
    axes.tick_params(length=0)
    axes.grid(axis="x", **_GRID)
    axes.set_axisbelow(True)


def _scaling(figure: Figure, chart: Scaling, width: Width) -> None:
    points = [point for series in chart.series for point in series.points]
    low, high = min(y for _, y in points), max(y for _, y in points)
    logarithmic = low > 0
    low, high = (low / 1.12, high * 1.12) if logarithmic else (min(low, 0.0), max(high * 1.05, low + 1))
    marks = ticks.logarithmic(low, high) if logarithmic else ticks.linear(low, high)
    labels = [ticks.shown(mark) for mark in marks]
    sizes = sorted({x for x, _ in points})
    left, right = max(map(ticks.width, labels)) + 12, max(16.0, ticks.width(ticks.shown(sizes[-1])) / 2)
    axes = _plot(figure, left=left, right=right, top=26, bottom=48 + _KEY * chart.key_rows(width))
    handles = []
    for place, series in enumerate(chart.series):
        handles += axes.plot(
            [x for x, _ in series.points],
            [y for _, y in series.points],
            color=_ROLES[LINES[place % len(LINES)]][0],
            marker=MARKERS[place % len(MARKERS)],
            linestyle=_DASHES[place // len(LINES) % len(_DASHES)],
            markersize=5,
            linewidth=1.5,
        )
    axes.set_yscale("log" if logarithmic else "linear")
    axes.set_ylim(low, high)
    axes.minorticks_off()
    axes.set_yticks(marks, labels)
    _sizes(axes, sizes, _plot_width(figure, left, right))
    axes.set_xlabel(_name(chart.axis, 40))
    axes.set_title(_name(chart.unit, 60), pad=10, x=-(left - 4) / _plot_width(figure, left, right))
    axes.tick_params(length=0)
    axes.grid(**_GRID)
    axes.set_axisbelow(True)
    longest = 52 if width == "wide" else 44
    figure.legend(
        handles,
        [_name(series.label, longest) for series in chart.series],
        loc="lower left",
        bbox_to_anchor=(0, 0),
        borderpad=0,
        borderaxespad=0.3,
        labelspacing=0.45,
        frameon=False,
        ncols=_key_columns(width),
    )


def _sizes(axes: Axes, values: Sequence[float], pixels: float) -> None:
    """The horizontal axis: a mark at each measured size, and its number where there is room for it."""
    low, high = values[0], values[-1]
    margin = 0.03
    if low > 0 and high / low >= 4:
        axes.set_xscale("log", base=2)
        stretch = (high / low) ** margin
        low, high = low / stretch, high * stretch
    else:
        around = (high - low) * margin or abs(high) or 1.0
        low, high = low - around, high + around
    axes.set_xlim(low, high)
    axes.minorticks_off()
    scale, floor = axes.transAxes.inverted(), axes.get_ylim()[0]
    places = [float(scale.transform(axes.transData.transform((value, floor)))[0]) * pixels for value in values]
    labels = [ticks.shown(value) for value in values]
    kept = ticks.with_room(places, labels)
    axes.set_xticks([values[place] for place in kept], [labels[place] for place in kept])


def _steps(figure: Figure, chart: Steps) -> None:
    times, values = [at for at, _ in chart.points], [value for _, value in chart.points]
    span = times[-1] - times[0] or 86_400.0
    marks = ticks.linear(0, max(values) * 1.1, most=5)
    labels = [ticks.shown(mark) for mark in marks]
    left, right = max(*map(ticks.width, labels), 24) + 12, 24.0
    axes = _plot(figure, left=left, right=right, top=26, bottom=26)
    # The last value holds on: the line goes a little further than the last change.
    held = ([*times, times[-1] + 0.08 * span], [*values, values[-1]])
    axes.step(*held, where="post", color=_ROLES["accent"][0], linewidth=1.6)
    axes.plot(times, values, "o", color=_ROLES["accent"][0], markersize=5)
    axes.set_ylim(0, max(values) * 1.1)
    axes.set_yticks(marks, labels)
    axes.set_xlim(times[0] - 0.08 * span, times[-1] + 0.08 * span)
    pixels = _plot_width(figure, left, right)
    days = [f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" for at in times]
    kept = ticks.with_room([(at - times[0]) / (1.16 * span) * pixels for at in times], days)
    axes.set_xticks([times[place] for place in kept], [days[place] for place in kept])
    axes.set_title(_name(chart.unit, 60), pad=10, x=-(left - 4) / pixels)
    axes.tick_params(length=0)
    axes.grid(axis="y", **_GRID)
    axes.set_axisbelow(True)


def _name(text: str, longest: int) -> str:
    """A text as a picture can hold it: one line, no character that XML cannot write, cut where it is too long."""
    line = " ".join(_UNWRITABLE.sub("\ufffd", text).split())
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    # matplotlib leaves names that begin with an underscore out of a key; a joiner before it takes no room.
    return f"\u2060{line}" if line.startswith("_") else line


def _finish(drawn: str, chart: Any, pixels: int) -> str:
    """matplotlib's SVG with the chart's title and description, roles for colours, and no style attribute."""
    body = drawn[drawn.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL)
    body = _STYLE.sub(_attributes, body)
    for role, (stand_in, light, _) in _ROLES.items():
        body = body.replace(f'"{stand_in}"', f'"var(--{role},{light})"')
    height = re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', body)
    assert height is not None
    title, description = (escape(_UNWRITABLE.sub("\ufffd", text)) for text in (chart.title, chart.description))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'viewBox="0 0 {pixels} {float(height[1]):.0f}" width="{pixels}" height="{float(height[1]):.0f}" '
        'font-family="system-ui,sans-serif" stroke-linejoin="round">'
        f"<title>{title}</title><desc>{description}</desc><style>{_PALETTE}</style>"
    )
    return head + body[body.index(">") + 1 :]


def _attributes(match: re.Match[str]) -> str:
    pairs = _PRESENTATION.findall(match[1].replace("&quot;", "'"))
    kept = [(name, value.strip()) for name, value in pairs if name != "font-family"]
    return "".join(f' {name}="{escape(value)}"' for name, value in kept)


_PALETTE: Final = (
    "svg{"
    + "".join(f"--{role}:{light};" for role, (_, light, _) in _ROLES.items())
    + "}@media(prefers-color-scheme:dark){svg{"
    + "".join(f"--{role}:{dark};" for role, (_, _, dark) in _ROLES.items())
    + "}}"
)
# A picture that is opened as a page of its own may use this one style, and nothing else.
POLICY: Final = (
    "default-src 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(_PALETTE.encode()).digest()).decode()
    + "'; frame-ancestors 'none'"
)
