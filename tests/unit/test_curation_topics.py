import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.datasets.topics import find_centroids, nearest, topic_names

WORDS = {0: "router modem cable", 1: "invoice refund payment", 2: "recipe oven butter"}


def blobs(per_topic, n_topics=3, seed=5, spread=0.15):
    """Unit vectors around orthogonal directions, and the direction of each."""
    chance = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_topics), per_topic)
    vectors = np.eye(n_topics, 16)[truth] + chance.normal(0, spread / 4, (len(truth), 16))
    order = chance.permutation(len(truth))
    vectors = vectors[order] / np.linalg.norm(vectors[order], axis=1, keepdims=True)
    return vectors.astype(np.float32), truth[order]


@given(st.integers(0, 1_000))
@settings(max_examples=20, deadline=None)
def test_clusters_that_lie_apart_are_found_with_any_seed_that_makes_three(seed):
    vectors, truth = blobs(40)
    centroids = find_centroids(vectors, 3, seed)
    labels = nearest(vectors, centroids)
    pairs = set(zip(truth.tolist(), labels.tolist(), strict=True))
    assert np.allclose(np.linalg.norm(centroids, axis=1), 1, atol=1e-5)
    assert len(pairs) == 3


def test_the_same_input_and_seed_give_the_same_bytes():
    vectors, _ = blobs(200, n_topics=8)
    assert find_centroids(vectors, 8, 3).tobytes() == find_centroids(vectors.copy(), 8, 3).tobytes()


def test_every_vector_goes_to_the_centroid_with_the_highest_cosine():
    vectors, _ = blobs(30)
    centroids = find_centroids(vectors, 3, 0)
    brute = [max(range(3), key=lambda n: float(row @ centroids[n])) for row in vectors]
    assert nearest(vectors, centroids).tolist() == brute


@pytest.mark.parametrize(("n", "topics"), [(0, 0), (39, 0), (40, 2), (60, 3), (10_000, 50)])
def test_few_questions_make_few_topics(n, topics):
    vectors = np.random.default_rng(0).normal(size=(n, 8)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    assert len(find_centroids(vectors, 50, 0)) == topics


def test_equal_vectors_do_not_break_the_search():
    vectors = np.tile(np.eye(1, 8, dtype=np.float32), (100, 1))
    assert np.isfinite(find_centroids(vectors, 3, 0)).all()


def questions():
    labels = np.repeat([0, 1, 2], 30)
    texts = [f"please help with my {WORDS[label]} today" for label in labels]
    owners = [f"user-{n % 10}" for n in range(90)]
    return texts, owners, labels


def test_a_topic_is_named_by_the_words_that_the_others_lack():
    names = topic_names(*questions(), 3)
    assert [set(name.split(", ")) for name in names] == [set(words.split()) for words in WORDS.values()]


def test_a_word_of_fewer_than_five_users_names_nothing():
    texts, owners, labels = questions()
    texts += ["zyxwvu zyxwvu"] * 40
    names = topic_names(texts, [*owners, *["user-1"] * 40], np.concatenate([labels, np.full(40, 2)]), 3)
    assert not any("zyxwvu" in name for name in names)


def test_replaced_values_and_numbers_name_nothing():
    texts = ["<PERSON_ABCDEFGHIJ234567> [EMAIL] 12345"] * 20
    assert topic_names(texts, [f"u{n}" for n in range(20)], np.zeros(20, np.int64), 1) == ["topic 0"]
