"""Pending fragments -> rows of ``landing``. Grain: the pieces of one streamed answer in, its items out.

Not row-wise: a batch stage. Pieces are decrypted, joined and anonymised inside the worker; what leaves it is clean.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.intake.decode import load_json
from pipelines.intake.items import Entry
from pipelines.intake.landing import POSITION, SET_BY_SPARK, Intake, Payload, RecordReader, Row, as_batch, filled
from pipelines.intake.parse import CLOSED, parse_joined
from pipelines.intake.payload_record import unpack_record
from pipelines.intake.stream_formats import StreamFormat, stream_format_of
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.payloads import decrypt_payload
from schemas import LANDING
from schemas.records import Outcome
from schemas.shared_columns import COORDINATES

PIECE_COLUMNS = (
    "tenant", "consent", "fragment_key", *COORDINATES, "payload_encrypted", "payload_key_id", "kafka_at", "landed_at",
    "batch_id", "trace_id", "attempts",
)  # fmt: skip
ORDER = ("kafka_at", "partition", "offset", "entry", "position")


def pending_fragments(landing: DataFrame) -> DataFrame:
    """Return the pieces that no join has used yet."""
    # Files without any fragment are skipped by their statistics: all values of this column are null there.
    concerned = landing.where(F.col("fragment_key").isNotNull())
    used = concerned.select(F.explode("joined_from").alias("piece")).select("piece.*")
    pieces = concerned.where(F.col("joined_from").isNull()).select(*PIECE_COLUMNS)
    return pieces.join(used, list(COORDINATES), how="left_anti")


def join_fragments(pending: DataFrame, intake: Intake, closed_before: dt.datetime) -> DataFrame:
    """Join the answers that are whole, or whose last piece landed before ``closed_before``; others stay pending.

    Rows carry the coordinates of their lowest piece; the first lists all pieces in ``joined_from``.
    """
    schema = T.StructType([f for f in LANDING.spark_schema.fields if f.name != SET_BY_SPARK])
    work = FragmentJoin(intake, closed_before)

    def join_answer(pieces: pa.Table) -> pa.Table:
        return work(pieces)

    # A plain function: Spark counts the parameters of a method with its self, and would hand over the key.
    joined = pending.groupBy("tenant", "fragment_key").applyInArrow(join_answer, schema)
    return joined.withColumn(SET_BY_SPARK, F.current_timestamp()).select(*LANDING.column_names)


@dataclass(frozen=True)
class FragmentJoin:
    """The work on one answer in a Python worker; keys are read there."""

    intake: Intake
    closed_before: dt.datetime

    def __call__(self, pieces: pa.Table) -> pa.Table:
        """Return the rows of the answer, none while more pieces may come."""
        rows = sorted(pieces.to_pylist(), key=lambda row: tuple(row[name] for name in ORDER))
        keys = KeyFolder(self.intake.keys).open()
        is_late = max(row["landed_at"] for row in rows) < self.closed_before
        return pa.Table.from_batches([as_batch(self.rows(rows, self.intake.reader(keys), is_late=is_late))])

    def rows(self, pieces: list[dict[str, Any]], reader: RecordReader, *, is_late: bool) -> list[Row]:
        """Return the landing rows of sorted pieces; a receipt alone where the whole answer has landed by itself."""
        opened = [_opened(piece, reader.keys) for piece in pieces]
        entries = [entry for _, entry, _ in opened]
        first = pieces[0]
        place = tuple(first[name] for name in COORDINATES)
        if any(entry == CLOSED for entry in entries):
            outcome, tenant, consent = Outcome.FRAGMENT.value, first["tenant"], first["consent"]
            kept = [filled(entry=place[3], position=place[4], outcome=outcome, tenant=tenant, consent=consent)]
        else:
            stream_format = stream_format_of(entries[0])
            if stream_format is None or not (is_late or stream_format.is_whole(entries)):
                return []
            kept = self._joined(stream_format, opened, first, reader)
        for row in kept:
            row[0:3] = place[:3]
            for name in ("kafka_at", "batch_id", "trace_id", "attempts"):
                row[POSITION[name]] = first[name]
        kept[0][POSITION["fragment_key"]] = first["fragment_key"]
        kept[0][POSITION["joined_from"]] = [{name: piece[name] for name in COORDINATES} for piece in pieces]
        return kept

    def _joined(
        self,
        stream_format: StreamFormat,
        opened: list[tuple[bytes, Entry, dict[str, bytes]]],
        first: dict[str, Any],
        reader: RecordReader,
    ) -> list[Row]:
        pieces, headers = [entry for _, entry, _ in opened], opened[0][2]
        place = tuple(first[name] for name in COORDINATES[:3])
        payload = Payload(b"\n".join(value for value, _, _ in opened), headers, place, reader.keys, first["kafka_at"])
        items = parse_joined(
            stream_format,
            pieces,
            headers,
            reader.identity,
            entry=first["entry"],
            default_consent=self.intake.default_consent,
        )
        return reader.rows_of([(item, payload) for item in items], first["batch_id"])


def _opened(piece: dict[str, Any], keys: KeyFolder) -> tuple[bytes, Entry, dict[str, bytes]]:
    place = tuple(piece[name] for name in COORDINATES)
    value, headers = unpack_record(
        decrypt_payload(bytes(piece["payload_encrypted"]), place, piece["payload_key_id"], keys)
    )
    return value, load_json(value)[0], headers
