"""Strings of JSON, and where they stand in its source."""

import json

from hypothesis import given
from hypothesis import strategies as st

from pipelines.privacy.json_leaves import json_leaves, leaf_starts

TEXTS = st.text(st.sampled_from('ab1{}[]:,"\\\n\u007fé😀 '), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3) | inner.map(json.dumps),
    max_leaves=12,
)


def objects(value):
    """Return the strings, keys and long numbers of a parsed JSON value, in order; JSON in strings is opened twice."""
    return list(_leaves(value, 0))


def _leaves(value, depth):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(key, depth)
            yield from _leaves(inner, depth)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, depth)
    elif isinstance(value, str):
        yield from _opened(value, depth)
    elif isinstance(value, int) and not isinstance(value, bool) and len(str(value)) >= 7:
        yield str(value)


def _opened(text, depth):
    bare = text.strip()
    if depth < 2 and len(bare) > 1 and bare[0] + bare[-1] in ("{}", "[]", '""'):
        try:
            yield from _leaves(json.loads(text), depth + 1)
            return
        except ValueError:
            pass
    yield text


@given(st.dictionaries(TEXTS, VALUES, max_size=4) | st.lists(VALUES, max_size=4), st.booleans())
def test_the_leaves_are_the_strings_keys_and_long_numbers_in_order(value, ascii_only):
    source = json.dumps(value, ensure_ascii=ascii_only)
    assert [leaf.text for leaf in json_leaves(source)] == objects(value)


@given(
    st.dictionaries(TEXTS, VALUES, max_size=4) | st.lists(VALUES, max_size=4), st.booleans(), st.sampled_from([None, 1])
)
def test_every_leaf_has_a_place_in_the_source_for_each_of_its_characters_and_its_end(value, ascii_only, indent):
    source = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    leaves, starts = json_leaves(source), leaf_starts(source)
    assert len(starts) == len(leaves)
    for leaf, places in zip(leaves, starts, strict=True):
        assert len(places) == len(leaf.text) + 1
        assert list(places) == sorted(set(places))
        written = source[places[0] : places[-1]]
        assert written == leaf.text or "\\" in written


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3))
def test_what_is_written_in_the_place_of_a_string_is_read_back(value):
    source = json.dumps(value)
    leaves, starts = json_leaves(source), leaf_starts(source)
    for place, (leaf, at) in enumerate(zip(leaves, starts, strict=True)):
        if not leaf.quote:
            edited = source[: at[0]] + leaf.escaped('new "x"') + source[at[-1] :]
            assert json_leaves(edited)[place].text == 'new "x"'


def test_a_value_has_the_key_before_it_as_label_and_a_key_an_empty_one():
    source = '{"a": [{"b": "x"}, "y"], "c" : {"d": 1234567}, "e": "{\\"f\\": \\"z\\"}"}'
    labels = [(leaf.text, leaf.label) for leaf in json_leaves(source)]
    assert labels == [
        ("a", ""), ("b", ""), ("x", "b"), ("y", "a"), ("c", ""), ("d", ""), ("1234567", "d"), ("e", ""), ("f", ""),
        ("z", "f"),
    ]  # fmt: skip


def test_a_repeated_key_has_all_its_values():
    assert [leaf.text for leaf in json_leaves('{"a": "x", "a": "y"}')] == ["a", "x", "a", "y"]
