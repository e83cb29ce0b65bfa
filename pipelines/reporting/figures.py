"""What the report shows, asked of the lake's tables and views in DuckDB's SQL: counts and names, never a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Row = dict[str, Any]

MOST_MAPPED = 3000
"""Turns on the map; a browser draws that many marks at once without a pause."""

WIDTHS = (("second", 5 * 60), ("minute", 6 * 3600), ("hour", 14 * 86400))
"""Width of the bars over time, and the longest span in seconds that it serves; beyond the last they are days."""


class SqlConnection(Protocol):
    """A connection on which the lake's tables and ready views are there by name, such as DuckDB's."""

    def execute(self, query: str, parameters: Any = ...) -> Any:
        """Run a query."""


@dataclass(frozen=True)
class Figures:
    """All that the charts are drawn from, each a list of rows by column name."""

    items: Sequence[Row] = ()
    settled: Sequence[Row] = ()
    verdicts: Sequence[Row] = ()
    fates: Sequence[Row] = ()
    arrivals: Sequence[Row] = ()
    batches: Sequence[Row] = ()
    origins: Sequence[Row] = ()
    pii: Sequence[Row] = ()
    languages: Sequence[Row] = ()
    kinds: Sequence[Row] = ()
    thumbs: Sequence[Row] = ()
    versions: Sequence[Row] = ()
    runs: Sequence[Row] = ()
    mapped: Sequence[Row] = ()
    losses: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """By run: its steps with ``step`` and ``loss``, from the run's folder."""


TURNS = """
CREATE OR REPLACE TEMP TABLE reported_turns AS
SELECT tenant, turn_id, role, source, model, text_hash FROM turns_current
"""

QUERIES = {
    "items": """
SELECT outcome, reason, count(*) AS n FROM landing
WHERE NOT (outcome = 'fragment' AND joined_from IS NOT NULL) GROUP BY ALL ORDER BY n DESC, outcome, reason
""",
    "settled": """
SELECT (SELECT count(*) FROM reported_turns) AS n_turns,
       (SELECT count(*) FROM landing l ANTI JOIN reported_turns t USING (tenant, turn_id)
        WHERE l.outcome = 'turn') AS n_waiting
""",
    "verdicts": """
SELECT s.turn_id IS NOT NULL AS is_tagged, coalesce(s.keep, false) AS keep, s.reason, t.role = 'assistant' AS is_answer,
       count(*) AS n
FROM reported_turns t LEFT JOIN signals_current s USING (tenant, turn_id) GROUP BY ALL ORDER BY n DESC, s.reason
""",
    "fates": """
WITH newest AS (
    SELECT dataset_version FROM dataset_versions WHERE withdrawn_at IS NULL
    ORDER BY created_at DESC, dataset_version LIMIT 1
),
chosen AS (
    SELECT DISTINCT tenant, unnest(turn_ids) AS turn_id FROM training_examples
    WHERE dataset_version IN (FROM newest)
),
dropped AS (
    SELECT tenant, subject_id AS turn_id, rule FROM drops
    WHERE subject = 'turn' AND dataset_version IN (FROM newest)
    UNION ALL
    SELECT d.tenant, unnest(c.turn_ids), d.rule FROM drops d
    JOIN conversations c ON c.tenant = d.tenant AND c.conversation_id = d.subject_id
    WHERE d.subject = 'conversation' AND d.dataset_version IN (FROM newest)
),
first_rule AS (SELECT tenant, turn_id, min(rule) AS rule FROM dropped GROUP BY ALL)
SELECT (SELECT dataset_version FROM newest) AS dataset_version, chosen.turn_id IS NOT NULL AS is_chosen,
       CASE WHEN chosen.turn_id IS NULL THEN r.rule END AS rule, count(*) AS n
FROM reported_turns t
JOIN signals_current s USING (tenant, turn_id)
LEFT JOIN chosen USING (tenant, turn_id)
LEFT JOIN first_rule r USING (tenant, turn_id)
WHERE t.role = 'assistant' AND s.keep GROUP BY ALL ORDER BY n DESC, 3
""",
    "batches": """
SELECT split_part(query, '/', 1) AS stream, committed_at AS "at", seconds,
       CAST(list_sum(map_values(rows_by_outcome)) AS BIGINT) AS n
FROM batch_log WHERE seconds > 0 ORDER BY stream, committed_at, batch_id
""",
    "origins": """
SELECT tenant, source, count(*) AS n FROM reported_turns GROUP BY ALL ORDER BY n DESC, tenant, source
""",
    "pii": """
SELECT type, day, CAST(sum(n_spans) AS BIGINT) AS n_spans, CAST(sum(n_turns) AS BIGINT) AS n_turns
FROM pii_by_day GROUP BY ALL ORDER BY day, type
""",
    "languages": """
SELECT lang, CAST(count(*) FILTER (WHERE keep) AS BIGINT) AS n_kept,
       CAST(count(*) FILTER (WHERE NOT keep) AS BIGINT) AS n_filtered
FROM signals_current GROUP BY ALL ORDER BY count(*) DESC, lang
""",
    "kinds": """
SELECT kind, CASE WHEN kind IN ('thumb', 'stars') THEN value END AS value, count(*) AS n
FROM feedback_current WHERE is_newest GROUP BY ALL ORDER BY kind, value
""",
    "thumbs": """
SELECT model, CAST(sum(thumbs_up) AS BIGINT) AS up, CAST(sum(thumbs_down) AS BIGINT) AS down
FROM answers_with_feedback GROUP BY ALL HAVING up + down > 0 ORDER BY up + down DESC, model
""",
    "versions": """
SELECT dataset_version, policy, gate, n_train, n_validation, created_at, withdrawn_at IS NOT NULL AS is_withdrawn,
       map_entries(drop_counts) AS drop_counts
FROM dataset_versions ORDER BY created_at, dataset_version
""",
    "runs": """
SELECT run_id, method, base, dataset_version, state, started_at, map_entries(metrics) AS metrics
FROM training_runs ORDER BY started_at, run_id
""",
}

ARRIVALS = """
SELECT date_trunc($width, kafka_at) AS "at", outcome, count(*) AS n
FROM landing WHERE NOT (outcome = 'fragment' AND joined_from IS NOT NULL) GROUP BY ALL ORDER BY "at", outcome
"""

MAPPED = """
WITH model AS (
    SELECT model_fingerprint FROM embeddings GROUP BY ALL ORDER BY count(*) DESC, model_fingerprint LIMIT 1
),
vectors AS (SELECT tenant, text_hash, vector FROM embeddings WHERE model_fingerprint IN (FROM model)),
sample AS (
    SELECT * FROM reported_turns SEMI JOIN vectors USING (tenant, text_hash) ORDER BY md5(turn_id), turn_id LIMIT $most
)
SELECT s.turn_id, s.role, s.model, l.lang, v.vector
FROM sample s JOIN vectors v USING (tenant, text_hash) LEFT JOIN signals_current l USING (tenant, turn_id)
ORDER BY md5(s.turn_id), s.turn_id
"""


def read_figures(connection: SqlConnection, losses: Mapping[str, Sequence[Row]] | None = None) -> Figures:
    """Ask all that the report shows; times are UTC, counts whole numbers. ``losses`` are the steps of runs, by run."""
    connection.execute(TURNS)
    found = {name: _rows(connection.execute(query)) for name, query in QUERIES.items()}
    found["arrivals"] = _rows(connection.execute(ARRIVALS, {"width": _width(connection)}))
    found["mapped"] = _rows(connection.execute(MAPPED, {"most": MOST_MAPPED}))
    return Figures(**found, losses=losses or {})


def _width(connection: SqlConnection) -> str:
    ((seconds,),) = connection.execute("SELECT epoch(max(kafka_at) - min(kafka_at)) FROM landing").fetchall()
    return next((width for width, longest in WIDTHS if (seconds or 0) <= longest), "day")


def _rows(cursor: Any) -> list[Row]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def total(rows: Iterable[Row], column: str = "n") -> int:
    """Return the sum of a column of counts."""
    return sum(int(row[column]) for row in rows)


def entries(pairs: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return a map column that was read as its entries."""
    return {pair["key"]: pair["value"] for pair in pairs or ()}
