"""Semantic duplicates: each pair that a product of all vectors finds, one of a cluster stays, values keep apart."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.duplicates.index import AcceptedIndex, Verdict
from pipelines.duplicates.semantic import SEMANTIC, Accepted, semantic_duplicates, semantic_exchanges
from pipelines.duplicates.vector_pairs import Clustered

quickly = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
INDEX = AcceptedIndex()


def unit(vectors):
    out = np.asarray(vectors, np.float32)
    return out / np.linalg.norm(out, axis=1, keepdims=True)


def bunches(seed, count, width=24, spread=0.12, centres=9):
    """Vectors around a few directions, as texts about a few subjects have."""
    draw = np.random.default_rng(seed)
    middle = draw.normal(size=(centres, width))
    return unit(middle[draw.integers(0, centres, count)] + spread * draw.normal(size=(count, width)))


def every_pair(asked, kept, threshold):
    cosines = asked.astype(np.float64) @ kept.T.astype(np.float64)
    return [tuple(pair) for pair in np.argwhere(cosines >= threshold).tolist()]


def at_angle(degrees):
    return [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]


def decided(new, accepted=(), threshold=0.95, **options):
    """Decide rows of (id, text, degrees) against accepted ones."""
    held = [INDEX.batch([row[0] for row in rows], [row[1] for row in rows]) for rows in (accepted, new)]
    vectors = [np.array([at_angle(row[2]) for row in rows], np.float32).reshape(-1, 2) for rows in (accepted, new)]
    return semantic_duplicates(Accepted.of(held[0], vectors[0]), held[1], vectors[1], threshold, **options)


@quickly
@given(st.integers(0, 10_000), st.integers(1, 90), st.integers(0, 120), st.sampled_from([0.7, 0.9, 0.95, 0.99]),
       st.integers(1, 40))  # fmt: skip
def test_clusters_lose_no_pair_and_add_none(seed, n_asked, n_kept, threshold, cluster_rows):
    vectors = bunches(seed, n_asked + n_kept)
    asked, kept = vectors[:n_asked], vectors[n_asked:]
    left, right, cosines = Clustered.of(kept, cluster_rows, whole_rows=0).pairs(asked, threshold)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == every_pair(asked, kept, threshold)
    assert np.array_equal(cosines, np.einsum("ij,ij->i", *(v.astype(np.float64) for v in (asked[left], kept[right]))))


def test_blocks_larger_than_one_product_lose_no_pair():
    vectors = bunches(3, 9500, width=8, spread=0.02, centres=400)
    wanted = every_pair(vectors[:700], vectors, 0.999)
    for found in (Clustered.of(vectors, 300), Clustered.of(vectors, whole_rows=len(vectors))):
        left, right, _ = found.pairs(vectors[:700], 0.999)
        assert list(zip(left.tolist(), right.tolist(), strict=True)) == wanted
    assert len(wanted) > 1400


def test_clusters_rule_blocks_out():
    found = Clustered.of(bunches(4, 4000, centres=40), 100, whole_rows=0)
    assert found._near(bunches(4, 4000, centres=40)[:500], 0.95).mean() < 0.2


def test_torch_finds_what_numpy_finds():
    pytest.importorskip("torch")
    vectors = bunches(5, 600)
    found = Clustered.of(vectors, 50, whole_rows=0)
    for ours, theirs in zip(found.pairs(vectors, 0.9), found.pairs(vectors, 0.9, device="cpu"), strict=True):
        assert np.array_equal(ours, theirs)


def test_pairs_of_a_crowd_are_bounded_and_the_first_stay():
    vectors = unit(np.tile([[1.0, 0.0]], (5000, 1)))
    left, right, _ = Clustered.of(vectors, 100, whole_rows=0).pairs(vectors[:3], 0.9, most=7)
    assert right.tolist() == [*range(7)] * 3
    assert left.tolist() == [0] * 7 + [1] * 7 + [2] * 7


@pytest.mark.parametrize("bad", [[[1.0, 1.0]], [[0.0, 0.0]], [[float("nan"), 1.0]], [1.0, 0.0]])
def test_vectors_that_are_not_of_unit_length_are_refused(bad):
    with pytest.raises(ValueError, match="wanted vectors"):
        Clustered.of(np.array(bad, np.float32))


def test_other_words_for_the_same_go_with_the_accepted_text():
    verdicts = decided(
        [("b", "what do I do to get my password back", 5), ("c", "what is the capital of this country", 80)],
        [("a", "how can someone recover a lost login code", 0)],
    )
    assert [verdict.matched_id for verdict in verdicts] == ["a", None]
    assert verdicts[0].rule == SEMANTIC
    assert verdicts[0].score == pytest.approx(np.cos(np.radians(5)), abs=1e-6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("send 40 euros to my brother", "transfer 45 euros over to a sibling"),
        ("what is the weather in Lamar", "tell me how warm it gets in Oswyn"),
        ("I do want a refund for this", "under these terms no money back please"),
        ("how do i increase the size of my swap file", "how do i decrease the size of my swap file"),
        ("translate from Spanish to English", "turn my English words into Spanish ones"),
    ],
)
def test_a_number_name_negation_or_exchanged_word_keeps_texts_apart_however_near(one, other):
    assert not decided([("b", other, 1)], [("a", one, 0)])[0].dropped
    assert not decided([("a", one, 0), ("b", other, 1)])[1].dropped


def test_a_text_of_few_words_with_another_one_is_another_text():
    assert not decided([("b", "turn it down please", 1)], [("a", "turn it up", 0)])[0].dropped
    assert decided([("b", "turn  it up", 1)], [("a", "turn it up", 0)])[0].matched_id == "a"


def test_rows_do_not_chain_and_the_earliest_stays():
    texts = ["alpha beta gamma", "delta epsilon zeta", "eta theta iota", "kappa lambda"]
    rows = [(f"{place}", text, 15 * place) for place, text in enumerate(texts)]
    assert [one.matched_id for one in decided(rows)] == [None, "0", None, "2"]
    assert [one.matched_id for one in decided(rows[1:], rows[:1])] == ["0", None, "2"]


def test_a_retried_row_stays_and_matches_nothing():
    row = ("a", "alpha beta gamma", 0)
    assert decided([row], [row]) == [Verdict()]
    assert [one.matched_id for one in decided([row, ("b", "delta epsilon zeta", 0)], [row])] == [None, "a"]


def test_nothing_against_nothing_is_no_fault():
    assert decided([]) == []
    assert decided([("a", "alpha", 0)]) == [Verdict()]
    assert decided([], [("a", "alpha", 0)]) == []


def test_a_vector_too_few_or_a_threshold_that_is_no_cosine_is_refused():
    batch, none = INDEX.batch(["a"], ["x"]), INDEX.batch([], [])
    with pytest.raises(ValueError, match="1 rows and 0 vectors"):
        Accepted.of(batch, np.zeros((0, 2)))
    with pytest.raises(ValueError, match="threshold"):
        semantic_duplicates(Accepted.of(none, np.zeros((0, 2))), batch, np.array([[1.0, 0.0]]), 1.5)
    with pytest.raises(ValueError, match="wanted vectors of 3 numbers, found 2"):
        Clustered.of(np.eye(3)).pairs(np.eye(2), 0.9)


@quickly
@given(st.lists(st.integers(0, 90), min_size=1, max_size=12), st.integers(0, 6), st.randoms(use_true_random=False))
def test_answers_are_those_of_comparing_every_row_in_turn(degrees, n_accepted, shuffler):
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    rows = [(f"{place:02}", words[place], angle) for place, angle in enumerate(degrees)]
    accepted, new = rows[:n_accepted], rows[n_accepted:]
    staying, wanted = list(accepted), {}
    for row in new:
        near = [one[0] for one in staying if np.float32(np.cos(np.radians(one[2] - row[2]))) >= np.float32(0.9501)]
        wanted[row[0]] = near[0] if near else None
        staying += [] if near else [row]
    shuffled = shuffler.sample(new, len(new))
    found = decided(shuffled, accepted, threshold=0.9501)
    assert {row[0]: one.matched_id for row, one in zip(shuffled, found, strict=True)} == wanted


def exchanged(rows, threshold=0.95):
    """Decide rows of (id, text, degrees of the question, degrees of the answer) in the order of their ids."""
    batch = INDEX.batch([row[0] for row in rows], [row[1] for row in rows])
    sides = [np.array([at_angle(row[place]) for row in rows], np.float32).reshape(-1, 2) for place in (2, 3)]
    return {row[0]: one for row, one in zip(rows, semantic_exchanges(batch, *sides, threshold), strict=True)}


def test_an_exchange_goes_only_when_question_and_answer_are_both_near():
    rows = [
        ("a", "alpha beta", 0, 0),
        ("b", "gamma delta", 5, 8),
        ("c", "epsilon zeta", 2, 40),
        ("d", "eta theta", 40, 2),
    ]
    found = exchanged(rows)
    assert {name: one.matched_id for name, one in found.items()} == {"a": None, "b": "a", "c": None, "d": None}
    assert found["b"].score == pytest.approx(np.cos(np.radians(8)), abs=1e-6)


def test_exchanges_with_another_number_stay_however_near():
    rows = [("a", "book it for 5 please, booked for 5", 0, 0), ("b", "make it 7 if you can, it is 7 now", 0, 0)]
    assert not any(one.dropped for one in exchanged(rows).values())


@quickly
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12), st.randoms(use_true_random=False))
def test_exchanges_are_those_of_comparing_every_row_in_turn(angles, shuffler):
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    rows = [(f"{place:02}", words[place], *pair) for place, pair in enumerate(angles)]
    staying, wanted = [], {}
    for row in rows:
        near = [one[0] for one in staying if max(abs(one[2] - row[2]), abs(one[3] - row[3])) <= 18]
        wanted[row[0]] = near[0] if near else None
        staying += [] if near else [row]
    found = exchanged(shuffler.sample(rows, len(rows)), threshold=float(np.cos(np.radians(18.5))))
    assert {name: one.matched_id for name, one in found.items()} == wanted


def test_a_vector_too_few_on_one_side_is_refused():
    batch = INDEX.batch(["a"], ["x"])
    with pytest.raises(ValueError, match="1 rows and 0 vectors"):
        semantic_exchanges(batch, np.array([[1.0, 0.0]]), np.zeros((0, 2)))
