"""The commands of ``turnmill analyse``; they read the view of the index at the versions that the index stands at."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from jobs.index_choice import searched_index
from jobs.options import Exit, Settings, UserError, turnmill_command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.index.analysis.drift import drift as windows_drift
from pipelines.index.analysis.drift import topic_changes
from pipelines.index.analysis.projection import project
from pipelines.index.analysis.topics import Topics, assign, find_topics, topic_names
from pipelines.index.analysis.window import Window, read_conversations, read_window
from pipelines.index.filters import EVERYTHING, Predicate, parse_filter
from pipelines.index.rows import Vector
from pipelines.index.standing import Standing

SHOWN_CHARACTERS = 200
_tenant = click.option("--tenant", default="default", show_default=True, help="Whose turns.")
_filter = click.option(
    "--filter", "where", default="", metavar="FILTER", help="Only turns that fit; see README, Search."
)
_by = click.option("--by", type=click.Choice(("turn", "conversation")), default="turn", show_default=True,
                   help="What is compared; a conversation's vector is the mean of its turns by tokens.")  # fmt: skip
_n_topics = click.option("--topics", "n_topics", type=click.IntRange(2, 500), default=20, show_default=True,
                         help="How many clusters.")  # fmt: skip
_out = click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True,
                    help="Table to write: .parquet or .csv.")  # fmt: skip


def _standing(settings: Settings) -> Standing:
    lake = Lake(settings.lake)
    standing = searched_index(lake.index).standing()
    if standing is None:
        raise UserError("wanted a built index, found none; build it: turnmill index --available-now")
    return standing


def _window(settings: Settings, standing: Standing, tenant: str, where: Predicate, by: str = "turn") -> Window:
    versions = {name: version for name, version in standing.versions.items() if version >= 0}
    with connect(Lake(settings.lake), versions=versions) as connection:
        read = read_conversations if by == "conversation" else read_window
        return read(connection, tenant, standing.model_fingerprint, where)


def _centres_file(settings: Settings, standing: Standing, tenant: str, n_topics: int, by: str) -> Path:
    owner = tenant.encode().hex()[:64]
    kind = "" if by == "turn" else f"-{by}s"
    return Lake(settings.lake).index / "topics" / f"{standing.model_fingerprint[:16]}-{owner}-{n_topics}{kind}.npy"


def _topics(
    settings: Settings, standing: Standing, tenant: str, window: Window, n_topics: int, by: str = "turn"
) -> Topics:
    """Cluster the window, starting at the centres of the last run, and keep the new ones."""
    file = _centres_file(settings, standing, tenant, n_topics, by)
    before: Vector | None = np.load(file) if file.is_file() else None
    topics = find_topics(window.vectors, n_topics, before=before)
    file.parent.mkdir(parents=True, exist_ok=True)
    np.save(file, topics.centres)
    return topics


@turnmill_command("topics", help="Clusters of turns by meaning, with the words that name them.")
@_tenant
@_filter
@_n_topics
@_by
def topics(settings: Settings, tenant: str, where: str, n_topics: int, by: str) -> None:
    """Find the topics and list them, the largest first."""
    standing = _standing(settings)
    window = _window(settings, standing, tenant, parse_filter(where), by)
    found = _topics(settings, standing, tenant, window, n_topics, by)
    names = topic_names(window.texts, found.labels, len(found.centres))
    order = np.argsort(-found.counts(), kind="stable")
    rows = [{"topic": int(t), "name": names[t], f"{by}s": int(found.counts()[t])} for t in order]
    _tell(settings, rows)


@turnmill_command("drift", help="Whether two windows differ in meaning, and which topics grew.")
@_tenant
@click.option(
    "--before", required=True, metavar="FILTER", help="First window, for instance \"created < '2026-06-01'\"."
)
@click.option("--after", required=True, metavar="FILTER", help="Second window.")
@_n_topics
@_by
def drift(settings: Settings, tenant: str, before: str, after: str, n_topics: int, by: str) -> None:
    """Compare the windows and list the topics, the one that grew most surely first."""
    standing = _standing(settings)
    windows = [_window(settings, standing, tenant, parse_filter(text), by) for text in (before, after)]
    try:
        found = windows_drift(windows[0].vectors, windows[1].vectors)
    except ValueError as error:
        raise UserError(f"{error}; choose wider windows.") from error
    both = find_topics(np.concatenate([window.vectors for window in windows]), n_topics)
    labels = [assign(window.vectors, both.centres)[0] for window in windows]
    names = topic_names(windows[0].texts + windows[1].texts, np.concatenate(labels), len(both.centres))
    changes = topic_changes(labels[0], labels[1], len(both.centres))
    rows: list[dict[str, Any]] = [
        dataclasses.asdict(change) | {"name": names[change.topic]} for change in changes
    ]  # fmt: skip
    if settings.json:
        settings.emit(dataclasses.asdict(found) | {"topics": rows, "version": standing.versions})
        return
    settings.console.print(
        f"drift {found.score:.3f}, p = {found.p_value:.3f} "
        f"({found.turns_before:,} {by}s before, {found.turns_after:,} after)",
        markup=False,
    )
    _tell(settings, rows)


@turnmill_command("neighbours", help="The turns nearest to a turn.")
@click.argument("turn_id")
@_tenant
@_filter
@click.option("--k", type=click.IntRange(1, 10_000), default=10, show_default=True, help="How many turns.")
def neighbours(settings: Settings, turn_id: str, tenant: str, where: str, k: int) -> None:
    """Search by the vector of a turn."""
    standing = _standing(settings)
    window = _window(settings, standing, tenant, EVERYTHING)
    places = [row for row, found in enumerate(window.turns["turn_id"].to_pylist()) if found == turn_id]
    if not places:
        raise UserError("wanted a turn that is indexed, found none of that id.", Exit.WRONG_USE)
    index = searched_index(Lake(settings.lake).index)
    hits = index.search(window.vectors[places[0]], k + 1, tenant, parse_filter(where)).hits
    texts = dict(zip(window.turns["turn_id"].to_pylist(), window.texts, strict=True))
    rows = [
        {"turn_id": hit.turn_id, "score": hit.score, "role": hit.role, "text": texts.get(hit.turn_id, "")}
        for hit in hits
        if hit.turn_id != turn_id
    ]
    _tell(settings, rows[:k])


@turnmill_command("map", help="A table of turns in two dimensions, for plotting.")
@_tenant
@_filter
@_n_topics
@_out
def turn_map(settings: Settings, tenant: str, where: str, n_topics: int, out: Path) -> None:
    """Write turn_id, x, y, topic, its name, role, language and time of each turn."""
    if out.suffix not in (".parquet", ".csv"):
        raise UserError(f"wanted a .parquet or .csv file, found {out.suffix or 'no suffix'}.", Exit.WRONG_USE)
    standing = _standing(settings)
    window = _window(settings, standing, tenant, parse_filter(where))
    found = _topics(settings, standing, tenant, window, n_topics)
    names = topic_names(window.texts, found.labels, len(found.centres))
    points, kept = project(window.vectors)
    table = polars.DataFrame(
        {
            "turn_id": window.turns["turn_id"].to_pylist(), "x": points[:, 0], "y": points[:, 1],
            "topic": found.labels, "name": [names[label] for label in found.labels.tolist()],
            "role": window.turns["role"].to_pylist(), "lang": window.turns["lang"].to_pylist(),
            "created_at": window.turns["created_at"].to_pylist(),
        }
    )  # fmt: skip
    if out.suffix == ".csv":
        table.write_csv(out)
    else:
        table.write_parquet(out)
    told = {"turns": table.height, "variance_kept": round(kept, 4), "file": str(out)}
    if settings.json:
        settings.emit(told)
    else:
        settings.console.print(f"{table.height:,} turns in {out}; {kept:.0%} of the variance", markup=False)


def _tell(settings: Settings, rows: list[dict[str, Any]]) -> None:
    if settings.json:
        for row in rows:
            settings.emit(row)
        return
    if not rows:
        settings.console.print("No turns fit.", markup=False)
        return
    shown = RichTable(*rows[0])
    for row in rows:
        shown.add_row(*(Text(_short(value)) for value in row.values()))
    Console().print(shown)


def _short(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)[:SHOWN_CHARACTERS]


if __name__ == "__main__":
    topics()
