"""Answers as the tables stood at an earlier version or time: the view at those versions, compared exactly."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from pipelines.index import planner
from pipelines.index.answers import CANDIDATES, Answer, Question, answers_of, fused
from pipelines.index.errors import HistoryGoneError
from pipelines.index.feeds import SOURCES, TablePath, committed_at
from pipelines.index.resident import ResidentRows, ResidentSearch
from pipelines.index.rows import Found, checked_vector, index_schema, with_schema
from pipelines.index.standing import Standing
from pipelines.index.terms import hashed_terms
from pipelines.index.view import Connect, view_sql, with_terms
from schemas import TURNS

FOR_EVER = 2**62
_COMMIT = re.compile(r"(\d{20})\.json")


def versions_as_of(table_path: TablePath, moment: str) -> dict[str, int]:
    """Return the version of each source table at ``moment``: a version of ``turns``, or a time in ISO 8601.

    A version of ``turns`` counts with what the other tables held last before its next one; a table that did not exist
    yet has version -1. Raises ``HistoryGoneError`` and ``ValueError``.
    """
    commits = {name: _commits(table_path, name) for name in SOURCES}
    if moment.isdigit():
        turns = commits[TURNS.name]
        if int(moment) not in turns:
            there = f"{min(turns)} to {max(turns)}" if turns else "none"
            raise HistoryGoneError(f"wanted version {moment} of {TURNS.name}, found {there} in its log")
        following = turns.get(int(moment) + 1)
        return _at(commits, following - 1 if following else FOR_EVER) | {TURNS.name: int(moment)}
    try:
        time = dt.datetime.fromisoformat(moment)
    except ValueError:
        raise ValueError("wanted a version of turns, or a time like 2026-01-31T12:00:00Z") from None
    time = time.replace(tzinfo=dt.UTC) if time.tzinfo is None else time
    return _at(commits, int(time.timestamp() * 1000))


def _at(commits: Mapping[str, Mapping[int, int]], milliseconds: int) -> dict[str, int]:
    return {
        name: max((version for version, at in made.items() if at <= milliseconds), default=-1)
        for name, made in commits.items()
    }


def _commits(table_path: TablePath, name: str) -> dict[int, int]:
    """Time of each commit in the table's log, milliseconds since 1970."""
    commits = {}
    for path in sorted((table_path(name) / "_delta_log").glob("*.json")):
        found = _COMMIT.fullmatch(path.name)
        if found:
            commits[int(found[1])] = committed_at(path.read_bytes()) or path.stat().st_mtime_ns // 1_000_000
    return commits


def answers_as_of(
    connect: Connect, versions: Mapping[str, int], question: Question, *, model: str, fingerprint: str
) -> list[Answer]:
    """Return the ``k`` best turns of the view at ``versions``, with the texts of then; always exact.

    Reads all vectors of the tenant at those versions. Raises ``HistoryGoneError`` where files of then are gone.
    """
    if min(versions.values()) < 0:
        return []
    with connect(versions) as connection:
        try:
            rows = _rows(connection, question.tenant, fingerprint)
            standing = Standing(
                "", 1, rows.num_rows if rows else 0, len(question.vector), model, fingerprint, dict(versions), {}
            )
            return answers_of(_searching(rows, standing, question), connection, question) if rows else []
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb"):
                raise
            raise HistoryGoneError(
                f"the tables no longer hold the state of then ({type(error).__name__}): vacuum took its files"
            ) from error


def _rows(connection: Any, tenant: str, fingerprint: str) -> pa.Table | None:
    query = f"SELECT * FROM ({view_sql()}) WHERE tenant = $tenant"  # noqa: S608 - the view's own text
    found = connection.execute(query, {"fingerprint": fingerprint, "tenant": tenant}).to_arrow_table()
    if not found.num_rows:
        return None
    schema = index_schema(len(found["vector"][0]))
    return pa.Table.from_batches([with_schema(with_terms(batch), schema) for batch in found.to_batches()], schema)


def _searching(rows: pa.Table, standing: Standing, question: Question) -> Any:
    resident = ResidentRows(rows.combine_chunks())
    unit = checked_vector(question.vector, resident.vectors.shape[1])
    chosen = resident.chosen(question.tenant, question.where)
    terms = hashed_terms(question.text).split()

    def search(k: int) -> Found:
        wide = k if question.mode == "vector" else max(k, CANDIDATES)
        near, plan = planner.search(
            ResidentSearch(resident), unit, wide, question.tenant, question.where, effort=None
        )  # fmt: skip
        if question.mode == "vector":
            return Found(standing, near, plan)
        shared = resident.with_terms(terms, wide, chosen)
        hits = shared[:k] if question.mode == "text" else fused(near, shared, k=k)
        return Found(standing, hits, f"{plan}, as of then")

    return search
