"""Charts of shares: where turns come from, their languages, what people said of the answers."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.reporting.chart import (
    BAD,
    COLOURS,
    GOOD,
    QUIET,
    REST,
    Chart,
    largest,
    lying_bar,
    lying_bars,
    name,
    words_of,
)
from pipelines.reporting.figures import Figures, Row

MOST_NAMES = 14
MOST_FORMATS = 6
UNCERTAIN = "not certain (und)"


def origins_chart(figures: Figures) -> Chart:
    """Return turns by tenant, stacked by log format."""
    tenants = largest(_sums(figures.origins, "tenant"), MOST_NAMES)
    formats = largest(_sums(figures.origins, "source"), MOST_FORMATS)
    known_tenants, known_formats = {tenant for tenant, _ in tenants}, {source for source, _ in formats}
    counts: dict[tuple[str, str], int] = {}
    for row in figures.origins:
        place = (
            row["tenant"] if row["tenant"] in known_tenants else REST,
            row["source"] if row["source"] in known_formats else REST,
        )
        counts[place] = counts.get(place, 0) + row["n"]
    traces = [
        lying_bar(name(source), [name(tenant) for tenant, _ in tenants],
                  [counts.get((tenant, source), 0) for tenant, _ in tenants], COLOURS[nth])
        for nth, (source, _) in enumerate(formats)
    ]  # fmt: skip
    rows = [(row["tenant"], row["source"], row["n"]) for row in figures.origins]
    return Chart(
        "origins",
        "Turns by tenant and log format",
        "Each turn once, however often it was logged.",
        "No turns yet: turnmill settle --available-now.",
        traces, lying_bars(len(tenants), "turns"), ("tenant", "log format", "turns"), rows,
    )  # fmt: skip


def languages_chart(figures: Figures) -> Chart:
    """Return turns by language, kept and filtered."""
    shown, others = list(figures.languages[:MOST_NAMES]), figures.languages[MOST_NAMES:]
    if others:
        sums = {column: sum(row[column] for row in others) for column in ("n_kept", "n_filtered")}
        shown.append({"lang": REST, **sums})
    names = [name(_language(row)) for row in shown]
    traces = [
        lying_bar("kept", names, [row["n_kept"] for row in shown], GOOD),
        lying_bar("filtered", names, [row["n_filtered"] for row in shown], BAD),
    ]
    rows = [(_language(row), row["n_kept"], row["n_filtered"]) for row in figures.languages]
    return Chart(
        "languages",
        "Languages",
        "Turns by ISO 639-1 code, and what the filter made of them.",
        "No turn has been seen by the filter yet: turnmill filter --available-now.",
        traces if shown else (), lying_bars(len(shown), "turns"), ("language", "kept", "filtered"), rows,
    )  # fmt: skip


def feedback_chart(figures: Figures) -> Chart:
    """Return ratings, edits and the like by kind and value."""
    names = [name(_told(row)) for row in figures.kinds]
    colours = [_leaning(row) for row in figures.kinds]
    trace = lying_bar("given", names, [row["n"] for row in figures.kinds], GOOD)
    trace["marker"] = {"color": colours}
    trace["showlegend"] = False
    return Chart(
        "feedback",
        "Feedback by kind",
        "What people and judges said last of each answer. Blue is praise, red is blame, grey leans neither way.",
        NO_FEEDBACK,
        [trace] if names else (), lying_bars(len(names), "times given"), ("feedback", "times given"),
        [(_told(row), row["n"]) for row in figures.kinds],
    )  # fmt: skip


def thumbs_chart(figures: Figures) -> Chart:
    """Return thumbs up and down by the model that answered."""
    shown = figures.thumbs[:MOST_NAMES]
    names = [name(row["model"]) for row in shown]
    traces = [
        lying_bar("up", names, [row["up"] for row in shown], GOOD),
        lying_bar("down", names, [row["down"] for row in shown], BAD),
    ]
    return Chart(
        "thumbs",
        "Thumbs by model",
        f"Of answers that are stored, by the model that the log names; at most {MOST_NAMES} models.",
        NO_FEEDBACK,
        traces if shown else (), lying_bars(len(shown), "thumbs"), ("model", "up", "down"),
        [(row["model"] or "not said", row["up"], row["down"]) for row in figures.thumbs],
    )  # fmt: skip


NO_FEEDBACK = "Nobody has judged an answer yet; logs with ratings, edits or votes bring it."


def _language(row: Row) -> str:
    return UNCERTAIN if row["lang"] == "und" else str(row["lang"])


def _told(row: Row) -> str:
    if row["value"] is None:
        return words_of(row["kind"])
    if row["kind"] == "thumb":
        return f"thumb {'up' if row['value'] > 0 else 'down'}"
    return f"{row['value']:g} {words_of(row['kind'])}"


def _leaning(row: Row) -> str:
    if row["kind"] == "thumb" and row["value"]:
        return GOOD if row["value"] > 0 else BAD
    return BAD if row["kind"] in ("edit", "regenerate") else QUIET


def _sums(rows: Sequence[Row], column: str) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in rows:
        sums[row[column]] = sums.get(row[column], 0) + row["n"]
    return sums
