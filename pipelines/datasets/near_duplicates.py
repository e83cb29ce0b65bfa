"""Near duplicates among texts of a lake. Grain: one row per text that repeats another one.

Not row-wise: a batch stage. What was accepted is read by the keys of its bands; only rows that share one with a new
text are compared, by their stored hashes. The answers are those of ``duplicates.index.AcceptedIndex`` for rows that
were accepted in the order of ``at``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipelines.duplicates.arrow_columns import SKETCH_COLUMNS, sketch_columns, sketches_of
from pipelines.duplicates.bands import MAX_BUCKET, Bands
from pipelines.duplicates.cluster import GIANT_ROWS, GIANT_SHARE, NONE, clusters
from pipelines.duplicates.shingles import FEWEST_WORDS
from pipelines.duplicates.sketches import VERSION, Sketches, sketches
from pipelines.duplicates.verify import Likeness, near_duplicates
from schemas import DUPLICATE_SIGNATURES

NEAR_DUPLICATE = "near_duplicate"
THRESHOLD = 0.8
"""Share of common words. Signatures of this threshold serve every higher one."""

SUBJECT = ["tenant", "subject_id"]
BUCKET = ["tenant", "band", "key"]
DUPLICATE_COLUMNS = ["tenant", "subject_id", "matched_id", "score"]
EARLIEST = ("at", "subject_id")
_DUPLICATES = "tenant string, subject_id string, matched_id string, score double"
PAIR_COLUMNS = ["tenant", "subject_id", "matched_id", "is_accepted", "at", "matched_at", "score"]
_PAIRS = (
    "tenant string, subject_id string, matched_id string, is_accepted boolean, at timestamp, matched_at timestamp, "
    "score double"
)
_OTHER = "other_"

Hold = Callable[[DataFrame], DataFrame]


def signatures_of(candidates: DataFrame, threshold: float = THRESHOLD) -> DataFrame:
    """Return the rows of ``duplicate_signatures`` for rows of ``tenant, subject_id, at, text``. Row-wise.

    Store those of the subjects that were accepted. A threshold below ``THRESHOLD`` needs signatures of its own.
    """
    cut, schema = _cut(threshold), DUPLICATE_SIGNATURES.arrow_schema

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                columns = {name: batch.column(name) for name in ("tenant", "subject_id", "at", "text_hash")}
                columns |= sketch_columns(sketches(batch.column("text").to_pylist(), cut))
                arrays = [columns[field.name].cast(field.type) for field in schema]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema.remove_metadata())

    text = F.coalesce("text", F.lit(""))
    told = candidates.select("tenant", "subject_id", "at", F.sha2(text, 256).alias("text_hash"), text.alias("text"))
    return told.mapInArrow(rows, DUPLICATE_SIGNATURES.spark_schema).select(*DUPLICATE_SIGNATURES.column_names)


def find_near_duplicates(
    candidates: DataFrame,
    accepted: DataFrame,
    threshold: float = THRESHOLD,
    *,
    agreeing: Hold = lambda pairs: pairs,
    hold: Hold = lambda frame: frame,
) -> DataFrame:
    """Return ``tenant, subject_id, matched_id, score`` of each candidate that nearly repeats another text.

    ``candidates`` are rows of ``tenant, subject_id, at, text`` or their ``signatures_of``; ``accepted`` rows of
    ``duplicate_signatures``. A candidate goes with the earliest accepted text that it matches, by ``at`` and then id;
    else with the earliest candidate before it that stays. Equal texts of five words or more match too; tenants are
    never compared. A candidate whose id is among the accepted is compared with nothing, so that a batch that comes
    again gets the same answer. Of more than ``MAX_BUCKET`` texts that agree in one band, only the earliest are
    compared. ``agreeing`` may leave out pairs (tenant, subject_id, matched_id and more) for reasons that the texts do
    not show. ``hold`` may persist frames that are read more than once. Raises ``ValueError`` for a threshold that makes
    no sense; reading fails where accepted signatures are of another version or of bands for another threshold.
    """
    likeness, cut = Likeness(threshold), _cut(threshold)
    signed = candidates if "band_keys" in candidates.columns else signatures_of(candidates, threshold)
    known = accepted.select(*SUBJECT)
    new = hold(signed.join(known, SUBJECT, "left_anti"))
    alike = hold(agreeing(compared(candidate_pairs(new, accepted, cut), new, accepted, likeness)))
    earliest = F.min_by(F.struct("matched_id", "score"), F.struct("matched_at", "matched_id"))
    repeats = alike.where("is_accepted").groupBy(*SUBJECT).agg(earliest.alias("match"))
    against = hold(repeats.select(*SUBJECT, "match.*"))
    gone = against.select("tenant", F.col("subject_id").alias("matched_id"))
    among = alike.where("not is_accepted").join(against, SUBJECT, "left_anti").join(gone, gone.columns, "left_anti")
    return against.unionByName(one_kept(among)).select(*DUPLICATE_COLUMNS)


def candidate_pairs(new: DataFrame, accepted: DataFrame, cut: Bands) -> DataFrame:
    """Return ``tenant, subject_id, matched_id, is_accepted``: pairs that agree in a band, each once.

    The second row is accepted, or new and earlier than the first. Accepted rows are read by their keys alone.
    """
    asked = band_keys(new, cut)
    met = band_keys(accepted, cut).join(asked.select(*BUCKET), BUCKET, "left_semi")
    first = Window.partitionBy(*BUCKET, "is_accepted").orderBy(*EARLIEST)
    pool = met.withColumn("is_accepted", F.lit(True)).unionByName(asked.withColumn("is_accepted", F.lit(False)))
    pool = pool.withColumn("nth", F.row_number().over(first)).where(F.col("nth") <= MAX_BUCKET)
    renamed = [F.col(name).alias(f"{_OTHER}{name}") for name in EARLIEST]
    pairs = asked.join(pool.select(*BUCKET, "is_accepted", *renamed), BUCKET)
    before = F.struct("other_at", "other_subject_id") < F.struct(*EARLIEST)
    return (
        pairs.where(F.col("is_accepted") | before)
        .select(*SUBJECT, F.col("other_subject_id").alias("matched_id"), "is_accepted")
        .distinct()
    )


def band_keys(signatures: DataFrame, cut: Bands) -> DataFrame:
    """Return ``tenant, subject_id, at, band, key``: a row for each band of each text that is long enough."""
    made = (F.col("sketch_version") == VERSION) & (F.col("band_rows") == cut.rows)
    wrong = F.raise_error(
        F.lit(f"duplicate_signatures: wanted version {VERSION} and bands of {cut.rows}; make the signatures anew")
    )
    keys = F.when(made, F.col("band_keys")).otherwise(wrong)
    long_enough = signatures.where(F.col("n_words") >= FEWEST_WORDS)
    return long_enough.select(*SUBJECT, "at", F.posexplode(keys).alias("band", "key"))


def compared(pairs: DataFrame, new: DataFrame, accepted: DataFrame, likeness: Likeness) -> DataFrame:
    """Return the pairs that are near duplicates: ``PAIR_COLUMNS``, times being those of both rows."""
    stored = ["at", *SKETCH_COLUMNS]
    pool = accepted.select(*SUBJECT, *stored, F.lit(True).alias("is_accepted"))
    pool = pool.unionByName(new.select(*SUBJECT, *stored, F.lit(False).alias("is_accepted")))
    other = [F.col("subject_id").alias("matched_id"), *(F.col(name).alias(f"{_OTHER}{name}") for name in stored)]
    both = pairs.join(new.select(*SUBJECT, *stored), SUBJECT)
    both = both.join(pool.select("tenant", "is_accepted", *other), ["tenant", "is_accepted", "matched_id"])

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                each = np.arange(batch.num_rows)
                found, scores = near_duplicates(_side(batch, ""), _side(batch, _OTHER), (each, each), likeness)
                told = batch.select([*SUBJECT, "matched_id", "is_accepted", "at", f"{_OTHER}at"]).columns
                yield pa.RecordBatch.from_arrays([*told, pa.array(scores)], names=PAIR_COLUMNS).filter(pa.array(found))

    return both.mapInArrow(rows, _PAIRS)


def one_kept(pairs: DataFrame) -> DataFrame:
    """Return the candidates that go with an earlier one: nothing chains, and one of a cluster stays.

    ``pairs`` are near duplicates (``subject_id``, earlier ``matched_id``) among candidates, a tenant in one task.
    """
    return pairs.groupBy("tenant").applyInArrow(_decided, _DUPLICATES).select(*DUPLICATE_COLUMNS)


def _decided(pairs: pa.Table) -> pa.Table:
    tenant = pairs.column("tenant")[0].as_py()
    sides = [
        list(zip(pairs.column(at).cast(pa.int64()).to_pylist(), pairs.column(name).to_pylist(), strict=True))
        for at, name in (("at", "subject_id"), ("matched_at", "matched_id"))
    ]
    rows = sorted({*sides[0], *sides[1]})
    place = {row: number for number, row in enumerate(rows)}
    numbered = [np.array([place[row] for row in side], np.int64) for side in sides]
    found = clusters(len(rows), (numbered[0], numbered[1]), pairs.column("score").to_numpy())
    gone = np.flatnonzero(found.matched != NONE)
    return pa.table(
        {
            "tenant": pa.array([tenant] * len(gone), pa.string()),
            "subject_id": pa.array([rows[row][1] for row in gone.tolist()], pa.string()),
            "matched_id": pa.array([rows[row][1] for row in found.matched[gone].tolist()], pa.string()),
            "score": pa.array(found.scores[gone]),
        }
    )


def giant_clusters(duplicates: DataFrame, candidates: int) -> DataFrame:
    """Return ``tenant, matched_id, rows``: texts that took alarmingly many with them, a sign of scaffold.

    ``candidates`` is how many were compared; the limits are those of ``duplicates.cluster``.
    """
    counts = duplicates.groupBy("tenant", "matched_id").agg(F.count(F.lit(1)).alias("rows"))
    return counts.where(F.col("rows") > max(GIANT_ROWS, GIANT_SHARE * candidates))


def _cut(threshold: float) -> Bands:
    """Return the bands of stored signatures: those of ``THRESHOLD`` find what is more alike as well."""
    return Likeness(min(Likeness(threshold).threshold, THRESHOLD)).cut()


def _side(batch: pa.RecordBatch, prefix: str) -> Sketches:
    columns = [batch.column(f"{prefix}{name}") for name in SKETCH_COLUMNS]
    return sketches_of(pa.RecordBatch.from_arrays(columns, names=list(SKETCH_COLUMNS)))
