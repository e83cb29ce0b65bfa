"""A chart: traces and layout of plotly.js, the same figures as a table, and what to run where there are none."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#999999")
"""Told apart by colour-blind readers, on light and on dark ground (Paul Tol, SRON/EPS/TN/09-002, "bright")."""

GOOD, BAD, QUIET = COLOURS[0], COLOURS[1], COLOURS[6]
REST = "all others"
LONGEST_NAME = 48
ROW_PIXELS, FRAME_PIXELS, FEWEST_ROWS = 26, 110, 5


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: ``key`` is its place, ``says`` tells how to read it; without ``traces`` ``missing`` is shown.

    Names in ``traces`` have gone through ``name``; those in ``rows`` are plain, the page escapes them.
    """

    key: str
    title: str
    says: str
    missing: str
    traces: Sequence[dict[str, Any]] = ()
    layout: dict[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    is_wide: bool = False


def name(text: Any, unnamed: str = "not said") -> str:
    """Return a logged name as plotly.js shows it unchanged: it reads tags and entities in every text; cut when long."""
    shown = unnamed if text in (None, "") else str(text)
    return html.escape(shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 1] + "…")


def words_of(identifier: Any) -> str:
    """Return an identifier such as ``bad_json`` in words."""
    return str(identifier).replace("_", " ")


def lying_bars(n_bars: int, axis: str) -> dict[str, Any]:
    """Return the layout of horizontal bars, the first on top; ``axis`` says what is counted."""
    return {
        "barmode": "stack",
        "bargap": 0.2 if n_bars > 2 else 0.6,
        "height": FRAME_PIXELS + ROW_PIXELS * max(n_bars, FEWEST_ROWS),
        "xaxis": {"title": {"text": axis}, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "type": "category", "automargin": True},
        "legend": LEGEND,
    }


LEGEND = {"traceorder": "normal"}
LEGEND_BELOW = LEGEND | {"orientation": "h", "x": 0, "y": -0.25, "yanchor": "top"}


def lying_bar(title: str, names: Sequence[str], counts: Sequence[float], colour: str) -> dict[str, Any]:
    """Return one trace of horizontal bars."""
    return {
        "type": "bar",
        "orientation": "h",
        "name": title,
        "y": list(names),
        "x": list(counts),
        "marker": {"color": colour},
        "hovertemplate": f"%{{y}}<br>{title}: %{{x:,}}<extra></extra>",
    }


def largest(pairs: dict[Any, int], most: int) -> list[tuple[Any, int]]:
    """Return the ``most`` largest counts, and the sum of the others under ``REST``."""
    ordered = sorted(pairs.items(), key=lambda pair: (-pair[1], str(pair[0])))
    others = sum(count for _, count in ordered[most:])
    return [*ordered[:most], *([(REST, others)] if others else [])]
