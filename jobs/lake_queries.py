"""What runs on a lake, by name, and what it reads: known without importing any job, Spark or a model."""

from __future__ import annotations

from schemas import DEAD_LETTERS, FEEDBACK, LANDING, TURN_SIGNALS, TURNS, Table

INGEST, FILTER, EMBED, INDEX, ASSEMBLE = "ingest", "filter", "embed", "index", "assemble"
SETTLED = (TURNS, FEEDBACK, DEAD_LETTERS)
ASSEMBLE_EVERY, CURATE_EVERY, TRIGGER_EVERY = 60.0, 900.0, 60.0
"""Seconds between the periodic batches of a deployment."""


def settle_query(table: Table) -> str:
    """Return the name of the query that settles ``landing`` into a table."""
    return f"settle_{table.name}"


STREAM_QUERIES = (INGEST, *map(settle_query, SETTLED), FILTER)
"""The queries that one application of streams runs."""

SOURCES: dict[str, Table] = {**{settle_query(table): LANDING for table in SETTLED}, FILTER: TURNS, EMBED: TURN_SIGNALS}
"""The table that each query reads as a stream; ingest reads Kafka."""
