"""Windows cover a long text; what is pooled is the mean of what was read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.embedding.conversation_vectors import conversation_vectors
from pipelines.embedding.long_texts import MOST_WINDOWS, cut_windows, pool_windows


@given(st.integers(1, 3000), st.integers(1, 300))
def test_windows_follow_each_other_without_a_gap_and_none_is_longer_than_the_room(n_tokens, room):
    offsets = [(3 * i, 3 * i + 2) for i in range(n_tokens)]
    windows = cut_windows(offsets, room)
    assert max(windows.n_tokens) <= room
    assert len(windows.spans) <= MOST_WINDOWS
    assert windows.spans[0][0] == 0
    for (_, end), (start, _) in zip(windows.spans, windows.spans[1:], strict=False):
        assert start <= end + 1
    assert windows.whole == (windows.spans[-1][1] == offsets[-1][1])
    assert windows.whole or len(windows.spans) == MOST_WINDOWS


def test_a_prompt_that_fills_the_model_is_refused():
    with pytest.raises(ValueError, match="shorten the prompt"):
        cut_windows([(0, 1)], 0)


def test_pooling_weighs_each_window_by_its_tokens_whatever_the_order():
    vectors = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    pooled = pool_windows(vectors, np.array([3, 5, 1], dtype=np.int32), np.array([0, 1, 0]), 2)
    assert pooled.tolist() == [[3, 1], [0, 5]]


conversations = st.lists(st.integers(0, 5), min_size=1, max_size=8)


@given(conversations, st.integers(0, 2**32 - 1))
def test_a_conversation_vector_is_the_unit_mean_of_its_turns_weighted_by_tokens(n_turns, seed):
    random = np.random.default_rng(seed)
    total = sum(n_turns)
    vectors = random.normal(size=(total, 6)).astype(np.float32)
    n_tokens = random.integers(1, 400, size=total).astype(np.int32)
    found = conversation_vectors(vectors, n_tokens, np.array(n_turns))
    start = 0
    for row, n in enumerate(n_turns):
        own = slice(start, start + n)
        start += n
        if n == 0:
            assert not found[row].any()
            continue
        mean = np.average(vectors[own].astype(float), axis=0, weights=n_tokens[own])
        assert np.abs(found[row] - mean / np.linalg.norm(mean)).max() < 1e-5


def test_turns_that_cancel_out_or_have_no_tokens_give_no_direction():
    vectors = np.array([[1, 0], [-1, 0], [1, 0]], dtype=np.float32)
    found = conversation_vectors(vectors, np.array([7, 7, 0], dtype=np.int32), np.array([2, 1]))
    assert not found.any()


def test_counts_that_do_not_fit_the_vectors_are_refused():
    with pytest.raises(ValueError, match="3 turns in 2 conversations"):
        conversation_vectors(np.zeros((2, 4), np.float32), np.ones(2, np.int32), np.array([2, 1]))
