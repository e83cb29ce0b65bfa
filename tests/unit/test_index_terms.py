"""Words become hashes, the same on every machine, also where a script writes no spaces."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.index.terms import hashed_terms, term_weights, words


def test_words_ignore_case_marks_and_form():
    assert words("Reset the ROUTER, don't! Straße ﬁne a_b") == [
        "reset", "the", "router", "don't", "strasse", "fine", "a", "b"
    ]  # fmt: skip


def test_scripts_without_spaces_give_pairs_of_characters():
    assert words("路由器 reset 重") == ["路由", "由器", "reset", "重"]
    assert set(words("ルーターを再起動")) & set(words("再起動する"))


def test_the_hash_of_a_word_is_fixed():
    assert hashed_terms("router Router") == "f12e31ec f12e31ec"


@given(st.text(max_size=80))
def test_no_word_can_be_read_in_the_hashes(text):
    hashed = hashed_terms(text)
    assert set(hashed) <= set("0123456789abcdef ")
    assert len(hashed.split()) == len(words(text))
    assert all(weight > 0 for weight in term_weights(hashed).values())


def test_a_repeated_word_weighs_more_but_less_than_twice():
    (once,), (twice,) = (list(term_weights(hashed_terms(text)).values()) for text in ("a", "a a"))
    assert once < twice < 2 * once
