"""The embedding stage and its job: each distinct text once, nothing without consent, a replay adds nothing."""

import dataclasses
import datetime as dt
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from pyspark import cloudpickle

from jobs.embed_stream import embed_batch, embed_turns
from jobs.options import Settings
from jobs.streaming import Schedule
from pipelines.adapters import delta
from pipelines.embedding.encoder import Embedded
from schemas import EMBEDDING_FAILURES, EMBEDDINGS, TURN_SIGNALS, TURNS
from schemas.embedding_failures import EmbeddingFailure

cloudpickle.register_pickle_by_value(sys.modules[__name__])

DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class CountingEncoder:
    """Vectors from a hash; writes down how many texts each call of the model got."""

    calls: Path
    name: str = "counting"
    fingerprint: str = "f1"

    def encode(self, texts):
        with self.calls.open("a") as file:
            file.write(f"{len(texts)}\n")
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") for text in texts]
        vectors = np.stack([np.random.default_rng(seed).normal(size=8) for seed in seeds]).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        n = len(texts)
        return Embedded(vectors, np.full(n, 3, np.int32), np.zeros(n, bool), "hash")

    @property
    def texts_seen(self):
        return sum(map(int, self.calls.read_text().split())) if self.calls.exists() else 0


@dataclass(frozen=True)
class FailingEncoder(CountingEncoder):
    """Has no vector for the text ``broken``."""

    def encode(self, texts):
        embedded = super().encode(texts)
        failures = {row: EmbeddingFailure.NOT_FINITE for row, text in enumerate(texts) if text == "broken"}
        return dataclasses.replace(embedded, failures=failures)


@pytest.fixture
def encoder(tmp_path):
    return CountingEncoder(tmp_path / "calls")


@pytest.fixture
def settings(lake):
    return Settings(lake.path, lake.path.with_name("keys"))


def text_hash(text):
    return hashlib.sha256(text.encode()).hexdigest()


def add_turns(spark, lake, *turns, day=0):
    """Append turns of (turn_id, text, keep, further columns) that landed together, with their signals."""
    at = DAY + dt.timedelta(days=day)
    rows = [
        TURNS.row(turn_id=turn_id, text=text, text_hash=text_hash(text) if text else None, landed_at=at, **rest)
        for turn_id, text, _, rest in turns
    ]
    signals = [
        TURN_SIGNALS.row(
            turn_id=row["turn_id"],
            tenant=row["tenant"],
            text_hash=row["text_hash"],
            keep=keep,
            reason=None if keep else "repetition",
            landed_at=at,
        )
        for row, (_, _, keep, _) in zip(rows, turns, strict=True)
    ]
    delta.append(spark.createDataFrame(rows, TURNS.spark_schema), lake, TURNS)
    delta.append(spark.createDataFrame(signals, TURN_SIGNALS.spark_schema), lake, TURN_SIGNALS)


def stored(spark, lake):
    return sorted((r.tenant, r.text_hash) for r in delta.read(spark, lake, EMBEDDINGS).collect())


def test_each_distinct_kept_text_with_consent_is_embedded_once_a_tenant(spark, lake, settings, encoder):
    add_turns(
        spark,
        lake,
        ("t1", "hello", True, {}),
        ("t2", "hello", True, {}),
        ("t3", "hello", True, {"tenant": "other"}),
        ("t4", "again and again", False, {}),
        ("t5", None, True, {}),
        ("t6", " \n", True, {}),
        ("t7", "for nobody", True, {"consent": "none"}),
        ("t8", "for analytics", True, {"consent": "analytics"}),
    )
    figures = embed_turns(settings, Schedule(), encoder)
    wanted = [("default", text_hash("hello")), ("default", text_hash("for analytics")), ("other", text_hash("hello"))]
    assert stored(spark, lake) == sorted(wanted)
    assert figures["embedded"] == encoder.texts_seen == 3
    rows = delta.read(spark, lake, EMBEDDINGS)
    assert [row.broken for row in rows.select(EMBEDDINGS.violations().alias("broken")).distinct().collect()] == [[]]
    assert abs(np.linalg.norm(rows.first().vector) - 1) < 1e-5


def test_a_known_text_costs_no_model_call_and_no_commit(spark, lake, settings, encoder):
    add_turns(spark, lake, ("t1", "hello", True, {}))
    embed_turns(settings, Schedule(), encoder)
    version = delta.version(lake, EMBEDDINGS.name)
    add_turns(spark, lake, ("t2", "hello", True, {}), day=1)
    embed_turns(settings, Schedule(), encoder)
    assert encoder.texts_seen == 1
    assert delta.version(lake, EMBEDDINGS.name) == version
    add_turns(spark, lake, ("t3", "hello", True, {}), ("t4", "news", True, {}), day=2)
    embed_turns(settings, Schedule(), encoder)
    assert encoder.texts_seen == 2


def test_a_turn_whose_earlier_row_withheld_consent_is_not_embedded(spark, lake, settings, encoder):
    add_turns(spark, lake, ("t1", "hello", True, {"consent": "none"}))
    add_turns(spark, lake, ("t1", "hello", True, {"consent": "training"}), day=1)
    embed_turns(settings, Schedule(), encoder)
    assert encoder.texts_seen == 0
    assert stored(spark, lake) == []


def test_replaying_a_batch_adds_no_rows_and_calls_no_model(spark, lake, encoder):
    add_turns(spark, lake, ("t1", "hello", True, {}), ("t2", "world", True, {}))
    signals = delta.read(spark, lake, TURN_SIGNALS)
    assert embed_batch(signals, 7, lake, encoder).embedded == 2
    version = delta.version(lake, EMBEDDINGS.name)
    again = embed_batch(signals, 7, lake, encoder)
    assert (again.asked, again.embedded, again.hit_rate) == (2, 0, 1.0)
    assert encoder.texts_seen == 2
    assert delta.version(lake, EMBEDDINGS.name) == version


def test_a_text_without_a_vector_is_a_typed_failure_tried_once_and_its_neighbours_are_stored(spark, lake, encoder):
    add_turns(spark, lake, ("t1", "hello", True, {}), ("t2", "broken", True, {}))
    signals = delta.read(spark, lake, TURN_SIGNALS)
    failing = FailingEncoder(encoder.calls)
    figures = embed_batch(signals, 0, lake, failing)
    assert (figures.embedded, figures.failed) == (1, 1)
    assert stored(spark, lake) == [("default", text_hash("hello"))]
    rows = delta.read(spark, lake, EMBEDDING_FAILURES)
    assert [(row.text_hash, row.reason) for row in rows.collect()] == [(text_hash("broken"), "not_finite")]
    assert rows.select(EMBEDDING_FAILURES.violations().alias("broken")).first().broken == []
    assert embed_batch(signals, 1, lake, failing).failed == 0


def test_another_model_embeds_the_same_texts_beside_the_first(spark, lake, encoder, tmp_path):
    add_turns(spark, lake, ("t1", "hello", True, {}))
    signals = delta.read(spark, lake, TURN_SIGNALS)
    embed_batch(signals, 0, lake, encoder)
    embed_batch(signals, 1, lake, CountingEncoder(tmp_path / "others", "other", "f2"))
    found = {(r.model, r.model_fingerprint) for r in delta.read(spark, lake, EMBEDDINGS).collect()}
    assert found == {("counting", "f1"), ("other", "f2")}
