"""Tokens: the same value the same token, inside a tenant, a type and an epoch."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.privacy.pseudonyms import TOKEN, Pseudonyms, length_prefixed

KEY = bytes(range(32))


@given(st.text(), st.sampled_from(["EMAIL", "CREDIT_CARD", "IP_ADDRESS"]))
def test_a_token_has_the_form_that_later_runs_know(value, kind):
    token = Pseudonyms(KEY).token("default", kind, value)
    assert TOKEN.fullmatch(token)
    assert token == Pseudonyms(KEY).token("default", kind, value)


def test_tokens_differ_by_tenant_type_value_and_key():
    tokens = [
        Pseudonyms(KEY).token("one", "EMAIL", "a"),
        Pseudonyms(KEY).token("two", "EMAIL", "a"),
        Pseudonyms(KEY).token("one", "PHONE", "a"),
        Pseudonyms(KEY).token("one", "EMAIL", "b"),
        Pseudonyms(KEY[::-1]).token("one", "EMAIL", "a"),
    ]
    assert len({token[-27:] for token in tokens}) == 5


def test_the_token_of_a_version_does_not_drift():
    assert Pseudonyms(KEY).token("default", "EMAIL", "nina@korvane-labs.com") == "<EMAIL_Q55VQ42QEPEECO2TV24IGVA65Q>"


def test_all_bits_of_the_digest_are_in_the_token():
    tokens = [Pseudonyms(KEY).token("default", "EMAIL", str(i)) for i in range(300)]
    for place in range(7, 32):
        assert len({token[place] for token in tokens}) == 32
    assert len({token[32] for token in tokens}) == 8


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_lists_never_give_the_same_bytes(one, other):
    assert (length_prefixed(*one) == length_prefixed(*other)) == (one == other)


def test_pseudonyms_do_not_pickle():
    with pytest.raises(TypeError):
        pickle.dumps(Pseudonyms(KEY))
