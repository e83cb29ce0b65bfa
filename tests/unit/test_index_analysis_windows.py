"""Windows of conversations: vectors from their turns, in the order of the path, without the model."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from pipelines.adapters.duck import connect
from pipelines.index.analysis.window import read_conversations
from pipelines.index.filters import EVERYTHING, parse_filter
from schemas import CONVERSATIONS, EMBEDDINGS, TURN_SIGNALS, TURNS

VECTORS = {"t1": [1.0, 0.0, 0.0], "t2": [0.0, 1.0, 0.0], "t3": [0.0, 0.0, 1.0], "t4": [-1.0, 0.0, 0.0]}
TOKENS = {"t1": 30, "t2": 40, "t3": 5, "t4": 30}


def write(lake, table, rows):
    lake.table(table.name).mkdir(parents=True, exist_ok=True)
    data = pa.Table.from_pylist([table.row(**row) for row in rows], schema=table.arrow_schema)
    write_deltalake(lake.table(table.name), data, mode="append", configuration=table.delta_properties())


@pytest.fixture
def connection(lake):
    roles = {"t2": "assistant", "t4": "assistant"}
    turns = [{"turn_id": t, "text": f"text of {t}", "text_hash": t, "role": roles.get(t, "user")} for t in VECTORS]
    write(lake, TURNS, turns)
    write(lake, TURN_SIGNALS, [{"turn_id": t, "keep": True} for t in VECTORS])
    vectors = [
        {"text_hash": t, "vector": v, "n_tokens": TOKENS[t], "model_fingerprint": "f"} for t, v in VECTORS.items()
    ]
    write(lake, EMBEDDINGS, vectors)
    paths = {"both": ["t2", "t1"], "alone": ["t3"], "cancels out": ["t1", "t4"], "not embedded": ["t9"]}
    conversations = [{"conversation_id": name, "turn_ids": path} for name, path in paths.items()]
    write(lake, CONVERSATIONS, [*conversations, {"tenant": "other", "conversation_id": "theirs", "turn_ids": ["t3"]}])
    with connect(lake) as connection:
        yield connection


def test_a_conversation_has_the_mean_of_its_turns_by_tokens_and_their_texts_in_order(connection):
    window = read_conversations(connection, "default", "f", EVERYTHING)
    found = dict(zip(window.turns["turn_id"].to_pylist(), window.vectors, strict=True))
    assert found.keys() == {"both", "alone"}
    assert found["both"] == pytest.approx(np.array([0.6, 0.8, 0.0]), abs=1e-6)
    assert dict(zip(window.turns["turn_id"].to_pylist(), window.texts, strict=True))["both"] == "text of t2\ntext of t1"


def test_only_turns_that_fit_count(connection):
    window = read_conversations(connection, "default", "f", parse_filter("role='user'"))
    found = dict(zip(window.turns["turn_id"].to_pylist(), window.vectors.tolist(), strict=True))
    assert found == {"both": [1, 0, 0], "alone": [0, 0, 1], "cancels out": [1, 0, 0]}


@pytest.mark.parametrize(("tenant", "fingerprint"), [("other", "f"), ("default", "another")])
def test_without_vectors_of_the_tenant_and_model_there_are_none(connection, tenant, fingerprint):
    window = read_conversations(connection, tenant, fingerprint, EVERYTHING)
    assert (window.turns.num_rows, len(window.vectors)) == (0, 0)
