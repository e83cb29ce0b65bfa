import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.datasets.policy import (
    Bound,
    Caps,
    CurationPolicy,
    NearDuplicates,
    PolicyError,
    known_signals,
    known_words,
)
from pipelines.datasets.policy_files import PRESETS, SFT_STRICT, declared_policy, find_policy
from pipelines.datasets.rules import BARRING_FLAGS, MEANINGS, meaning
from schemas import TURN_SIGNALS


def declared(text, tmp_path, name="mine"):
    path = tmp_path / f"{name}.toml"
    path.write_text(text)
    return find_policy(str(path))


def test_the_presets_are_found_by_name_and_cut_differently():
    assert set(PRESETS) == {"sft-strict", "sft-lenient", "conversations", "preference", "unpaired"}
    assert all(find_policy(name) is policy for name, policy in PRESETS.items())
    assert len({policy.hash for policy in PRESETS.values()}) == 5


def test_a_policy_without_words_is_the_lenient_preset():
    assert CurationPolicy() == PRESETS["sft-lenient"]


def test_a_file_says_only_what_differs_from_its_preset(tmp_path):
    policy = declared(
        'preset = "sft-strict"\nseed = 7\ncaps = {user = 5, source = 100}\nnear_duplicates.threshold = 0.9\n', tmp_path
    )
    assert (policy.name, policy.seed, policy.caps) == ("mine", 7, Caps(user=5, source=100))
    assert policy.near_duplicates == NearDuplicates(threshold=0.9)
    assert (policy.bounds, policy.topics) == (SFT_STRICT.bounds, SFT_STRICT.topics)


def test_an_empty_file_cuts_like_the_lenient_preset(tmp_path):
    assert declared("", tmp_path).hash == CurationPolicy().hash


def test_signals_are_bounded_by_place_and_bounds_of_the_preset_can_be_lifted(tmp_path):
    policy = declared(
        'preset = "sft-strict"\n[signals.answer]\nis_truncated = true\nrefusal_score = false\n'
        "n_words = {below = 3}\nlang = {any_of = ['de', 'fr']}\n[signals.prompt]\ntop_ngram_share = {above = 0.5}\n"
        "[signals.conversation.feedback]\nedits = {at_least = 2}\nthumbs_down = false\n",
        tmp_path,
    )
    assert set(policy.bounds) == {
        Bound("answer", "is_truncated", at_least=1),
        Bound("answer", "n_words", below=3),
        Bound("answer", "lang", any_of=("de", "fr")),
        Bound("prompt", "top_ngram_share", above=0.5),
        Bound("conversation", "feedback.edits", at_least=2),
        *(bound for bound in SFT_STRICT.bounds if bound.signal not in ("refusal_score", "feedback.thumbs_down")),
    }


def test_a_cap_of_the_preset_can_be_lifted(tmp_path):
    assert declared("[caps]\nuser = false\n", tmp_path).caps.user is None
    assert declared("near_duplicates.semantic_threshold = false\n", tmp_path).near_duplicates.semantic_threshold is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("validation = 5", "wanted keys out of name, kind, validation_percent, .*, preset, signals, found validation$"),
        ("[caps]\nper_user = 5", "wanted keys out of user, source, tenant, found caps.per_user"),
        ("caps = 5", "caps: wanted a table, found a whole number"),
        ("[caps]\nuser = 0", "caps.user: wanted at least 1, found 0"),
        ("[caps]\nuser = true", "caps.user: wanted a whole number, found a truth value"),
        ("near_duplicates.semantic_threshold = 1.5", "semantic_threshold: wanted 0.5 to 1, found 1.5"),
        ("near_duplicates.threshold = false", "near_duplicates.threshold: wanted a number, found a truth value"),
        ('seed = "x"', "seed: wanted a whole number, found a text"),
        ("barring_flags = [1]", "barring_flags: wanted a list of texts, found a list"),
        ("validation_percent = 101", "validation_percent: wanted 0 to 100, found 101"),
        ("[near_duplicates]\nthreshold = 0.1", "near_duplicates.threshold: wanted 0.5 to 1, found 0.1"),
        ('kind = "dpo"', "kind: wanted one of sft, conversation, preference, unpaired, found 'dpo'"),
        (
            'preset = "sft"',
            "wanted preset as one of sft-lenient, sft-strict, conversations, preference, unpaired, found 'sft'",
        ),
        ('[contamination]\naction = "hide"', "contamination.action: wanted drop or flag, found 'hide'"),
        ("[signals.answer]\nrudeness = true", "answer.rudeness: wanted a signal of numbers out of lang_score, n_chars"),
        ("[signals.answer]\nn_words = 3", "signals.answer.n_words: wanted true, false, above, at_least or below"),
        (
            "[signals.answer]\nn_words = {above = 1, below = 3}",
            "answer.n_words: wanted one of above.*, found above and below",
        ),
        ("[signals.answer]\nn_words = {any_of = ['3']}", "answer.n_words: wanted a signal of words out of lang"),
        ("[signals.answer]\nn_words = {}", "found none"),
        ("[signals.reply]\nn_words = true", "signals: wanted tables out of answer, prompt, conversation"),
        ("rules_version = 1", "found rules_version"),
        ("seed = ", "wanted TOML"),
    ],
)
def test_a_fault_in_a_file_is_told_with_what_was_wanted_and_found(text, wanted, tmp_path):
    with pytest.raises(PolicyError, match=wanted) as told:
        declared(text, tmp_path)
    assert str(tmp_path / "mine.toml") in str(told.value)


def test_an_unknown_name_tells_the_known_ones():
    with pytest.raises(
        PolicyError, match="wanted sft-lenient, sft-strict, conversations, preference, unpaired or a TOML file"
    ):
        find_policy("sft-stric")


def test_the_name_of_a_policy_does_not_count_for_its_hash_and_everything_else_does():
    base = declared_policy({}, name="a")
    changes = [{"seed": 1}, {"caps": {"tenant": 9}}, {"validation_percent": 11}, {"topics": {"max_share": 0.5}},
               {"signals": {"answer": {"is_empty": True}}}, {"barring_flags": []}]  # fmt: skip
    hashes = [declared_policy(change, name="a").hash for change in changes]
    assert declared_policy({}, name="b").hash == base.hash
    assert len({base.hash, *hashes}) == len(changes) + 1


@given(st.permutations(["n_words", "n_chars", "lang_score"]))
def test_the_order_of_bounds_in_a_file_does_not_count(names):
    signals = {"answer": {name: {"below": 1.0} for name in names}}
    expected = {"answer": {name: {"below": 1.0} for name in sorted(names)}}
    policy = declared_policy({"signals": signals}, name="a")
    assert policy.hash == declared_policy({"signals": expected}, name="a").hash
    assert policy.bounds == declared_policy({"signals": expected}, name="a").bounds


def test_every_measure_of_a_turn_can_be_bounded_and_nothing_else():
    known = known_signals("answer")
    assert {"n_words", "is_truncated", "repeated_line_share"} <= set(known)
    assert not {"keep", "rule_version", "reason", "lang", "text_hash", "text_sketch"} & set(known)
    assert set(known) <= set(TURN_SIGNALS.column_names)
    assert "feedback.thumbs_down" in known_signals("conversation")


def test_every_preset_bounds_only_signals_that_the_tables_have():
    for policy in PRESETS.values():
        known = {place: {*known_signals(place), *known_words(place)} for place in ("answer", "prompt", "conversation")}
        assert all(bound.signal in known[bound.place] for bound in policy.bounds)


@pytest.mark.parametrize(
    "rule",
    ["consent", "quality:too_short", "signal:answer.n_words", "cap_user", "near_duplicate",
     *(f"not_trainable_flag:{flag}" for flag in BARRING_FLAGS)],
)  # fmt: skip
def test_every_rule_has_a_meaning(rule):
    assert meaning(rule) in MEANINGS.values()


def test_an_unknown_rule_means_nothing():
    assert meaning("of another version") == ""


def test_the_policy_that_the_readme_shows_can_be_used(tmp_path):
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    [shown] = [block for block in re.findall(r"^```toml\n(.*?)^```", readme, re.DOTALL | re.M) if "[caps]" in block]
    policy = declared(shown, tmp_path)
    assert policy.caps == Caps(user=100, source=50_000)
    assert "answer.code_validity" not in {bound.name for bound in policy.bounds}
