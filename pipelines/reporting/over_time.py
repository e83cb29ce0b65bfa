"""Charts over time: items as they arrived, the pace of the streams, personal data that was replaced. Times are UTC."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from pipelines.reporting.chart import BAD, COLOURS, LEGEND, Chart, largest, lying_bar, lying_bars, name, words_of
from pipelines.reporting.figures import Figures, Row

OUTCOME_COLOURS = {"turn": COLOURS[0], "feedback": COLOURS[2], "dead": BAD, "fragment": COLOURS[3]}
ONE_DAY = dt.timedelta(days=1)
MOST_TYPES = 14
MOST_LINES = 7
"""Lines that stay apart by colour."""

TIME_AXIS = {"type": "date", "title": {"text": "UTC"}}
ONE_TIME_AXIS = TIME_AXIS | {"type": "category"}


def arrivals_chart(figures: Figures) -> Chart:
    """Return items by the time at which Kafka got them, stacked by outcome."""
    outcomes = sorted({row["outcome"] for row in figures.arrivals})
    traces = []
    for nth, outcome in enumerate(outcomes):
        of_outcome = [row for row in figures.arrivals if row["outcome"] == outcome]
        traces.append(
            {
                "type": "bar",
                "name": words_of(outcome),
                "x": _times(of_outcome),
                "y": [row["n"] for row in of_outcome],
                "marker": {"color": OUTCOME_COLOURS.get(outcome, COLOURS[(nth + 4) % len(COLOURS)])},
                "hovertemplate": "%{x}<br>%{y:,} items<extra>%{fullData.name}</extra>",
            }
        )
    layout = {
        "barmode": "stack",
        "xaxis": _axis_of(figures.arrivals),
        "yaxis": {"title": {"text": "items"}, "rangemode": "tozero"},
        "legend": LEGEND,
    }
    rows = [(row["at"], words_of(row["outcome"]), row["n"]) for row in figures.arrivals]
    return Chart(
        "arrivals",
        "Items over time",
        "By the time at which Kafka got them; a bar is a second, minute, hour or day, as the span asks.",
        "Nothing has landed yet: turnmill ingest --available-now.",
        traces, layout, ("from (UTC)", "outcome", "items"), rows,
    )  # fmt: skip


def batches_chart(figures: Figures) -> Chart:
    """Return the seconds of each micro-batch, a line a stream, with its rows and pace where they were logged."""
    streams = sorted({row["stream"] for row in figures.batches})
    traces = []
    for nth, stream in enumerate(streams):
        of_stream = [row for row in figures.batches if row["stream"] == stream]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name(words_of(stream)),
                "x": _times(of_stream),
                "y": [row["seconds"] for row in of_stream],
                "marker": {"color": COLOURS[nth % len(COLOURS)], "symbol": nth, "size": 8},
                "customdata": [_rows_told(row) for row in of_stream],
                "hovertemplate": "%{x}<br>%{y:,.1f} s%{customdata}<extra>%{fullData.name}</extra>",
            }
        )
    axis = {"type": "log", "title": {"text": "seconds (log)"}, "dtick": 1, "tickformat": "~s"}
    layout = {"xaxis": _axis_of(figures.batches), "yaxis": axis, "legend": LEGEND}
    rows = [(row["stream"], row["at"], row["n"], round(row["seconds"], 2)) for row in figures.batches]
    return Chart(
        "batches",
        "Micro-batches of the streams",
        "How long each one took, by the time of its commit.",
        "No micro-batch has been logged yet: turnmill ingest --available-now.",
        traces,
        layout,
        ("stream", "committed (UTC)", "rows", "seconds"),
        rows,
    )


def _rows_told(row: Row) -> str:
    return f"<br>{row['n']:,} rows, {row['n'] / row['seconds']:,.0f} rows/s" if row["n"] else ""


def pii_chart(figures: Figures) -> Chart:
    """Return the replaced spans by type."""
    by_type = _sums(figures.pii, "n_spans")
    shown = largest(by_type, MOST_TYPES)
    names = [name(words_of(kind)) for kind, _ in shown]
    traces = [lying_bar("replaced", names, [count for _, count in shown], COLOURS[0])] if shown else []
    of_turns = _sums(figures.pii, "n_turns")
    rows = [(kind, count, of_turns[kind]) for kind, count in largest(by_type, len(by_type))]
    return Chart(
        "pii",
        "Personal data replaced, by type",
        "Spans of text that were replaced before anything was stored. A type is what the detector took it for.",
        "Nothing has been replaced: turnmill ingest, then settle.",
        traces, lying_bars(len(shown), "replaced spans"), ("type", "replaced spans", "turns with one"), rows,
    )  # fmt: skip


def pii_days_chart(figures: Figures) -> Chart:
    """Return the replaced spans of the most frequent types by day."""
    shown = [kind for kind, _ in largest(_sums(figures.pii, "n_spans"), MOST_LINES)[:MOST_LINES]]
    traces = []
    for nth, kind in enumerate(shown):
        days = _with_gaps({row["day"]: row["n_spans"] for row in figures.pii if row["type"] == kind})
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name(words_of(kind)),
                "x": [day.isoformat() for day, _ in days],
                "y": [count for _, count in days],
                "marker": {"color": COLOURS[nth], "symbol": nth},
                "hovertemplate": "%{x}<br>%{y:,} replaced<extra>%{fullData.name}</extra>",
            }
        )
    layout = {
        "xaxis": TIME_AXIS | {"tickformat": "%d %b\n%Y"},
        "yaxis": {"title": {"text": "replaced spans"}, "rangemode": "tozero"},
        "legend": LEGEND,
    }
    rows = [(row["day"], row["type"], row["n_spans"], row["n_turns"]) for row in figures.pii]
    return Chart(
        "pii-days",
        "Personal data replaced, by day",
        f"The {MOST_LINES} most frequent types, by the day of the message.",
        "Nothing has been replaced: turnmill ingest, then settle.",
        traces, layout, ("day (UTC)", "type", "replaced spans", "turns with one"), rows,
    )  # fmt: skip


def _with_gaps(by_day: dict[dt.date, int]) -> list[tuple[dt.date, int | None]]:
    """Return the days in order, with nothing on the day after a stretch, so that no line runs over absent days."""
    ends = {day + ONE_DAY for day in by_day} - by_day.keys()
    return sorted([*by_day.items(), *((day, None) for day in ends)], key=lambda pair: pair[0])


def _axis_of(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the axis of times; around a single one plotly.js would draw a scale of milliseconds."""
    return TIME_AXIS if len({row["at"] for row in rows}) > 1 else ONE_TIME_AXIS


def _times(rows: list[Row]) -> list[str]:
    return [f"{row['at']:%Y-%m-%d %H:%M:%S}" for row in rows]


def _sums(rows: Sequence[Row], column: str) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["type"]] = sums.get(row["type"], 0) + row[column]
    return sums
