"""The parity report ranks as people did, and refuses what loses too much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.embedding.encoder import Embedded
from pipelines.embedding.parity import MOST_LOSS, Parity, ScoredPairs, compare, read_pairs, spearman

values = st.lists(st.integers(-5, 5), min_size=3, max_size=40)


@given(values, st.randoms())
def test_spearman_equals_that_of_scipy_also_with_ties(left, random):
    stats = pytest.importorskip("scipy.stats")
    right = random.sample(left, len(left))
    if len(set(left)) == 1:
        assert spearman(np.array(left, float), np.array(right, float)) == 0
    else:
        wanted = stats.spearmanr(left, right).statistic
        assert abs(spearman(np.array(left, float), np.array(right, float)) - wanted) < 1e-9


class TableEncoder:
    """Vectors from a table; stands for no model, only for other numbers."""

    def __init__(self, vectors, backend):
        self.vectors, self.backend = vectors, backend

    def encode(self, texts):
        found = np.array([self.vectors[text] for text in texts], dtype=np.float32)
        return Embedded(found, np.ones(len(texts), np.int32), np.zeros(len(texts), bool), self.backend)


def test_a_backend_that_ranks_worse_is_refused_and_one_that_ranks_alike_is_accepted():
    pairs = ScoredPairs(("a", "a", "a"), ("b", "c", "d"), np.array([1.0, 2.0, 3.0]))
    good = {"a": [1, 0], "b": [0, 1], "c": [0.6, 0.8], "d": [1, 0]}
    worse = good | {"c": [1, 0], "d": [0.6, 0.8]}
    reference, same, other = compare(
        TableEncoder(good, "torch"), [TableEncoder(good, "same"), TableEncoder(worse, "other")], pairs
    )
    assert reference.spearman == pytest.approx(1)
    assert same.accepted
    assert same.max_deviation == 0
    assert not other.accepted
    assert other.loss == pytest.approx(0.5)
    assert other.max_deviation == pytest.approx(0.8)


def test_exactly_the_loss_that_is_allowed_is_accepted():
    assert Parity("x", 0.8, MOST_LOSS, 0.0).accepted
    assert not Parity("x", 0.8, MOST_LOSS * 1.01, 0.0).accepted


def test_a_file_of_another_form_is_refused_by_row_without_its_text(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text('one,two,1.5\n"secret sentence",two\n')
    with pytest.raises(ValueError, match=r"pairs.csv, row 2: .* found 2 fields") as told:
        read_pairs([file])
    assert "secret" not in str(told.value)
    file.write_text("one,two,1.5\n")
    with pytest.raises(ValueError, match="at least 2 scored pairs"):
        read_pairs([file])
