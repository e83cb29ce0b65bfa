"""Topics keep their numbers and have telling names; drift is found where it is and not where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines.index.analysis.drift import drift, topic_changes
from pipelines.index.analysis.projection import project
from pipelines.index.analysis.topics import assign, find_topics, topic_names


def around(centres, n, seed, spread=0.15):
    random = np.random.default_rng(seed)
    labels = random.integers(len(centres), size=n)
    vectors = centres[labels] + spread * random.normal(size=(n, centres.shape[1]))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), labels


@pytest.fixture
def centres():
    vectors = np.random.default_rng(0).normal(size=(5, 32))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_topics_are_the_clusters(centres):
    vectors, labels = around(centres, 600, seed=1)
    topics = find_topics(vectors, 5)
    for topic in range(5):
        assert len(set(labels[topics.labels == topic])) == 1
    assert topics.counts().sum() == 600


def test_topics_keep_their_numbers_when_more_turns_come(centres):
    first = find_topics(around(centres, 600, seed=1)[0], 5)
    later = find_topics(around(centres, 900, seed=2)[0], 5, before=first.centres)
    assert assign(later.centres, first.centres)[0].tolist() == [0, 1, 2, 3, 4]


def test_a_new_topic_gets_a_new_number(centres):
    first = find_topics(around(centres[:4], 600, seed=1)[0], 4)
    later = find_topics(around(centres, 900, seed=2)[0], 5, before=first.centres)
    numbers, _ = assign(later.centres[:4], first.centres)
    assert numbers.tolist() == [0, 1, 2, 3]
    assert (later.centres[4] @ centres[4]) > 0.9


def test_the_same_turns_give_the_same_topics(centres):
    vectors, _ = around(centres, 300, seed=3)
    assert (find_topics(vectors, 7).labels == find_topics(vectors, 7).labels).all()


@pytest.mark.parametrize("n", [0, 1, 3])
def test_few_turns_make_few_topics(n):
    vectors = np.eye(8, dtype=np.float32)[:n]
    topics = find_topics(vectors, 5)
    assert len(topics.centres) == min(n, 5)
    assert sorted(topics.labels.tolist()) == list(range(n))


def test_names_are_the_words_that_set_a_topic_apart():
    texts = ["please reset the router", "the router please", "please bake the bread", "the bread please"]
    names = topic_names(texts, np.array([0, 0, 1, 1]), 2)
    assert names[0].split()[0] == "router"
    assert names[1].split()[0] == "bread"


def test_equal_windows_do_not_drift_and_other_ones_do(centres):
    first, second = around(centres, 400, seed=1)[0], around(centres, 400, seed=2)[0]
    calm = drift(first, second)
    assert calm.p_value > 0.01
    moved = drift(first, around(centres[:3], 400, seed=3)[0])
    assert moved.p_value < 0.01
    assert moved.score > 3 * calm.score


def test_the_p_value_of_equal_windows_is_uniform(centres):
    values = [
        drift(around(centres, 60, seed)[0], around(centres, 50, seed + 1000)[0], permutations=99, seed=seed).p_value
        for seed in range(60)
    ]
    assert 0.3 < np.mean(values) < 0.7
    assert np.mean(np.array(values) <= 0.1) < 0.3


def test_the_topic_that_grew_comes_first():
    changes = topic_changes(np.array([0] * 50 + [1] * 50), np.array([0] * 20 + [1] * 30 + [2] * 50), 3)
    assert [change.topic for change in changes] == [2, 1, 0]
    assert changes[0].share_before == 0
    assert changes[0].share_after == 0.5


def test_a_window_of_one_turn_is_refused():
    with pytest.raises(ValueError, match="two turns or more"):
        drift(np.eye(3, dtype=np.float32)[:1], np.eye(3, dtype=np.float32))


def test_the_map_keeps_the_directions_of_most_variance(centres):
    vectors, labels = around(centres[:2], 200, seed=4, spread=0.05)
    points, kept = project(vectors)
    assert points.shape == (200, 2)
    assert 0 < kept <= 1
    sides = points[:, 0] > 0
    assert (sides == sides[labels == 0][0])[labels == 0].all()
    assert (project(vectors)[0] == points).all()
