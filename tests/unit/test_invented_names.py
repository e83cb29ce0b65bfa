from itertools import pairwise, product
from random import Random

import pytest

from pipelines.privacy.needles import SHORTEST
from pipelines.privacy.surrogates.address_words import STREETS, TOWNS
from pipelines.privacy.surrogates.name_pools import bare, known_names
from pipelines.synthetic.invented_names import SYLLABLES, InventedNames
from pipelines.synthetic.languages import LANGUAGES
from pipelines.synthetic.person_talk import PersonTalk


@pytest.fixture(scope="module")
def every_name():
    """All names that can be drawn, in lower case."""
    names = set()
    for one in SYLLABLES.values():
        names |= {"".join(parts).lower() for parts in product(one.beginnings, one.rimes, one.given)}
        for ends in (one.family, one.street, one.town):
            names |= {"".join(parts).lower() for parts in product(one.beginnings, one.rimes, one.middles, ends)}
    return names


def test_no_invented_name_is_one_that_a_surrogate_may_be(every_name):
    drawn_from = set(known_names())
    for words in (STREETS, TOWNS):
        drawn_from |= {bare(word) for names in words.values() for word in names}
    assert not drawn_from & {bare(name) for name in every_name}


def test_every_invented_name_is_long_enough_to_be_searched_for(every_name):
    assert min(len(name.encode()) for name in every_name) >= SHORTEST


def test_no_invented_name_begins_another(every_name):
    ordered = sorted(every_name)
    assert not [one for one, other in pairwise(ordered) if other.startswith(one)]


def test_no_family_name_street_or_town_is_drawn_twice():
    names = InventedNames(Random(1))
    drawn = []
    for _ in range(300):
        for language in SYLLABLES:
            drawn += [names.person(language).family, names.street(language), names.town(language)]
    assert len(set(drawn)) == len(drawn)


def test_a_language_without_a_name_left_is_a_lookup_error():
    names = InventedNames(Random(1))
    with pytest.raises(LookupError):
        for _ in range(20_000):
            names.town("nl")


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.code)
def test_what_is_told_of_stands_in_the_sentence_or_the_fields_as_planted(language):
    talk = PersonTalk(Random(2))
    for _ in range(100):
        told = talk.told(language)
        assert told.values
        assert all(value in told.sentence for _, value in told.values)
        record = talk.record(language)
        fields = "\n".join(record.fields.values())
        assert all(value in fields for _, value in record.values)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.code)
def test_every_language_has_names_in_all_forms_that_people_write(language):
    gaps = " ".join(language.persons)
    assert all(gap in gaps for gap in ("{name}", "{low}", "{caps}", "{given}", "{family}"))
    assert any("\n" in shape for shape in language.address_shapes)
