"""What JSON keys say about names in their values."""

import pytest

from pipelines.privacy.anonymizer import Anonymizer
from pipelines.privacy.json_leaves import json_leaves
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.label_hints import fitting_label, names_a_person, names_a_thing, whole_name
from pipelines.privacy.scan import ADDRESS, PERSON, Span
from pipelines.privacy.tagger.tag import shipped_tagger


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


@pytest.mark.parametrize(
    ("label", "owner"),
    [("first_name", None), ("lastName", "x"), ("patientName", None), ("name", "customer"), ("name", "users"),
     ("Nachname", None), ("apellidos", None), ("full_name", "query")],
)  # fmt: skip
def test_some_keys_hold_names_of_persons(label, owner):
    assert names_a_person(label, owner)


@pytest.mark.parametrize(
    ("label", "owner"),
    [("name", None), ("name", "product"), ("file_name", None), ("username", None), ("function", "x"), ("nom", None)],
)
def test_other_keys_do_not(label, owner):
    assert not names_a_person(label, owner)


@pytest.mark.parametrize("text", ["Tralkemonde Threlkibshaw", " Anna O'Brandel", "J. R. de la Trell", "lena"])
def test_a_value_that_can_be_a_name_is_one_as_a_whole(text):
    assert [text[span.start : span.end] for span in whole_name(text)] == [text.strip()]


@pytest.mark.parametrize("text", ["", "string", "N/A", "user", "order 77120", "a@example.com", "{{name}}", "x" * 200])
def test_a_value_that_cannot_be_a_name_is_none(text):
    assert whole_name(text) == []


def test_the_name_of_a_product_is_told_by_the_object_that_it_stands_in():
    name = Span(0, 4, PERSON, "nina")
    assert fitting_label("name", "Nina", [name], "product") == []
    assert fitting_label("name", "Nina", [name], "customer") == [name]


def test_unknown_names_under_the_key_of_a_person_are_replaced(tmp_path):
    anonymizer = Anonymizer(KeyFolder(tmp_path / "keys").open_or_create(), source=shipped_tagger())
    text = '{"customer": {"name": "Tralkemonde Threlkibshaw"}, "query": {"last_name": "Wotheskbourne"}}'
    clean = anonymizer.text("t", text).text
    assert not any(name in clean for name in ("Tralkemonde", "Threlkibshaw", "Wotheskbourne"))


@pytest.mark.parametrize(
    "text",
    ["Mi contraseña es {} y la rechaza.", "Moje hasło to {} i nie działa.", "A minha senha é {} e não serve.",
     "Mijn wachtwoord is {} en het werkt niet."],
)  # fmt: skip
def test_passwords_are_found_behind_their_word_in_other_languages(tmp_path, text):
    anonymizer = Anonymizer(KeyFolder(tmp_path / "keys").open_or_create())
    assert "rZ7fC6Qpy" not in anonymizer.text("t", text.format("rZ7fC6Qpy!2")).text
