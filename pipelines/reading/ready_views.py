"""Views that answer what is asked most, each in one query over the tables and ``turns_current``, in DuckDB's SQL."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.datasets.rules import FLAG_PREFIX, MEANINGS, QUALITY_PREFIX, REJECTED_PREFIX, SIGNAL_PREFIX, meaning
from pipelines.index.current_sql import turns_current_sql
from pipelines.index.feedback_sql import feedback_current_sql
from schemas import FEEDBACK, TABLES, TURNS

TURNS_CURRENT = "turns_current"


@dataclass(frozen=True, slots=True)
class ReadyView:
    """A view by name: its grain in one sentence, and its query, which may use the views before it."""

    name: str
    doc: str
    query: str


SIGNALS_CURRENT = """
SELECT * FROM turn_signals
QUALIFY row_number() OVER (PARTITION BY tenant, turn_id ORDER BY rule_version DESC, tagged_at DESC, landed_at) = 1
"""

ANSWERS_WITH_FEEDBACK = """
WITH answers AS (
    SELECT tenant, turn_id, parent_id, conversation_ref, user_ref, stream, source, model, response_id, span_id, text,
           coalesce(created_at, kafka_at) AS answered_at
    FROM turns_current WHERE role = 'assistant'
),
newest AS (SELECT * FROM feedback_current WHERE is_newest),
judged AS (
    SELECT a.tenant, a.turn_id, f.* EXCLUDE (tenant) FROM answers a
    JOIN newest f ON f.tenant = a.tenant AND f.target_turn_id = a.turn_id
    UNION ALL
    SELECT a.tenant, a.turn_id, f.* EXCLUDE (tenant)
    FROM (
        SELECT DISTINCT tenant, turn_id, unnest([response_id, span_id]) AS response FROM answers
    ) a JOIN newest f ON f.tenant = a.tenant AND f.target_turn_id IS NULL AND f.target_response_id = a.response
),
told AS (
    SELECT tenant, turn_id,
           count(DISTINCT feedback_id) AS n_feedback,
           count(DISTINCT feedback_id) FILTER (WHERE kind = 'thumb' AND value > 0) AS thumbs_up,
           count(DISTINCT feedback_id) FILTER (WHERE kind = 'thumb' AND value < 0) AS thumbs_down,
           avg(value) FILTER (WHERE kind = 'stars') AS stars,
           count(DISTINCT feedback_id) FILTER (WHERE kind = 'edit') AS edits,
           count(DISTINCT feedback_id) FILTER (WHERE kind = 'regenerate') AS regenerations,
           max(coalesce(created_at, kafka_at)) AS last_feedback_at
    FROM judged GROUP BY ALL
)
SELECT a.tenant, a.turn_id, a.conversation_ref, a.user_ref, a.stream, a.source, a.model, l.lang,
       q.text AS question, a.text AS answer, told.* EXCLUDE (tenant, turn_id), a.answered_at
FROM told JOIN answers a USING (tenant, turn_id)
LEFT JOIN signals_current l USING (tenant, turn_id)
LEFT JOIN turns_current q ON q.tenant = a.tenant AND q.turn_id = a.parent_id AND q.role = 'user'
"""

PII_BY_DAY = """
WITH days AS (
    SELECT tenant, turn_id, redactions, CAST(coalesce(created_at, kafka_at) AS DATE) AS day FROM turns_current
),
of_day AS (SELECT tenant, day, count(*) AS n_turns_of_day FROM days GROUP BY ALL),
spans AS (SELECT tenant, day, turn_id, unnest(redactions) AS span FROM days)
SELECT tenant, day, span.type AS type, count(*) AS n_spans, count(DISTINCT turn_id) AS n_turns,
       any_value(n_turns_of_day) AS n_turns_of_day
FROM spans JOIN of_day USING (tenant, day) GROUP BY tenant, day, span.type
"""

MODEL_LINEAGE = """
SELECT m.tenant, m.model_version, m.alias, m.verdict, m.verdict_reason, m.parent, m.compared_with, m.contains_erased,
       m.created_at, m.promoted_at, m.rolled_back_at, m.evaluation,
       m.run_id, r.state AS run_state, r.method, r.base, r.metrics, r.started_at, r.ended_at,
       d.verdict AS trigger_verdict, d.reason AS trigger_reason,
       m.dataset_version, v.policy, v.gate, v.n_examples, v.n_train, v.n_validation, v.source_versions,
       v.created_at AS dataset_created_at, v.withdrawn_at AS dataset_withdrawn_at
FROM model_versions m
LEFT JOIN training_runs r USING (run_id)
LEFT JOIN dataset_versions v ON v.dataset_version = m.dataset_version
LEFT JOIN (
    SELECT * FROM trigger_decisions WHERE run_id IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY "at" DESC, decision_id) = 1
) d ON d.run_id = m.run_id
"""


def dropped_why() -> str:
    """Return the query of the view ``dropped_why``; the words of rules are those of the README."""
    exact = {rule: words for rule, words in MEANINGS.items() if meaning(rule) == words}
    prefixes = (REJECTED_PREFIX, QUALITY_PREFIX, FLAG_PREFIX, SIGNAL_PREFIX)
    kinds = {prefix: meaning(f"{prefix}any") for prefix in prefixes}
    cases = [f"WHEN d.rule = {_literal(rule)} THEN {_literal(words)}" for rule, words in exact.items()]
    cases += [f"WHEN starts_with(d.rule, {_literal(p)}) THEN {_literal(words)}" for p, words in kinds.items()]
    return f"""
SELECT d.tenant, d.dataset_version, v.created_at AS dataset_created_at, d.subject, d.subject_id, d.rule,
       CASE {" ".join(cases)} END AS meaning, d.score, d.threshold, d.matched_id,
       t.role, t.source, t.model, t.conversation_ref, t.user_ref, t.text
FROM drops d
LEFT JOIN dataset_versions v USING (dataset_version)
LEFT JOIN turns_current t ON d.subject = 'turn' AND t.tenant = d.tenant AND t.turn_id = d.subject_id
"""  # noqa: S608 - words of this product only


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


CURRENT_VIEWS = (
    ReadyView(
        TURNS_CURRENT,
        "One row per turn: as it first landed, under the strictest consent of all its rows.",
        turns_current_sql(TURNS.name),
    ),
    ReadyView(
        "feedback_current",
        "One row per rating; `is_newest` is false where the same person has said something else of it later.",
        feedback_current_sql(FEEDBACK.name),
    ),
)
"""Views that follow a rule of the tables; every reader of turns and ratings needs them."""

QUESTION_VIEWS = (
    ReadyView("signals_current", "One row per turn: what the newest rules of the filter say of it.", SIGNALS_CURRENT),
    ReadyView(
        "answers_with_feedback",
        "One row per answer that somebody judged: question, answer, and what the newest ratings of each person say.",
        ANSWERS_WITH_FEEDBACK,
    ),
    ReadyView(
        "dropped_why",
        "One row per dropped turn or conversation, rule and dataset version, with the rule in words and the turn.",
        dropped_why(),
    ),
    ReadyView(
        "pii_by_day",
        "One row per tenant, day (UTC) and type of personal data: replaced spans, turns with one, and all turns.",
        PII_BY_DAY,
    ),
    ReadyView(
        "model_lineage",
        "One row per model: the run that made it, why that started, the dataset version and the tables behind it.",
        MODEL_LINEAGE,
    ),
)
"""Views for one question each, over those before them."""

READY_VIEWS = (*CURRENT_VIEWS, *QUESTION_VIEWS)

CATALOGUE: dict[str, str] = {
    **{table.name: table.doc for table in TABLES},
    **{view.name: view.doc for view in READY_VIEWS},
}
"""All that can be asked by name, with what a row of it is."""
