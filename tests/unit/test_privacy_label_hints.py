"""What JSON keys say about names in their values."""

import pytest

from pipelines.privacy.json_leaves import json_leaves
from pipelines.privacy.label_hints import fitting_label, names_a_thing
from pipelines.privacy.scan import ADDRESS, PERSON, Span


@pytest.mark.parametrize("label", ["restaurant_name", "movieTitle", "city", "hotel-name", "app"])
def test_keys_of_things_are_told(label):
    assert names_a_thing(label)


@pytest.mark.parametrize("label", ["name", "user_name", "customer", "director", "contact_name", "owner"])
def test_keys_of_persons_are_not(label):
    assert not names_a_thing(label)


def test_a_name_under_the_key_of_a_thing_stays_and_an_address_does_not():
    name, address = Span(0, 4, PERSON, "nina"), Span(5, 9, ADDRESS, "a")
    assert fitting_label("restaurant_name", "Nina 12 B", [name, address]) == [address]
    assert fitting_label("waiter", "Nina 12 B", [name, address]) == [name, address]


def test_a_key_is_a_name_only_as_a_whole_of_two_words():
    assert [leaf.label for leaf in json_leaves('{"Nina Olmi":"x"}')] == ["", "Nina Olmi"]
    assert fitting_label("", "Nina Olmi", [Span(0, 9, PERSON, "nina olmi")])
    assert not fitting_label("", "price", [Span(0, 5, PERSON, "price")])
    assert not fitting_label("", "Nina notes", [Span(0, 4, PERSON, "nina")])
