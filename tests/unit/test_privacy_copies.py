"""Copies of found values: however many values and texts, the same places."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.privacy.copies import Copies
from pipelines.privacy.detection import disjoint
from pipelines.privacy.first_letters import FirstLetters
from pipelines.privacy.folding import fold, lower
from pipelines.privacy.linked_persons import linked
from pipelines.privacy.name_copies import NameCopies
from pipelines.privacy.row_copies import RowCopies
from pipelines.privacy.scan import PERSON, SECRET, Span
from pipelines.privacy.tier_merge import beside_patterns

NAMES = ["Lena Olmi", "Tarvo Brandqvist", "ŁUCJA", "Mira", "o'Neill", "Jo Li"]
WORDS = [
    *NAMES,
    "lena",
    "OLMI",
    "L.O.",
    "j. L.",
    "mira_x",
    "Miranda",
    "x",
    "\x00",
    "İ",
    "ς",
    "ß",
    "kestrel88",
    "KESTREL88",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.lists(st.sampled_from(WORDS), max_size=4).map(
    "".join
)


def names_among(names, others=0):
    found = [(name, Span(0, len(name), PERSON, name.lower())) for name in names]
    return NameCopies([*found, *((f"Xq{i}z Wv{i}k", Span(0, 0, PERSON, f"other {i}")) for i in range(others))])


@given(TEXTS)
def test_names_are_found_among_many_as_well_as_among_few(text):
    assert set(names_among(NAMES[:3], others=40).find(text)) == set(names_among(NAMES[:3]).find(text))


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_all_texts_of_a_row_at_once_hold_what_each_holds_alone(texts):
    copies = RowCopies(Copies([("kestrel88", Span(0, 9, SECRET, "kestrel88"))]), names_among(NAMES))
    together = copies.find(texts)
    assert [set(spans) for spans in together] == [set(copies.find([text])[0]) for text in texts]


@given(st.lists(st.text("abAé😀", min_size=3, max_size=5), min_size=1, max_size=30), st.text("abAé😀 ", max_size=60))
def test_no_place_where_a_value_begins_is_passed_over(values, text):
    places = FirstLetters(values, 3).places(text)
    assert places == sorted(places)
    assert {at for at in range(len(text)) if any(text.startswith(value, at) for value in values)} <= set(places)


def test_a_value_shorter_than_the_width_is_refused():
    with pytest.raises(ValueError, match="fewer than 3"):
        FirstLetters(["abc", "ab"], 3)


@given(st.text(st.sampled_from("aZİΣς1－＠·٣．é"), max_size=20))
def test_lower_case_has_as_many_characters(text):
    assert len(lower(text)) == len(text)


@given(st.text(st.sampled_from("ab１２＠．－\u00a0\u2013٣४İ\u200b"), min_size=1, max_size=40))
def test_a_text_folds_as_its_characters_do(text):
    assert fold(text + "１").text == "".join(fold(letter).text for letter in text + "１")


PARTS = st.sampled_from(["anna", "a", "b", "weber", "w", "olmi"])


def is_part(short, full):
    """Tell by trying all ways whether the parts of ``short`` stand in ``full`` in order."""
    if not short:
        return True
    fits = [i for i, part in enumerate(full) if part == short[0] or (len(short[0]) == 1 and part[0] == short[0])]
    return any(is_part(short[1:], full[i + 1 :]) for i in fits)


@given(st.lists(st.lists(PARTS, min_size=1, max_size=3).map(" ".join), max_size=6))
def test_a_name_stands_for_the_one_fullest_name_that_it_is_a_part_of(names):
    def fuller(name):
        return [
            other
            for other in set(names)
            if len(other.replace(" ", "")) > len(name.replace(" ", "")) and is_part(name.split(), other.split())
        ]

    for name, full in linked(names).items():
        top = [one for one in fuller(name) if not set(fuller(one)) & set(fuller(name))]
        assert full == (top[0] if len(top) == 1 else name)


SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 8), st.sampled_from([PERSON, SECRET])).map(
        lambda one: Span(one[0], one[0] + one[1], one[2], str(one[:2]))
    ),
    max_size=8,
)


@given(SPANS, st.randoms(use_true_random=False))
def test_disjoint_spans_cover_the_same_places_in_any_order(spans, random):
    result = disjoint(spans)
    mixed = random.sample(spans, len(spans))
    assert disjoint(mixed) == result
    assert all(one.end <= other.start for one, other in pairwise(result))
    covered = {place for span in spans for place in range(span.start, span.end)}
    assert {place for span in result for place in range(span.start, span.end)} == covered


@given(SPANS, SPANS)
def test_what_is_left_of_a_name_beside_patterns_touches_none_of_them(names, patterns):
    tagged, patterned = disjoint(names), disjoint(patterns)
    kept = beside_patterns("a" * 40, tagged, patterned)
    assert not any(one.start < other.end and other.start < one.end for one in kept for other in patterned)
    free = [one for one in tagged if not any(one.start < o.end and o.start < one.end for o in patterned)]
    assert [one for one in kept if one in free] == free
