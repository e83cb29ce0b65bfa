"""The index is a view: turns_current x turn_signals (keep) x embeddings, kept in step by the changes of all three.

Time of a sync follows the changed keys, but for one narrow scan each: of the hashes of ``turns`` when vectors came,
and of the keys of the tables that the changed rows are read from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipelines.index.current_sql import turns_current_sql
from pipelines.index.errors import FingerprintMismatchError, IndexUnreadableError
from pipelines.index.feeds import SOURCES, ChangesGoneError, Pins, TablePath, changed_keys, pin_sources
from pipelines.index.rows import COLUMNS, Change
from pipelines.index.standing import Standing
from pipelines.index.terms import hashed_terms
from pipelines.index.vector_index import VectorIndex
from schemas import EMBEDDINGS, TURN_SIGNALS, TURNS

KEYS_OF_A_SLICE = 20_000
"""Touched keys that are read and written at a time: about 60 MB of vectors of 384 numbers."""

ROWS_OF_A_BATCH = 8192

Connect = Callable[[Mapping[str, int]], Any]
"""Opens a DuckDB connection whose views read the tables at the given versions."""


@dataclass(frozen=True)
class SyncResult:
    """What a sync did. ``rebuilt`` says why the whole index was built; None where changes were enough."""

    touched: int
    upserted: int
    rows: int
    rebuilt: str | None
    versions: dict[str, int]


def view_sql(touched: str | None = None) -> str:
    """Return the query of the view for the parameter ``$fingerprint``; of all turns or those in ``touched``.

    Its rows have ``text`` where rows of the index have ``terms``: ``with_terms``.
    """
    only = f"SEMI JOIN {touched} USING (tenant, turn_id)" if touched else ""
    names = [name for name, _ in COLUMNS]
    kept = ", ".join(f"{'s' if name == 'lang' else 't'}.{name}" for name in names)
    selected = ", ".join([*(f"kept.{name}" for name in names), "kept.text", "e.vector"])
    # Several rows of signals for one turn come from repeats and from newer rules; the newest rules decide.
    # Materialised, since the optimiser otherwise joins signals and vectors by tenant alone: n x n rows.
    return f"""
        WITH kept AS MATERIALIZED (
            SELECT {kept}, t.text
            FROM ({turns_current_sql(f"(SELECT * FROM {TURNS.name} {only})")}) t
            JOIN (
                SELECT tenant, turn_id, keep, lang FROM {TURN_SIGNALS.name} {only}
                QUALIFY row_number() OVER (
                    PARTITION BY tenant, turn_id ORDER BY rule_version DESC, tagged_at DESC, landed_at
                ) = 1
            ) s USING (tenant, turn_id)
            WHERE s.keep AND t.consent <> 'none'
        )
        SELECT {selected}
        FROM kept
        JOIN (SELECT * FROM {EMBEDDINGS.name} WHERE model_fingerprint = $fingerprint) e USING (tenant, text_hash)
    """  # noqa: S608 - names of the schema and of this module only


def with_terms(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Replace the texts of rows of the view by their hashed words, which is all of them that the index holds."""
    terms = pa.array([hashed_terms(text) for text in batch.column("text").to_pylist()], pa.string())
    place = batch.schema.get_field_index("text")
    return batch.set_column(place, "terms", terms)


def sync(index: VectorIndex, table_path: TablePath, connect: Connect, *, model: str, fingerprint: str,
         verify: bool = True) -> SyncResult:  # fmt: skip
    """Bring the index to the newest versions of its tables; the caller holds ``index.writer()``.

    ``verify`` first reads all keys and compares them with the pointer; a job does so once, at its start.

    Builds it anew where there is none, where it does not open or holds other rows than it should, and where changes are
    gone; always from the vectors in Delta, never by the model. Raises ``FingerprintMismatchError`` for another model.
    """
    pins = pin_sources(table_path)
    standing = index.standing()
    if standing is not None and standing.model_fingerprint != fingerprint:
        raise FingerprintMismatchError(standing.model, standing.model_fingerprint, fingerprint)
    reason = _why_rebuild(index, pins, verify=verify)
    if reason is None and standing is not None:
        if standing.versions == pins.versions:
            return SyncResult(0, 0, standing.rows, None, pins.versions)
        try:
            return _apply_changes(index, standing, table_path, connect, pins)
        except (ChangesGoneError, IndexUnreadableError) as error:
            reason = str(error)
    with connect(pins.existing) as connection:
        rows = connection.execute(view_sql(), {"fingerprint": fingerprint}).to_arrow_reader(ROWS_OF_A_BATCH)
        built = index.rebuild(
            map(with_terms, rows),
            model=model,
            model_fingerprint=fingerprint,
            versions=pins.versions,
            table_ids=pins.table_ids,
        )
    return SyncResult(built.rows, built.rows, built.rows, reason, pins.versions)


def differences(index: VectorIndex, connect: Connect) -> tuple[int, int]:
    """Count turns that the view holds and the index lacks, and the other way round, at the index's own versions."""
    standing = index.standing()
    if standing is None:
        raise IndexUnreadableError(f"no readable index in {index.folder}; build it: turnmill index --available-now")
    existing = {name: version for name, version in standing.versions.items() if version >= 0}
    with connect(existing) as connection:
        query = f"SELECT tenant, turn_id FROM ({view_sql()})"  # noqa: S608
        wanted = set(connection.execute(query, {"fingerprint": standing.model_fingerprint}).fetchall())
    found = index.indexed_keys()
    return len(wanted - found), len(found - wanted)


def _why_rebuild(index: VectorIndex, pins: Pins, *, verify: bool) -> str | None:
    standing = index.standing()
    if standing is None:
        return "there was no readable index"
    for name in SOURCES:
        at, now = standing.versions.get(name, -1), pins.versions[name]
        if now < at or (at >= 0 and standing.table_ids.get(name) != pins.table_ids[name]):
            return f"the table {name} was made anew"
    try:
        if verify:
            index.verify()
    except IndexUnreadableError as error:
        return str(error)
    return None


def _apply_changes(
    index: VectorIndex, standing: Standing, table_path: TablePath, connect: Connect, pins: Pins
) -> SyncResult:
    changed = {
        name: changed_keys(table_path, name, after=standing.versions[name], until=pins.versions[name])
        for name in SOURCES
    }
    vectors = changed[EMBEDDINGS.name].filter(
        pa.compute.equal(changed[EMBEDDINGS.name]["model_fingerprint"], standing.model_fingerprint)
    )
    upserted = 0
    with connect(pins.existing) as connection:
        connection.register("changed_turns", changed[TURNS.name])
        connection.register("changed_signals", changed[TURN_SIGNALS.name])
        connection.register("changed_vectors", vectors)
        touched = _touched(connection, any_vectors=vectors.num_rows > 0)

        def changes() -> Iterator[Change]:
            nonlocal upserted
            for start in range(0, touched, KEYS_OF_A_SLICE):
                change = _change(connection, start, standing.model_fingerprint)
                upserted += change.rows.num_rows
                yield change

        now = index.apply(changes(), versions=pins.versions, table_ids=pins.table_ids)
    return SyncResult(touched, upserted, now.rows, None, pins.versions)


def _touched(connection: Any, *, any_vectors: bool) -> int:
    """Fill the table ``touched`` with numbered keys of turns; return their number."""
    by_vector = f"UNION SELECT tenant, turn_id FROM {TURNS.name} SEMI JOIN changed_vectors USING (tenant, text_hash)"  # noqa: S608
    connection.execute(f"""
        CREATE TEMP TABLE touched AS
        SELECT tenant, turn_id, row_number() OVER () - 1 AS nth FROM (
            SELECT tenant, turn_id FROM changed_turns
            UNION SELECT tenant, turn_id FROM changed_signals
            {by_vector if any_vectors else ""}
        )
    """)  # noqa: S608
    return int(connection.execute("SELECT count(*) FROM touched").fetchone()[0])


def _change(connection: Any, start: int, fingerprint: str) -> Change:
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE touched_slice AS "
        "SELECT tenant, turn_id FROM touched WHERE nth >= $start AND nth < $end",
        {"start": start, "end": start + KEYS_OF_A_SLICE},
    )
    keys = connection.execute("SELECT tenant, turn_id FROM touched_slice").fetchall()
    rows = connection.execute(view_sql("touched_slice"), {"fingerprint": fingerprint}).to_arrow_table()
    batches = [with_terms(batch) for batch in rows.combine_chunks().to_batches()]
    return Change(keys, pa.Table.from_batches(batches) if batches else rows)
