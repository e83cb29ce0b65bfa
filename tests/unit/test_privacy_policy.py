"""Policies: presets, files, and what is written in the place of a value."""

import json
import pickle
import re

import pytest

from pipelines.privacy.anonymizer import Anonymizer, Row, Whose
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.linked_persons import linked
from pipelines.privacy.policy import (
    ANALYTICS,
    CLINICAL_SAFE_HARBOR,
    PRESETS,
    SECRETS_ONLY,
    TRAINING,
    Action,
    Policy,
    PolicyError,
    Scope,
    declared_policy,
    find_policy,
)
from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.replacements import NOBODY
from pipelines.privacy.safe_harbor import RESTRICTED_ZIP_PREFIXES, generalised

NAMES = ("Jonathan Marwick", "Johnny Marwick", "Anna Weber", "Maria", "Ugo Pellart", "Mirek Stanzl", "sabrina volante")
NOTE = "Anna Weber, born 14.03.1987, nina@korvane-labs.com, 202-555-0117, password: kestrel88"


class ListedNames:
    """A second tier that knows some names."""

    def tag(self, texts):
        return [
            [(m.start(), m.end(), "PERSON", 0.9) for name in NAMES for m in re.finditer(re.escape(name), text)]
            for text in texts
        ]


class FailsOn(ListedNames):
    """A second tier that cannot read one text."""

    def tag(self, texts):
        if any("unreadable" in text for text in texts):
            raise MemoryError("no more")
        return super().tag(texts)


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> KeyFolder:
    folder = KeyFolder(tmp_path_factory.mktemp("lake") / "keys").open_or_create().path
    (folder / "surrogate-1").write_bytes(bytes(range(32)))
    return KeyFolder(folder)


def clean(keys, policy, text, whose=NOBODY):
    return Anonymizer(keys, policy, source=ListedNames()).fields("default", {"": text}, whose=whose)[""]


def test_the_default_policy_is_the_preset_for_training():
    assert Policy() == TRAINING == find_policy("training")
    assert {name: policy.name for name, policy in PRESETS.items()} == {name: name for name in PRESETS}


@pytest.mark.parametrize("policy", PRESETS.values())
def test_policies_hash_and_pickle(policy):
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert len({policy, pickle.loads(pickle.dumps(policy))}) == 1


def test_training_text_stays_natural_and_secrets_become_tokens(keys):
    result = clean(keys, TRAINING, NOTE)
    assert not any(value in result.text for value in ("Anna", "Weber", "nina", "korvane", "0117", "kestrel88"))
    assert TOKEN.findall(result.text)[0].startswith("<SECRET_")
    assert len(TOKEN.findall(result.text)) == 1
    assert re.fullmatch(
        r"[^\W\d_a-z]\S+ [^\W\d_a-z]\S+, born \d\d\.\d\d\.19\d\d, "
        r"[a-z]+@[a-z]+\.(example|com|net|org), \d{3}-555-01\d\d, .*",
        result.text,
    )


def test_analytics_writes_tokens_everywhere_and_a_second_run_changes_nothing(keys):
    result = clean(keys, ANALYTICS, NOTE)
    assert len(TOKEN.findall(result.text)) == len(result.redactions) == 5
    assert clean(keys, ANALYTICS, result.text).text is result.text


def test_safe_harbor_writes_no_keyed_code(keys, tmp_path):
    others = KeyFolder(tmp_path / "keys").open_or_create()
    result = clean(keys, CLINICAL_SAFE_HARBOR, NOTE)
    assert result.text == "[PERSON], born 1987, [EMAIL], [PHONE], password: [SECRET]"
    assert clean(others, CLINICAL_SAFE_HARBOR, NOTE).text == result.text
    assert clean(keys, CLINICAL_SAFE_HARBOR, result.text).text == result.text


@pytest.mark.parametrize(
    ("kind", "text", "wanted"),
    [
        ("DATE", "14 March 2019", "2019"),
        ("DATE", "yesterday", "[DATE]"),
        ("DATE_OF_BIRTH", "1987-03-14", "1987"),
        ("DATE_OF_BIRTH", "14.03.1931", "[DATE_OF_BIRTH]"),
        ("DATE", "19310314", "[DATE]"),
        ("AGE", "92", "90+"),
        ("AGE", "aged 104 years", "aged 90+ years"),
        ("AGE", "89", "89"),
        ("ADDRESS", "12 Elm Street, Salem, MA 01970", "[ADDRESS] 019"),
        ("ADDRESS", "12 Elm Street, Salem, MA 01970-1234", "[ADDRESS] 019"),
        ("ADDRESS", "1 Main St, Alzada, MT 59311", "[ADDRESS] 593"),
        ("ADDRESS", "1 Main St, Somewhere, VT 05901", "[ADDRESS] 000"),
        ("ADDRESS", "Lindenstraße 12, 10115 Berlin", "[ADDRESS]"),
        ("PHONE", "202-555-0117", "[PHONE]"),
    ],
)
def test_safe_harbor_keeps_years_ninety_plus_and_three_digits_at_most(kind, text, wanted):
    assert generalised(kind, text, 1940) == wanted


def test_seventeen_zip_areas_are_restricted():
    assert len(RESTRICTED_ZIP_PREFIXES) == 17


def test_secrets_only_leaves_persons_alone(keys):
    result = clean(keys, SECRETS_ONLY, NOTE)
    assert [kind for *_, kind in result.redactions] == ["SECRET"]
    assert result.text.startswith(NOTE[:50])


@pytest.mark.parametrize(
    ("action", "wanted"),
    [
        ("mask", r"\[EMAIL\]"),
        ("hash", "[0-9a-f]{32}"),
        ("remove", ""),
        ("token", "<EMAIL_[A-Z2-7]{26}>"),
        ("keep", "nina@korvane-labs.com"),
        ("surrogate", r"[a-z]+@[a-z]+\.example"),
        ("generalise", r"\[EMAIL\]"),
    ],
)
def test_each_action_writes_its_form(keys, action, wanted):
    policy = declared_policy({"name": "mine", "actions": {"EMAIL": action}})
    assert re.fullmatch(f"a {wanted} z", clean(keys, policy, "a nina@korvane-labs.com z").text)


@pytest.mark.parametrize("action", [action for action in Action if action is not Action.KEEP])
def test_json_parses_after_every_action(keys, action):
    policy = declared_policy({"name": "mine", "other_types": action.value, "actions": dict.fromkeys(
        ("PERSON", "EMAIL", "PHONE", "SECRET"), action.value)})  # fmt: skip
    text = json.dumps({"phone": 2025550117, "in": json.dumps({"who": "Anna Weber", "phone": 2025550117}), "k": NOTE})
    result = clean(keys, policy, text)
    parsed = json.loads(result.text)
    assert set(parsed) == {"phone", "in", "k"}
    assert set(json.loads(parsed["in"])) == {"who", "phone"}
    assert "Weber" not in result.text


def test_a_policy_file_is_named_by_what_it_says(tmp_path):
    file = tmp_path / "desk.toml"
    file.write_text('name = "desk"\npreset = "analytics"\nscope = "user"\n[actions]\nEMAIL = "mask"\n')
    policy = find_policy(str(file))
    assert re.fullmatch(r"desk@[0-9a-f]{12}", policy.name)
    assert (policy.scope, policy.action("EMAIL"), policy.action("PHONE")) == (Scope.USER, Action.MASK, Action.TOKEN)
    file.write_text('# the same\nscope = "user"\nname = "desk"\npreset = "analytics"\n[actions]\nEMAIL = "mask"\n')
    assert find_policy(str(file)) == policy
    file.write_text('name = "desk"\npreset = "analytics"\nscope = "user"\n[actions]\nEMAIL = "hash"\n')
    assert find_policy(str(file)).name != policy.name


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({}, "wanted a name"),
        ({"name": "training"}, "wanted a name"),
        ({"name": "x", "color": 1}, "found color"),
        ({"name": "x", "preset": "none"}, "preset: wanted one of training"),
        ({"name": "x", "actions": {"EMAIL": "burn"}}, "EMAIL: wanted one of surrogate"),
        ({"name": "x", "actions": {"NAME": "mask"}}, "found NAME"),
        ({"name": "x", "actions": 3}, "wanted a table of actions"),
        ({"name": "x", "scope": "world"}, "scope: wanted one of tenant, user, conversation"),
        ({"name": "x", "clinical": 1}, "wanted clinical as bool"),
        ({"name": "x", "oldest_birth_year": True}, "wanted oldest_birth_year as int"),
        ({"name": "x", "default_regions": ["Germany"]}, "list of ISO 3166 codes"),
    ],
)
def test_a_wrong_policy_says_what_was_wanted(declared, told):
    with pytest.raises(PolicyError, match=told):
        declared_policy(declared, "desk.toml")


@pytest.mark.parametrize("content", [None, "name = ", b"\xff"])
def test_a_file_that_is_no_policy_is_refused(tmp_path, content):
    file = tmp_path / "desk.toml"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PolicyError, match=r"desk\.toml: wanted"):
        find_policy(str(file))


def test_an_unknown_preset_is_refused():
    with pytest.raises(PolicyError, match="wanted training, analytics, clinical-safe-harbor, secrets-only"):
        find_policy("traning")


def test_the_scope_bounds_what_is_consistent(keys):
    text = "nina@korvane-labs.com"
    one, other = Whose("u1", "c1"), Whose("u1", "c2")
    for scope, same in (("tenant", True), ("user", True), ("conversation", False)):
        policy = declared_policy({"name": "x", "preset": "analytics", "scope": scope})
        assert (clean(keys, policy, text, one).text == clean(keys, policy, text, other).text) is same
        assert clean(keys, policy, text, one).text == clean(keys, policy, text, one).text
    by_user = declared_policy({"name": "x", "preset": "analytics", "scope": "user"})
    assert clean(keys, by_user, text, Whose("u2")).text != clean(keys, by_user, text, one).text


def test_names_of_one_person_share_a_token(keys):
    result = clean(keys, ANALYTICS, "Jonathan Marwick wrote. Johnny Marwick replied as @jmarwick. Marwick's idea.")
    assert len(set(TOKEN.findall(result.text))) == 1
    assert result.text.endswith(">'s idea.")


def test_names_of_different_persons_never_share_a_replacement(keys):
    for policy in (ANALYTICS, TRAINING):
        result = clean(keys, policy, "turn1: Ugo Pellart\nturn2: Mirek Stanzl")
        one, other = (line.split(": ")[1] for line in result.text.splitlines())
        assert one != other


@pytest.mark.parametrize(
    ("names", "short", "full"),
    [
        (["anna weber", "anna"], "anna", "anna weber"),
        (["anna weber", "a w"], "a w", "anna weber"),
        (["anna weber", "anna b weber"], "anna weber", "anna b weber"),
        (["anna weber", "anna maier", "anna"], "anna", "anna"),
        (["anna weber", "maria"], "maria", "maria"),
        (["anna", "anna weber", "anna b weber"], "anna", "anna b weber"),
    ],
)
def test_a_short_name_stands_for_the_one_full_name_that_it_is_part_of(names, short, full):
    assert linked(names)[short] == full


def test_a_surrogate_may_be_another_name_of_the_row(keys):
    anonymizer = Anonymizer(keys, TRAINING, source=ListedNames())
    drawn = anonymizer.text("default", "Maria").text

    class Both:
        def tag(self, texts):
            return [[(m.start(), m.end(), "PERSON") for m in re.finditer(f"Maria|{drawn}", text)] for text in texts]

    result = Anonymizer(keys, TRAINING, source=Both()).text("default", f"Maria wrote to {drawn}.")
    assert result.text.startswith(f"{drawn} wrote to ")
    assert not result.text.endswith(f" {drawn}.")


def test_replacements_of_an_earlier_run_are_left_alone(keys):
    first = clean(keys, TRAINING, f"{NOTE} and Maria")
    again = Anonymizer(keys, TRAINING, source=ListedNames())
    second = again.fields("default", {"": first.text}, redactions={"": first.redactions})[""]
    assert (second.text, second.redactions) == (first.text, first.redactions)
    more = again.fields(
        "default",
        {"": f"Ugo Pellart: {first.text}"},
        redactions={"": [(s + 13, e + 13, k) for s, e, k in first.redactions]},
    )[""]
    assert more.text.endswith(first.text)
    assert not more.text.startswith("Ugo")
    assert len(more.redactions) == len(first.redactions) + 1


def test_many_rows_are_read_by_one_call_and_give_what_each_gives_alone(keys):
    calls = []

    class Counted(ListedNames):
        def tag(self, texts):
            calls.append(len(texts))
            return super().tag(texts)

    anonymizer = Anonymizer(keys, TRAINING, source=Counted())
    rows = [
        Row("default", {"/text": text, "/x": "{}"}) for text in (NOTE, "Maria", "clean", json.dumps(["Ugo Pellart"]))
    ]
    results = anonymizer.batch(rows)
    assert len(calls) == 1
    assert results == [anonymizer.fields(row.tenant, row.fields) for row in rows]


def test_equal_texts_of_many_rows_are_read_once(keys):
    read = []

    class Noted(ListedNames):
        def tag(self, texts):
            read.extend(texts)
            return super().tag(texts)

    anonymizer = Anonymizer(keys, TRAINING, source=Noted())
    first, second = anonymizer.batch([Row("default", {"/text": NOTE, "/model": "m"}) for _ in range(2)])
    assert first == second
    assert sorted(read) == sorted({NOTE, "m"})


def test_a_text_that_the_second_tier_cannot_read_fails_alone(keys):
    rows = [Row("default", {"": text}) for text in ("Maria", "unreadable", "Maria")]
    one, failed, other = Anonymizer(keys, TRAINING, source=FailsOn()).batch(rows)
    assert isinstance(failed, MemoryError)
    assert one == other
    assert "Maria" not in one[""].text


def test_ordinary_words_that_are_names_elsewhere_stay(keys):
    class Will:
        def tag(self, texts):
            return [[(0, 4, "PERSON")] if text.startswith("Will") else [] for text in texts]

    result = Anonymizer(keys, ANALYTICS, source=Will()).text("default", "Will asked. Will you come? I will.")
    assert result.text.endswith(" asked. Will you come? I will.")


def test_an_anonymizer_with_a_second_tier_pickles(keys):
    anonymizer = Anonymizer(keys, TRAINING, source=ListedNames())
    assert pickle.loads(pickle.dumps(anonymizer)).text("default", NOTE) == anonymizer.text("default", NOTE)
