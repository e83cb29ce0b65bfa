"""What examples are held against: the items of benchmark files, by words and, where a policy wants it, by meaning."""

import json

import pytest

from jobs.curate_inputs import benchmark_checks
from pipelines.datasets.policy import Contamination, CurationPolicy, NearDuplicates, Topics

ITEM = "How much water does a grown man have to drink on a hot summer day?"
OTHER_WORDS = "On hot summer days, how much water should an adult man drink?"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "riddles.jsonl"
    path.write_text(json.dumps({"id": "q1", "prompt": ITEM}) + "\n")
    return path


def test_without_benchmarks_nothing_is_checked():
    assert benchmark_checks([], {"", "a model"}) == ({}, ())


def test_an_item_in_other_words_is_for_review_when_the_policy_names_a_model(file):
    pytest.importorskip("sentence_transformers")
    policies = (CurationPolicy(), CurationPolicy(contamination=Contamination(model="all-MiniLM-L6-v2")))
    checks, told = benchmark_checks([file], {policy.contamination.model for policy in policies})
    example = [{"role": "user", "text": OTHER_WORDS, "tool_calls": []}]
    found = [checks[policy.contamination.model].check([example]) for policy in policies]
    assert found[0] == []
    assert [(leak.ref.item_id, leak.how, leak.verdict) for leak in found[1]] == [("q1", "meaning", "flag_for_review")]
    assert [(one["name"], one["items"]) for one in told] == [("riddles", 1)]


def test_vectors_are_read_for_repeats_in_other_words_and_for_topics_alone():
    words_only = NearDuplicates(semantic_threshold=None)
    assert CurationPolicy().reads_embeddings
    assert not CurationPolicy(near_duplicates=words_only).reads_embeddings
    assert CurationPolicy(near_duplicates=words_only, topics=Topics(max_share=0.5)).reads_embeddings
