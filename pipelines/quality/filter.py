"""Tag each turn with its quality signals and the first rule that it breaks. Grain: one row per turn, in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from pipelines.quality.harm import LEXICON, TextScorer
from pipelines.quality.rules import DEFAULT_RULES, RULE_VERSION, Rules, reason
from pipelines.quality.signals import Signals, TurnText, batch_signals
from schemas import TURN_SIGNALS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PASSED_ON = ("tenant", "turn_id", "parent_id", "root_id", "conversation_ref", "text_hash", "landed_at")
READ = ("role", "text", "flags", "finish_reason")
SIGNAL_COLUMNS = tuple(c for c in TURN_SIGNALS.column_names if c in Signals.__dataclass_fields__)
WRITTEN = pa.schema([field for field in TURN_SIGNALS.arrow_schema if field.name != "tagged_at"])

TEXTS_AT_ONCE = 2_000
"""Turns that are judged together: the identifier's cost a text is flat from here on."""


def tag_quality(turns: DataFrame, rules: Rules = DEFAULT_RULES, scorer: TextScorer = LEXICON) -> DataFrame:
    """Return ``turn_signals`` of ``turns``: one Arrow pass, one row per row, none removed; for batch and stream alike.

    ``tagged_at`` is the start of the query or micro-batch. ``scorer`` gives the scores of harm; it is pickled.
    """
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    has_content = (F.coalesce(F.size("tool_calls"), F.lit(0)) > 0) | (F.coalesce(F.size("parts"), F.lit(0)) > 0)
    written = T.StructType([field for field in TURN_SIGNALS.spark_schema if field.name in WRITTEN.names])
    return (
        turns.select(*PASSED_ON, *READ, has_content.alias("has_content"))
        .mapInArrow(tagger(rules, scorer), written)
        .withColumn("tagged_at", F.current_timestamp())
        .select(*TURN_SIGNALS.column_names)
    )


def tagger(
    rules: Rules, scorer: TextScorer = LEXICON
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for ``mapInArrow``: batches of turns in, batches of signals out, in the same order."""

    def tag(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start in range(0, batch.num_rows, TEXTS_AT_ONCE):
                yield _tag_batch(batch.slice(start, TEXTS_AT_ONCE), rules, scorer)

    return tag


def _tag_batch(batch: pa.RecordBatch, rules: Rules, scorer: TextScorer) -> pa.RecordBatch:
    read = (batch.column(name).to_pylist() for name in (*READ, "has_content"))
    texts = [
        TurnText(text or "", role, flags or (), finish_reason, has_content)
        for role, text, flags, finish_reason, has_content in zip(*read, strict=True)
    ]
    found = batch_signals(texts, scorer)
    reasons = [reason(signals, rules) for signals in found]
    columns: dict[str, object] = {name: batch.column(name) for name in PASSED_ON}
    columns |= {name: [getattr(signals, name) for signals in found] for name in SIGNAL_COLUMNS}
    columns |= {"keep": [r is None for r in reasons], "reason": reasons, "rule_version": [RULE_VERSION] * len(found)}
    arrays = [
        column.cast(field.type) if isinstance(column, pa.Array) else pa.array(column, field.type)
        for field, column in ((field, columns[field.name]) for field in WRITTEN)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=WRITTEN)
