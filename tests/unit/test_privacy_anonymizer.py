"""The edit: values out, tokens in, structure kept, nothing left."""

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn

from pipelines.privacy.anonymizer import Anonymizer, LeftValueError, prove_nothing_left
from pipelines.privacy.copies import Copies
from pipelines.privacy.folding import fold
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.policy import ANALYTICS, Policy
from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.row_copies import RowCopies
from pipelines.privacy.scan import Span

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "privacy.jsonl"


@pytest.fixture(scope="module")
def anonymizer(tmp_path_factory) -> Anonymizer:
    return Anonymizer(KeyFolder(tmp_path_factory.mktemp("lake") / "keys").open_or_create(), ANALYTICS)


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def test_a_text_without_personal_values_comes_back_as_the_same_object(anonymizer):
    for text in ("", "hello", "Ça va? 你好。", '{"a": [1, 2, {"b": null}]}', "see PEP 8: v1.2.3"):
        assert anonymizer.text("default", text) == (text, [], ())
        assert anonymizer.text("default", text).text is text
        assert anonymizer.json_text("default", text).text is text


def test_offsets_count_code_points_of_the_new_text(anonymizer):
    clean = anonymizer.text("default", "📦📦 to petra.olmi@korvane-labs.com 🎉 or 202-555-0117")
    assert [kind for *_, kind in clean.redactions] == ["EMAIL", "PHONE"]
    for start, end, kind in clean.redactions:
        assert TOKEN.fullmatch(clean.text[start:end])
        assert clean.text[start:end].startswith(f"<{kind}_")
    assert clean.text.startswith("📦📦 to <EMAIL_")
    assert "> 🎉 or <PHONE_" in clean.text


def test_one_value_has_one_token_in_all_its_dresses(anonymizer):
    text = "petra@korvane-labs.com PETRA@Korvane-Labs.com ｐｅｔｒａ@korvane-labs.com "
    text += "+1 202 555 0117, (202) 555-0117, 1-202-555-0117"
    email, *emails = tokens(anonymizer.text("default", text).text)[:3]
    assert {email} == set(emails)
    assert len(set(tokens(anonymizer.text("default", text).text)[3:])) == 1


def test_tenants_and_epochs_share_no_token(anonymizer, tmp_path):
    keys = KeyFolder(tmp_path / "keys").open_or_create()
    keys.prepare_epoch()
    text = "a@korvane-labs.com"
    found = {
        Anonymizer(keys, ANALYTICS, epoch=1).text("one", text).text,
        Anonymizer(keys, ANALYTICS, epoch=1).text("two", text).text,
        Anonymizer(keys, ANALYTICS, epoch=2).text("one", text).text,
    }
    assert len(found) == 3


def test_a_pickled_anonymizer_reads_its_keys_anew_and_writes_the_same_tokens(anonymizer):
    pickled = pickle.dumps(anonymizer)
    assert anonymizer.keys.surrogate(1) not in pickled
    text = "a@korvane-labs.com"
    assert pickle.loads(pickled).text("default", text) == anonymizer.text("default", text)


def test_known_ids_are_replaced_as_whole_words_in_any_case(anonymizer):
    clean = anonymizer.text("default", "Nkorv77, nkorv77 and NKORV77_x but nkorv778 not", ["nkorv77"])
    assert clean.text.count("<USERNAME_") == 3
    assert "nkorv778" in clean.text
    assert len(set(tokens(clean.text))) == 1


@pytest.mark.parametrize("known", ["", "abc", "user", "anonymous", "EMAIL", "  "])
def test_known_ids_that_are_short_or_nobody_change_nothing(anonymizer, known):
    text = f"the user abc is anonymous <EMAIL_{'A' * 26}>"
    assert anonymizer.text("default", text, [known]).text is text


def test_a_secret_told_once_goes_everywhere(anonymizer):
    clean = anonymizer.text("default", "password: kestrel88\nLater: KESTREL88 and xkestrel88x and kestrel88.")
    assert "kestrel88" not in clean.text.lower()
    assert len(clean.redactions) == 4


def test_a_value_of_one_field_is_replaced_in_the_others(anonymizer):
    fields = {"/text": "ssn 529416372", "/reasoning": "they said 529416372", "/tool": '{"n":"529416372","m":1}'}
    clean = anonymizer.fields("default", fields)
    assert not any("529416372" in found.text for found in clean.values())
    assert json.loads(clean["/tool"].text)["m"] == 1


JSON_TEXTS = [
    '{"password":"qz@ss\\\\","errno":-2}',
    '{ "to" : "a@korvane-labs.com" , "n" : 1.50e3, "big": 123456789012345678901234567890 }',
    '{"m":"literal \\u0022nadia@korvane-labs.com\\u0022 used","x":"\\ud83d\\ude00 202-555-0117"}',
    '{"card": 4024007199381244, "ts": 1748503541008, "l": [4024007199381244]}',
    json.dumps({"outer": json.dumps({"card": 4024007199381244, "deep": json.dumps({"mail": "a@korvane-labs.com"})})}),
    '["a@korvane-labs.com",["b@korvane-labs.com",{"c@korvane-labs.com":"d"}]]',
    '{"mail":"a\\u0040korvane-labs.com","pw":"kestrel"}',
    '{"phone":"2025550117","ssn":"529416372","id":"2025550118","password":"kestrel","password":"other88"}',
    '"{\\"mail\\": \\"a@korvane-labs.com\\"}"',
    '{"command":"curl -H \\"Authorization: Bearer ghp_r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1AuQoC\\" \\"http://svc/run\\""}',
]


@pytest.mark.parametrize("text", JSON_TEXTS)
def test_json_still_parses_and_only_values_change(anonymizer, text):
    clean = anonymizer.json_text("default", text)
    assert clean.redactions
    json.loads(clean.text)
    assert anonymizer.json_text("default", clean.text).text is clean.text
    for secret in ("korvane-labs", "4024007199381244", "2025550117", "529416372", "kestrel", "qz@ss", "202-555-0117"):
        if secret != "kestrel" or "password" in text:
            assert secret not in json.dumps(json.loads(clean.text), ensure_ascii=False)
    kept, at = [], 0
    for start, end, _ in clean.redactions:
        kept += clean.text[at:start].split('"')
        at = end
    assert all(piece in text for piece in kept)


def test_escapes_and_white_space_outside_of_values_are_kept(anonymizer):
    clean = anonymizer.json_text("default", '{ "m" : "\\u0022nadia@korvane-labs.com\\u0022 \\/ x" }')
    assert clean.text.startswith('{ "m" : "\\u0022<EMAIL_')
    assert clean.text.endswith('>\\u0022 \\/ x" }')


def test_a_number_in_a_nested_string_becomes_a_string_there(anonymizer):
    text = json.dumps({"a": json.dumps({"b": json.dumps({"card": 4024007199381244})})})
    clean = json.loads(anonymizer.json_text("default", text).text)
    assert TOKEN.fullmatch(json.loads(json.loads(clean["a"])["b"])["card"])


def test_bare_numbers_in_json_are_ids_unless_their_key_says_more(anonymizer):
    text = '{"id": 2025550118, "user": 529416372, "at": 1748503541}'
    assert anonymizer.json_text("default", text).redactions == []
    clean = json.loads(anonymizer.json_text("default", '{"id": 2025550118, "phone": 2025550117}').text)
    assert clean["id"] == 2025550118
    assert clean["phone"].startswith("<PHONE_")


def test_text_that_is_nearly_json_is_taken_as_text(anonymizer):
    clean = anonymizer.json_text("default", '{"to": "a@korvane-labs.com", }')
    assert clean.text.startswith('{"to": "<EMAIL_')


def test_the_proof_names_types_and_no_value():
    copies = Copies([("kestrel88", Span(0, 9, "SECRET", "kestrel88"))])
    prove_nothing_left(RowCopies(copies), ["all is well"])
    for text in ("a kestrel88 b", "KESTREL88", "ｋｅｓｔｒｅｌ８８", "kes\u200dtrel88", '{"a":"k\\u0065strel88"}'):
        with pytest.raises(LeftValueError, match="^detected values were left after the edit: SECRET 1$"):
            prove_nothing_left(RowCopies(copies), [text])


def test_many_values_are_found_as_well_as_few():
    values = [f"kestrel{i:04}" for i in range(50)] + [f"ab{i:02}" for i in range(50)]
    many = Copies((value, Span(0, 0, "SECRET", value)) for value in values)
    text = "x ".join(values) + " KESTREL0003 ab07"
    few = {span for value in values for span in Copies([(value, Span(0, 0, "SECRET", value))]).find(text)}
    assert set(many.find(text)) == few
    assert len(few) > 50


@pytest.mark.skipif(not CASES.exists(), reason="no shared cases here")
def test_no_expected_value_of_the_shared_cases_is_left_and_a_second_run_changes_nothing(anonymizer):
    for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines()):
        clean = anonymizer.text("default", case["text"])
        for entity in case["expected"]:
            if entity["type"] not in ("PERSON", "USERNAME"):
                assert entity["value"] not in clean.text
        assert all(kept in clean.text for kept in case["must_keep"])
        assert anonymizer.text("default", clean.text).text is clean.text
        if case.get("json_valid"):
            json.loads(clean.text)
        if case["id"] == "hash-random-salt":
            assert len(set(tokens(clean.text))) == 1


def _digits(count: int) -> st.SearchStrategy[str]:
    return st.text("0123456789", min_size=count, max_size=count)


EMAILS = st.from_regex(r"[a-z]{3,10}(?:[._+][a-z]{2,8})?@[a-z]{5,12}-korvane\.(?:com|org|de|co\.uk)", fullmatch=True)
CARDS = _digits(9).map(lambda tail: (lambda body: body + luhn.calc_check_digit(body))("400000" + tail))
SPACED_CARDS = CARDS.map(lambda number: " ".join(number[i : i + 4] for i in range(0, 16, 4)))
IBANS = _digits(18).map(lambda tail: f"DE{iban.calc_check_digits('DE00' + tail)}{tail}")
PHONES = (
    st.tuples(st.integers(201, 989), st.integers(100, 199))
    .map(lambda p: f"+1 {p[0]} 555 0{p[1]}")
    .filter(lambda number: number[4:6] != "11")
)
KEYS = st.text("abcdefghjkmnpqrstvwxyzABCDEFGHJKMNPQRSTVWXYZ23456789", min_size=36, max_size=36).map("ghp_{}".format)
CARRIER = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="@"), max_size=60).map(
    lambda text: f"{text} "
)


VALUE = st.one_of(EMAILS, CARDS, SPACED_CARDS, IBANS, PHONES, KEYS)


@given(st.lists(st.tuples(CARRIER, VALUE, st.sampled_from(["\n", " ", ", ", ". "])), min_size=1, max_size=4), CARRIER)
def test_nothing_planted_is_left_in_any_carrier(anonymizer, planted, end):
    text = "".join(f"{carrier}{value}{after}" for carrier, value, after in planted) + end
    clean = anonymizer.text("default", text)
    folded = fold(clean.text).text.lower()
    assert not any(value.lower() in folded for _, value, _ in planted)
    assert all(TOKEN.fullmatch(clean.text[start:stop]) for start, stop, _ in clean.redactions)


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), EMAILS, CARDS.map(int), CARDS, PHONES)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | EMAILS, inner, max_size=3)
)


def shape(value: object) -> object:
    if isinstance(value, dict):
        return [shape(inner) for inner in value.values()]
    return [shape(inner) for inner in value] if isinstance(value, list) else None


@given(VALUES, st.booleans(), st.booleans())
def test_the_structure_of_json_survives(anonymizer, value, ascii_only, nested):
    text = json.dumps([value], ensure_ascii=ascii_only)
    text = json.dumps({"inner": text}, ensure_ascii=ascii_only) if nested else text
    clean = json.loads(anonymizer.json_text("default", text).text)
    assert shape(json.loads(clean["inner"]) if nested else clean) == shape([value])


@given(st.lists(st.one_of(EMAILS, CARDS, IBANS, PHONES, st.text(max_size=30)), max_size=5).map(" ".join))
def test_a_second_run_changes_nothing(anonymizer, text):
    once = anonymizer.text("default", text)
    assert anonymizer.text("default", once.text).text == once.text


@given(st.text(max_size=200))
def test_folding_keeps_an_exact_map(text):
    folded = fold(text)
    if folded.starts is not None:
        assert len(folded.starts) == len(folded.text) + 1
        assert list(folded.starts) == sorted(folded.starts)
        assert folded.starts[-1] == len(text)
    else:
        assert len(folded.text) == len(text)


def test_a_policy_has_a_name_for_the_rows(anonymizer):
    assert anonymizer.policy.name == "analytics"
    assert Anonymizer(anonymizer.keys).policy == Policy()
    assert anonymizer.detector_version >= 1
