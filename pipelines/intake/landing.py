"""Kafka records -> ``landing``: parse, identify and anonymise in one Arrow pass. Grain: a record in, its items out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Feedback, Fragment, Headers, Item, Rejection, Turn
from pipelines.intake.ownership import BadHeader, read_ownership
from pipelines.intake.parse import parse_record
from pipelines.intake.payload_record import pack_record
from pipelines.intake.writer_schemas import SchemaSource
from pipelines.privacy.anonymizer import Anonymizer, LeftValueError, Policy
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.payloads import encrypt_payload
from pipelines.privacy.second_tier import span_source
from pipelines.privacy.turns import AnonymizedFeedback, AnonymizedTurn, anonymize_items
from schemas import LANDING
from schemas.records import (
    ATTEMPT_HEADER,
    MAX_RECORD_BYTES,
    TRACE_HEADER,
    DeadReason,
    Outcome,
)

RECORD_COLUMNS = ("topic", "partition", "offset", "timestamp", "value", "headers")
SET_BY_SPARK = "landed_at"
OUTPUT_COLUMNS = tuple(name for name in LANDING.column_names if name != SET_BY_SPARK)
OUTPUT_SCHEMA = pa.schema([LANDING.arrow_schema.field(name).remove_metadata() for name in OUTPUT_COLUMNS])
POSITION = {name: i for i, name in enumerate(OUTPUT_COLUMNS)}
KAFKA_AT, BATCH_ID, TRACE_ID, ATTEMPTS = (POSITION[n] for n in ("kafka_at", "batch_id", "trace_id", "attempts"))

ITEMS_AT_ONCE = 2_000
"""Items that are anonymised together: the second tier is at its full rate, and their texts are a few megabytes."""

TRACEPARENT = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")

Row = list[Any]


@dataclass(frozen=True)
class Intake:
    """What the pass needs in a Python worker; keys are read there from their folder and never travel."""

    keys: Path
    policy: Policy = field(default_factory=Policy)
    epoch: int | None = None
    max_record_bytes: int = MAX_RECORD_BYTES
    default_consent: str = "training"
    schemas: SchemaSource | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn batches of Kafka records into batches of ``landing`` rows."""
        keys = KeyFolder(self.keys, self.epoch).open()
        reader = self.reader(keys)
        context = TaskContext.get()
        batch_id = context.getLocalProperty("streaming.sql.batchId") if context else None
        for batch in batches:
            yield as_batch(reader.rows(batch, int(batch_id or 0)))

    def reader(self, keys: KeyFolder) -> RecordReader:
        """Return the reader of one task."""
        return RecordReader(self, keys)


class RecordReader:
    """Reads records one by one; every record gives at least one row and no record raises."""

    def __init__(self, intake: Intake, keys: KeyFolder) -> None:
        self.intake = intake
        self.keys = keys
        self.identity = IdentityKey(keys.identity)
        self.anonymizer = Anonymizer(keys, intake.policy, intake.epoch, span_source(intake.policy))

    def rows(self, batch: pa.RecordBatch, batch_id: int) -> list[Row]:
        """Return the landing rows of a batch of Kafka records, in record order."""
        columns = [batch.column(name).to_pylist() for name in RECORD_COLUMNS[:-1]]
        pairs: list[tuple[Item | None, Payload]] = []
        for *place, kafka_at, value, headers in zip(*columns, headers_of(batch.column("headers")), strict=True):
            payload = Payload(value, headers, tuple(place), self.keys, kafka_at)
            if value is None:
                pairs.append((None, payload))
            else:
                pairs += [(item, payload) for item in self.items(value, headers)]
        rows: list[Row] = []
        for first in range(0, len(pairs), ITEMS_AT_ONCE):
            rows += self.rows_of(pairs[first : first + ITEMS_AT_ONCE], batch_id)
        return rows

    def items(self, value: bytes, headers: Headers) -> list[Item]:
        """Return the items of one record."""
        return parse_record(
            value,
            headers,
            self.identity,
            max_record_bytes=self.intake.max_record_bytes,
            default_consent=self.intake.default_consent,
            schemas=self.intake.schemas,
        )

    def rows_of(self, pairs: Sequence[tuple[Item | None, Payload]], batch_id: int | None) -> list[Row]:
        """Return the row of each item, None standing for a record without value; all are anonymised together."""
        spoken = [item for item, _ in pairs if isinstance(item, (Turn, Feedback))]
        clean = iter(anonymize_items(spoken, self.anonymizer))
        rows: list[Row] = []
        for item, payload in pairs:
            if isinstance(item, (Turn, Feedback)):
                row = self.spoken(item, next(clean), payload)
            elif isinstance(item, Fragment):
                row = self.fragment(item, payload)
            elif isinstance(item, Rejection):
                row = self.dead(item, item.reason, item.detail, payload)
            else:
                row = self.tombstone(payload.headers)
            payload.place_in(row, batch_id)
            rows.append(row)
        return rows

    def spoken(self, item: Turn | Feedback, clean: Any, payload: Payload) -> Row:
        """Return the row of a message or rating; what cannot be anonymised becomes a dead letter, never a pass."""
        if isinstance(item, Turn) and isinstance(clean, AnonymizedTurn):
            return self.turn(item, clean)
        if isinstance(item, Feedback) and isinstance(clean, AnonymizedFeedback):
            return self.feedback(item, clean)
        if isinstance(clean, LeftValueError):
            return self.dead(item, DeadReason.ANONYMISE_LEFT_VALUE, "a detected value was left after the edit", payload)
        return self.dead(item, DeadReason.ANONYMISE_FAILED, type(clean).__name__, payload)

    def turn(self, turn: Turn, clean: AnonymizedTurn) -> Row:
        """Return the row of an anonymised message."""
        message = clean.message
        return filled(
            entry=turn.entry,
            position=turn.position,
            outcome=Outcome.TURN.value,
            tenant=turn.tenant,
            consent=turn.consent,
            created_at=message.created_at,
            turn_id=turn.turn_id,
            parent_id=turn.parent_id,
            root_id=turn.root_id,
            system_turn_id=turn.system_turn_id,
            content_id=turn.content_id,
            conversation_ref=turn.conversation_ref,
            user_ref=turn.user_ref,
            stream=turn.stream,
            source=turn.source,
            adapter_version=turn.adapter_version,
            role=message.role,
            text=message.text,
            text_hash=hashlib.sha256(message.text.encode()).hexdigest(),
            reasoning=message.reasoning,
            parts=[(p.type, p.media_type, p.sha256, p.bytes, p.uri) for p in message.parts],
            tool_calls=[(c.id, c.name, c.arguments) for c in message.tool_calls],
            tool_call_id=message.tool_call_id,
            tool_name=message.tool_name,
            tools=message.tools,
            model=message.model,
            response_id=message.response_id,
            span_id=message.span_id,
            previous_response_id=message.previous_response_id,
            finish_reason=message.finish_reason,
            flags=message.flags,
            redactions=clean.redactions,
            redaction_counts=list(clean.counts.items()),
            policy=self.intake.policy.name,
            detector_version=self.anonymizer.detector_version,
            key_epoch=self.anonymizer.epoch,
        )

    def feedback(self, feedback: Feedback, clean: AnonymizedFeedback) -> Row:
        """Return the row of an anonymised rating."""
        rating = clean.rating
        return filled(
            entry=feedback.entry,
            position=feedback.position,
            outcome=Outcome.FEEDBACK.value,
            tenant=feedback.tenant,
            consent=feedback.consent,
            created_at=rating.created_at,
            feedback_id=feedback.feedback_id,
            target_turn_id=feedback.target_turn_id,
            target_response_id=rating.response_id,
            kind=rating.kind,
            value=rating.value,
            measure=rating.measure,
            text=rating.text,
            user_ref=feedback.user_ref,
            conversation_ref=feedback.conversation_ref,
            stream=feedback.stream,
            source=feedback.source,
            adapter_version=feedback.adapter_version,
            redactions=clean.redactions,
            redaction_counts=list(clean.counts.items()),
            policy=self.intake.policy.name,
            detector_version=self.anonymizer.detector_version,
            key_epoch=self.anonymizer.epoch,
        )

    def dead(self, item: Item, reason: DeadReason, detail: str, payload: Payload) -> Row:
        """Return the row of an item that cannot be used, the whole record under encryption."""
        own = item.payload if isinstance(item, Rejection) else None
        blob, key_id = payload.encrypted(item.entry, item.position, own)
        return filled(
            entry=item.entry,
            position=item.position,
            outcome=Outcome.DEAD.value,
            tenant=item.tenant,
            consent=item.consent,
            reason=reason.value,
            detail=detail,
            payload_encrypted=blob,
            payload_key_id=key_id,
            key_epoch=self.anonymizer.epoch,
        )

    def fragment(self, item: Fragment, payload: Payload) -> Row:
        """Return the row of a piece that waits for the others, under encryption."""
        blob, key_id = payload.encrypted(item.entry, item.position, item.payload)
        return filled(
            entry=item.entry,
            position=item.position,
            outcome=Outcome.FRAGMENT.value,
            tenant=item.tenant,
            consent=item.consent,
            fragment_key=item.key,
            payload_encrypted=blob,
            payload_key_id=key_id,
            key_epoch=self.anonymizer.epoch,
        )

    def tombstone(self, headers: Headers) -> Row:
        """Return the row of a record without a value."""
        try:
            tenant = read_ownership(headers).tenant
        except BadHeader as bad:
            tenant = bad.tenant
        consent = self.intake.default_consent
        return filled(entry=0, position=0, outcome=Outcome.TOMBSTONE.value, tenant=tenant, consent=consent)


class Payload:
    """The raw record of a batch's row, encrypted on demand under the coordinates of one of its items."""

    def __init__(
        self, value: bytes | None, headers: Headers, place: tuple[Any, ...], keys: KeyFolder, kafka_at: Any
    ) -> None:
        self.value, self.headers, self.place, self.keys, self.kafka_at = value, headers, place, keys, kafka_at
        trace = headers.get(TRACE_HEADER)
        matched = TRACEPARENT.fullmatch(trace) if trace else None
        self.trace_id = matched[1].decode() if matched else None
        self.attempts = attempts(headers)

    def place_in(self, row: Row, batch_id: int | None) -> None:
        """Write into the row of an item what all rows of the record share."""
        row[0:3] = self.place
        row[KAFKA_AT], row[BATCH_ID] = self.kafka_at, batch_id
        row[TRACE_ID], row[ATTEMPTS] = self.trace_id, self.attempts

    def encrypted(self, entry: int, position: int, own: bytes | None = None) -> tuple[bytes, str]:
        """Return the blob and the id of its key; ``own`` is the part of the record that an item is alone with."""
        packed = pack_record(own if own is not None else self.value or b"", self.headers)
        return encrypt_payload(packed, (*self.place, entry, position), self.keys)


def filled(**values: Any) -> Row:
    """Return a row with ``values`` in their places and null elsewhere."""
    row: Row = [None] * len(OUTPUT_COLUMNS)
    for name, value in values.items():
        row[POSITION[name]] = value
    return row


def as_batch(rows: list[Row]) -> pa.RecordBatch:
    """Build the Arrow batch of landing rows, ``landed_at`` left out."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in OUTPUT_COLUMNS)
    arrays = [pa.array(column, type=f.type) for column, f in zip(columns, OUTPUT_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=OUTPUT_SCHEMA)


def headers_of(column: pa.ListArray) -> list[dict[str, bytes]]:
    """Return each record's Kafka headers by name; the last of a repeated name counts, null values are left out."""
    if column.null_count == len(column):
        return [{} for _ in range(len(column))]
    entries = column.flatten()
    names, values = entries.field("key").to_pylist(), entries.field("value").to_pylist()
    result, start = [], 0
    for n in column.value_lengths().fill_null(0).to_pylist():
        end = start + n
        pairs = zip(names[start:end], values[start:end], strict=True)
        result.append({name: value for name, value in pairs if value is not None})
        start = end
    return result


def attempts(headers: Headers) -> int:
    """Return which try of the record this is."""
    told = headers.get(ATTEMPT_HEADER, b"1")
    return int(told) if told.isdigit() and len(told) < 6 else 1


def to_landing(records: DataFrame, intake: Intake) -> DataFrame:
    """Parse, identify and anonymise Kafka records (``topic partition offset timestamp value headers``).

    Row-wise and free of state: serves streams and batches. ``landed_at`` is the micro-batch's start and the same
    in a replay.
    """
    schema = T.StructType([f for f in LANDING.spark_schema.fields if f.name != SET_BY_SPARK])
    landed = records.select(*RECORD_COLUMNS).mapInArrow(intake, schema)
    return landed.withColumn(SET_BY_SPARK, F.current_timestamp()).select(*LANDING.column_names)
