"""Questions as a DataFrame get the answers that each gets alone, inside its own tenant."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from jobs.index_choice import IndexAt
from pipelines.index.by_model import Choice
from pipelines.index.exact import ExactIndex
from pipelines.index.filters import EVERYTHING, parse_filter
from pipelines.index.rows import index_schema
from pipelines.index.search_stage import QUESTION_VECTORS, search_questions

DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
FINGERPRINT = "f" * 64


def unit_vectors(n, seed):
    vectors = np.random.default_rng(seed).normal(size=(n, 8)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def choice(lake):
    choice = Choice("exact", FINGERPRINT)
    rows = [
        {"tenant": "ab"[i % 2], "turn_id": f"t{i}", "text_hash": f"h{i}", "role": ("user", "assistant")[i % 3 == 0],
         "conversation_ref": None, "lang": "en", "created_at": DAY, "landed_at": DAY, "terms": "", "vector": v.tolist()}
        for i, v in enumerate(unit_vectors(60, 0))
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=index_schema(8))
    ExactIndex(lake.index / choice.name).rebuild(
        table.to_batches(), model="m", model_fingerprint=FINGERPRINT, versions={"turns": 3}, table_ids={}
    )
    return choice


def test_each_question_gets_what_it_gets_alone_and_only_from_its_tenant(spark, lake, choice):
    asked = [(f"q{i}", "abc"[i % 3], v.tolist()) for i, v in enumerate(unit_vectors(12, 1))]
    questions = spark.createDataFrame(asked, QUESTION_VECTORS).repartition(2)
    where = parse_filter("role='user'")
    how = {"model_fingerprint": FINGERPRINT, "k": 4, "where": where}
    rows = search_questions(questions, IndexAt(lake.index, choice), **how).collect()
    index = ExactIndex(lake.index / choice.name)
    for question_id, tenant, vector in asked:
        wanted = index.search(np.array(vector, np.float32), 4, tenant, where).hits
        found = sorted((row for row in rows if row.question_id == question_id), key=lambda row: row["rank"])
        assert [row.turn_id for row in found] == [hit.turn_id for hit in wanted]
        assert [row["rank"] for row in found] == list(range(1, len(wanted) + 1))
        assert {row.tenant for row in found} <= {tenant}
        assert {row.turns_version for row in found} <= {3}
    assert {row.question_id for row in rows} == {question_id for question_id, tenant, _ in asked if tenant != "c"}


def test_vectors_of_another_model_are_refused(spark, lake, choice):
    questions = spark.createDataFrame([("q", "a", [1.0] * 8)], QUESTION_VECTORS)
    with pytest.raises(Exception, match="FingerprintMismatchError"):
        search_questions(questions, IndexAt(lake.index, choice), model_fingerprint="other", where=EVERYTHING).collect()
