"""Surrogates: keyed, of the same form, never the value itself, out of ranges that reach nobody."""

import datetime as dt
import ipaddress
import itertools
import re
from collections import Counter
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stdnum import iban, luhn

from pipelines.privacy.contact_detectors import emails
from pipelines.privacy.network_detectors import ip_addresses
from pipelines.privacy.policy import Policy
from pipelines.privacy.pseudonyms import Pseudonyms
from pipelines.privacy.scan import Scan
from pipelines.privacy.surrogates.by_type import BY_TYPE, surrogate
from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.handles import handle_of
from pipelines.privacy.surrogates.name_parts import initial_surrogate, read_part
from pipelines.privacy.surrogates.name_pools import (
    FEMALE,
    LANGUAGES,
    MALE,
    SCRIPTS,
    SURNAME,
    bare,
    known_names,
    names,
)
from pipelines.privacy.surrogates.persons import canonical_person, person
from pipelines.synthetic.personal_values import PersonalValues

DRAWS = Draws(Pseudonyms(bytes(range(32))), "default", subject="u1")
OTHER_KEY = Draws(Pseudonyms(bytes(range(1, 33))), "default", subject="u1")


def renamed(text, draws=DRAWS):
    return person(text, canonical_person(text), draws)


def drawn(kind, text, canonical=None, draws=DRAWS):
    return surrogate(kind, text, text.lower() if canonical is None else canonical, draws)


def role_of(name):
    return known_names()[bare(name)].role


# Persons


@given(st.sampled_from([kind for kind in BY_TYPE]), st.text(max_size=40))
def test_no_text_raises_and_none_is_its_own_surrogate(kind, text):
    found = drawn(kind, text)
    assert found == drawn(kind, text)
    # A text without a letter or digit has nothing to hide.
    if any(character.isalnum() for character in text):
        assert found is None or found.lower() != text.lower()


NAME = st.sampled_from(
    [name for language in LANGUAGES for role in (MALE, FEMALE, SURNAME) for name in names(language, role)]
)


@given(NAME, NAME)
def test_a_part_has_the_same_surrogate_in_every_name(first, last):
    whole = renamed(f"{first} {last}")
    assert whole == f"{renamed(first)} {renamed(last)}"
    assert renamed(f"Dr. {last}") == f"Dr. {renamed(last)}"
    assert renamed(f"{last}, {first}") == f"{renamed(last)}, {renamed(first)}"
    assert renamed(f"{last}'s") == f"{renamed(last)}'s"


@given(NAME)
def test_case_gender_and_role_are_kept(name):
    other = renamed(name)
    assert renamed(name.upper()) == other.upper()
    assert renamed(name.lower()) == other.lower()
    kind = known_names()[bare(name)]
    if bare(name) == read_part(name).base:
        assert any(bare(other) in map(bare, names(language, kind.role)) for language in LANGUAGES)


@given(NAME)
def test_initials_stand_for_the_surrogate(name):
    part = read_part(name)
    other = renamed(name)
    if not part.ending:
        assert bare(other)[0] == initial_surrogate(part.base[0], DRAWS)
        assert renamed(f"{part.base[0].upper()}.") == f"{bare(other)[0].upper()}."


@given(NAME)
def test_no_name_is_its_own_surrogate(name):
    assert bare(renamed(name)) != bare(name)


def test_another_key_tenant_and_scope_give_another_name():
    others = [DRAWS, OTHER_KEY, Draws(DRAWS.pseudonyms, "two"), Draws(DRAWS.pseudonyms, "default", ("user", "u2"))]
    assert len({renamed("Anna Weber", draws) for draws in others}) > 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Johnny Marwick", "Jonathan Marwick"),
        ("Bob Weber", "Robert Weber"),
        ("Théodore", "Theodore"),
        ("Kasia Nowak", "Katarzyna Nowak"),
        ("Paco Pérez", "Francisco Perez"),
    ],
)
def test_nicknames_and_accents_share_the_full_names_surrogate(one, other):
    assert renamed(one) == renamed(other)
    assert canonical_person(one) == canonical_person(other)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Dr. Anna Weber", r"Dr\. \S+ \S+"),
        ("Samuel T. Okonjo", r"\S+ [A-Z]\. \S+"),
        ("Robin Dellane jr.", r"\S+ \S+ jr\."),
        ("Ludwig van Beethoven", r"\S+ van \S+"),
        ("María de la Cruz", r"\S+ de la \S+"),
        ("LACHAUME, Théodore", r"[^\Wa-z]+, [^\W\d_a-z]\w+"),
        ("maria-delvento", r"[a-z]+-[a-z]+"),
        ("A.W.", r"[A-Z]\.[A-Z]\."),
        ("Anna Weber’s", r"\S+ \w+’s"),
        ("Herr Müller-Lüdenscheidt", r"Herr \w+-[\w']+"),
        ("王小明", r"[\u4e00-\u9fff]{2,3}"),
        ("王小明先生", r"[\u4e00-\u9fff]{2,3}先生"),
        ("김민준 씨", r"[\uac00-\ud7a3]{3} 씨"),
        ("Иван Петров", r"[А-Я][а-яё]+ [А-Я][а-яё]+"),
        ("محمد النجار", r"[\u0600-\u06ff]+ [\u0600-\u06ff]+"),
    ],
)
def test_form_and_script_of_a_name_are_kept(text, form):
    other = renamed(text)
    assert re.fullmatch(form, other)
    assert other != text


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("Kowalska", "Kowalski"),
        ("Kowalskiego", "Kowalski"),
        ("Kowalskiej", "Kowalski"),
        ("Петрова", "Петров"),
        ("Annę", "Anna"),
        ("Webers", "Weber"),
    ],
)
def test_an_ending_goes_over_to_the_surrogate(text, base):
    other, base_other = renamed(text), renamed(base)
    assert read_part(text).base == read_part(base).base
    assert other != base_other
    assert other.endswith(read_part(text).ending)


def test_a_script_without_names_gets_a_token():
    assert renamed("ยิ่งลักษณ์") is None
    assert renamed("Dr.") is None


def test_people_who_differ_share_a_surrogate_less_than_once_in_twenty_thousand_pairs():
    random = Random(1)
    people = set()
    while len(people) < 3000:
        language, role = random.choice(LANGUAGES), random.choice((MALE, FEMALE))
        people.add(f"{random.choice(names(language, role))} {random.choice(names(language, SURNAME))}")
    shared = sum(count * (count - 1) // 2 for count in Counter(map(renamed, people)).values())
    assert shared * 20_000 < len(people) * (len(people) - 1) // 2


def test_every_list_has_names_of_its_own_script():
    for language in LANGUAGES:
        assert len(names(language, MALE)) > 70
        assert len(names(language, FEMALE)) > 70
        assert len(names(language, SURNAME)) > 130
    for script, role in itertools.product(SCRIPTS, (MALE, FEMALE, SURNAME)):
        assert len(names(script, role)) >= 15
    assert all(re.fullmatch(r"[^\W\d_]+(?:'[^\W\d_]+)?", name) for name in NAME_LISTS)


NAME_LISTS = [name for language in LANGUAGES for role in (MALE, FEMALE, SURNAME) for name in names(language, role)]


# Handles and addresses on the net


@pytest.mark.parametrize(
    "handle", ["@jmarwick", "jonathan.marwick", "JMarwick", "marwick_j", "jonathanm77", "@marwickj"]
)
def test_a_handle_made_of_a_persons_name_becomes_one_of_the_surrogates_name(handle):
    name, other = handle_of(handle, ("jonathan marwick", "maria"), DRAWS)
    assert name == "jonathan marwick"
    first, last = bare(renamed("Jonathan")), bare(renamed("Marwick"))
    letters = re.sub(r"[^a-z]", "", other.lower())
    assert letters in {first[0] + last, first + last, last + first[0], first + last[0]}
    assert other.startswith("@") == handle.startswith("@")
    assert sum(c.isdigit() for c in other) == sum(c.isdigit() for c in handle)


def test_a_handle_that_could_be_several_persons_is_linked_to_none():
    assert handle_of("@jmarwick", ("jonathan marwick", "jane marwick"), DRAWS) is None
    assert handle_of("@nobody", ("jonathan marwick",), DRAWS) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("nina.o+lists@mail.eu.korvane-labs.com", r"[a-z]+\.[a-z]\+[a-z]+@[a-z]+\.example"),
        ("anna.weber83@gmail.com", r"[a-z]+\.[a-z]+\d\d@example\.(com|net|org)"),
        ("INFO@KORVANE.ORG", r"INFO@[A-Z]+\.EXAMPLE"),
        ("nina%40korvane.com", r"[a-z]+%40[a-z]+\.example"),
    ],
)
def test_an_e_mail_address_keeps_its_form_at_a_reserved_domain(text, form):
    assert re.fullmatch(form, drawn("EMAIL", text, text.lower().replace("%40", "@")))


def test_an_address_made_of_a_name_is_the_surrogates_address():
    assert drawn("EMAIL", "anna.weber@korvane.com").startswith(f"{bare(renamed('Anna'))}.{bare(renamed('Weber'))}@")


def test_addresses_of_one_company_share_a_domain():
    one, other = (drawn("EMAIL", f"{name}@korvane.com") for name in ("anna", "tomas"))
    assert one.split("@")[1] == other.split("@")[1]


LOCAL = st.from_regex(r"[a-z]{2,9}(?:[._-][a-z]{2,9})?(?:\+[a-z]{2,6})?[0-9]{0,3}", fullmatch=True)


@given(LOCAL, st.sampled_from(["korvane-labs.com", "gmail.com", "mail.korvane.co.uk"]))
def test_a_second_run_leaves_e_mail_surrogates_alone(local, domain):
    other = drawn("EMAIL", f"{local}@{domain}")
    assert not list(emails(Scan(f"to {other} z", Policy())))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**125 - 1))
def test_ip_surrogates_lie_in_documentation_blocks(four, six):
    v4 = str(ipaddress.IPv4Address(four))
    v6 = str(ipaddress.IPv6Address(six | 1 << 125))
    for address in (v4, v6):
        other = drawn("IP_ADDRESS", address)
        assume(other is not None)
        assert not list(ip_addresses(Scan(f"from {other} ok", Policy())))
        assert ipaddress.ip_address(other).version == ipaddress.ip_address(address).version


@pytest.mark.parametrize("text", ["00:1B:44:11:3A:B7", "00-1b-44-11-3a-b7"])
def test_a_hardware_address_is_a_locally_administered_one_in_its_form(text):
    other = drawn("MAC_ADDRESS", text, "001b44113ab7")
    assert re.sub("[0-9A-Fa-f]", "0", other) == re.sub("[0-9A-Fa-f]", "0", text)
    assert int(other[:2], 16) & 3 == 2
    assert other.isupper() == text.isupper()


@pytest.mark.parametrize(
    ("text", "canonical", "form"),
    [
        ("202-555-0117", "+12025550117", r"\d{3}-555-01\d\d"),
        ("+1 (202) 555-0117", "+12025550117", r"\+1 \(\d{3}\) 555-01\d\d"),
        ("2025550117", "+12025550117", r"\d{3}55501\d\d"),
        ("202-555-0117 ext. 12", "+12025550117;12", r"\d{3}-555-01\d\d ext\. \d\d"),
        ("+44 20 7946 0123", "+442079460123", r"\+44 \d\d \d{4} \d{4}"),
        ("030 23125 123", "+493023125123", r"0\d\d \d{5} \d{3}"),
        ("06 12 34 56 78", "+33612345678", r"06 39 98 \d\d \d\d"),
        ("010-3456712", "+31103456712", None),
        ("600 123 456", "+34600123456", None),
        ("12345", "12345", None),
    ],
)
def test_a_phone_number_keeps_its_grouping_in_a_block_for_fiction(text, canonical, form):
    other = drawn("PHONE", text, canonical)
    assert other is None if form is None else re.fullmatch(form, other)


def test_no_phone_surrogate_is_a_number_that_generated_logs_plant():
    values = PersonalValues(Random(7))
    planted = [values.phone() for _ in range(3000)]
    written = {re.sub(r"\D", "", number) for number in planted}
    others = {re.sub(r"\D", "", drawn("PHONE", number, re.sub(r"[ -]", "", number))) for number in planted}
    assert len(others) > 1000
    assert not others & written


def test_one_number_has_one_surrogate_however_it_is_written():
    forms = ["202-555-0117", "(202) 555-0117", "+1 202 555 0117"]
    digits = {re.sub(r"\D", "", drawn("PHONE", text, "+12025550117"))[-10:] for text in forms}
    assert len(digits) == 1


# Money


@given(st.sampled_from(["400000", "555555", "378282", "601111", "353011", "220020"]), st.integers(0, 10**8))
def test_a_card_keeps_network_length_grouping_and_check_digit(prefix, tail):
    body = f"{prefix}{tail:08}"
    number = body + luhn.calc_check_digit(body)
    text = " ".join(number[i : i + 4] for i in range(0, len(number), 4))
    other = drawn("CREDIT_CARD", text, number)
    assert re.sub(r"\d", "0", other) == re.sub(r"\d", "0", text)
    assert luhn.is_valid(other.replace(" ", ""))


@pytest.mark.parametrize("text", ["DE89 3704 0044 0532 0130 00", "gb29nwbk60161331926819", "NL91ABNA0417164300"])
def test_an_iban_is_valid_at_a_bank_that_never_was(text):
    other = drawn("IBAN", text, text.replace(" ", "").upper())
    assert iban.is_valid(other, check_country=False)
    assert "9999" in other or "zzzz" in other.lower()
    assert re.sub(r"\w", "0", other) == re.sub(r"\w", "0", text)


def test_an_iban_of_a_country_without_such_a_bank_gets_a_token():
    assert drawn("IBAN", "FR1420041010050500013M02606", "FR1420041010050500013M02606") is None


# Dates

DATES = st.dates(dt.date(1900, 1, 1), dt.date(2099, 12, 31))


@given(DATES, DATES, st.sampled_from(["u1", "u2", "", "u3"]))
def test_intervals_and_weekdays_hold_for_a_subject(one, other, subject):
    draws = Draws(DRAWS.pseudonyms, "default", subject=subject)
    moved = [dt.date.fromisoformat(drawn("DATE", date.isoformat(), draws=draws)) for date in (one, other)]
    assert moved[1] - moved[0] == other - one
    assert moved[0].weekday() == one.weekday()
    assert moved[0] != one
    assert abs(moved[0] - one) <= dt.timedelta(weeks=52)


@given(DATES)
def test_a_date_moves_alike_in_all_its_forms(date):
    moved = dt.date.fromisoformat(drawn("DATE", date.isoformat()))
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y"):
        assert drawn("DATE", date.strftime(form)).lower() == moved.strftime(form).lower()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("14. März 1987", r"\d\d\. \w+ 198\d"),
        ("14 de marzo de 1987", r"\d\d de [a-z]+ de 198\d"),
        ("March 3rd, 1987", r"[A-Z][a-z]+ \d+(st|nd|rd|th), 198\d"),
        ("3/4/87", r"\d+/\d+/8\d"),
        ("14 MARCH 1987", r"\d\d [A-Z]+ 198\d"),
        ("1987年3月14日", r"198\d年\d+月\d+日"),
        ("14 marca 1987", r"\d\d \w+ 198\d"),
    ],
)
def test_language_order_and_precision_of_a_date_are_kept(text, form):
    other = drawn("DATE_OF_BIRTH", text)
    assert re.fullmatch(form, other)
    assert other != text


@pytest.mark.parametrize("text", ["31.02.1987", "1987-13-40", "1987", "March", "yesterday", "99/99/9999"])
def test_what_is_no_day_of_the_calendar_gets_a_token(text):
    assert drawn("DATE", text) is None


def test_the_order_of_a_numeric_date_is_policy():
    day_first = Draws(DRAWS.pseudonyms, "default", subject="u1", month_first=False)
    moved = dt.date.fromisoformat(drawn("DATE", "1987-04-03"))
    assert drawn("DATE", "03/04/1987", draws=day_first) == moved.strftime("%d/%m/%Y")


# Places and URLs


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (
            "1600 Willow Creek Road, Apt 4B, Springfield, IL 62704",
            r"\d{4} \w+ \w+ Road, Apt \d\w, \w+, IL \d{5}",
        ),
        ("Lindenstraße 12, 10115 Berlin", r"\w+straße \d\d, \d{5} \w+"),
        ("12 rue de la Paix, 75002 Paris", r"\d\d rue de la \w+, \d{5} \w+"),
        ("Calle de Alcalá 45, 28014 Madrid", r"Calle de \w+ \d\d, \d{5} \w+"),
        ("10 Downing St, London SW1A 2AA", r"\d\d \w+ St, \w+ [A-Z]{2}\d[A-Z] \d[A-Z]{2}"),
        ("ul. Polna 12/4, 00-590 Warszawa", r"ul\. \w+ \d\d/\d, \d\d-\d{3} \w+"),
        ("Kerkstraat 5, 1017 GC Amsterdam", r"\w+straat \d, \d{4} \w+ \w+"),
        ("VIA ROMA 7, 00184 ROMA", r"VIA \w+ \d, \d{5} [^\Wa-z]+"),
        ("Rua das Flores 33, 1200-195 Lisboa", r"Rua das \w+ \d\d, \d{4}-\d{3} \w+"),
    ],
)
def test_an_address_keeps_the_form_of_its_country(text, form):
    other = drawn("ADDRESS", text)
    assert re.fullmatch(form, other)
    own = set(re.findall(r"[^\W\d_]{4,}", text.lower())) - {"road", "calle", "berlin"}
    assert not own & set(re.findall(r"[^\W\d_]{4,}", other.lower()))


def test_a_url_that_leads_to_a_person_leads_to_nobody():
    other = drawn("URL", "https://www.korvane.com/users/anna-weber?name=Anna")
    first, last = bare(renamed("anna")), bare(renamed("weber"))
    assert re.fullmatch(rf"https://[a-z]+\.example/users/{first}-{last}\?name={first.title()}", other)
