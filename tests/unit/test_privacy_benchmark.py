"""The privacy benchmark counts what it says, and its own set is what it claims to be."""

import ast
import io
import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))

from privacy_peers import worker  # noqa: E402
from privacy_peers.alignment import aligned  # noqa: E402
from privacy_peers.process import PEERS  # noqa: E402
from privacy_scores.cases import failed  # noqa: E402
from privacy_scores.consistency import consistency  # noqa: E402
from privacy_scores.leaks import leaks  # noqa: E402
from privacy_scores.outcome import Outcome, spliced  # noqa: E402
from privacy_scores.over_redaction import over_redaction  # noqa: E402
from privacy_scores.report import figures, unclaimed, worse_than_peers  # noqa: E402
from privacy_scores.structure import keeps_json, keeps_python, structure  # noqa: E402
from privacy_scores.tables import tables  # noqa: E402
from privacy_sets import chat, open_cases, presidio_research  # noqa: E402
from privacy_sets.code_texts import ASKED, LOG_LINES, PYTHON  # noqa: E402
from privacy_sets.filling import GAP, Value, fill  # noqa: E402
from privacy_sets.hard_negatives import HARD_NEGATIVES  # noqa: E402
from privacy_sets.labelled import KINDS, DataMissing, Gold, LabelledSet, Sample, kinds_of, thinned  # noqa: E402
from privacy_sets.languages.all_languages import LANGUAGES  # noqa: E402

TEXT = "Ask Oswyn Fenmere, not Oswyn."
OSWYN = Sample(TEXT, (Gold(4, 17, "PERSON", "o"), Gold(23, 28, "PERSON", "o")), "t")


@pytest.fixture(scope="module")
def talks():
    return chat.chat_set(120)


def test_a_value_that_stays_is_left_whole_and_one_that_is_cut_is_left_in_part():
    untouched = leaks([OSWYN], [Outcome.of(TEXT, [])])["PERSON"]
    assert (untouched.entities, untouched.entities_left, untouched.characters, untouched.characters_left) == (
        2,
        2,
        17,
        17,
    )
    cut = leaks([OSWYN], [Outcome.of(TEXT, [(4, 9, "X"), (23, 28, "X")])])["PERSON"]
    assert (cut.entities_left, cut.entities_in_part, cut.characters_left) == (0, 1, 7)


def test_white_space_inside_of_a_value_is_no_leak():
    found = leaks([OSWYN], [Outcome.of(TEXT, [(4, 9, "X"), (10, 17, "Y"), (23, 28, "Z")])])["PERSON"]
    assert (found.entities_in_part, found.characters_left) == (0, 0)


def test_a_copy_of_a_replaced_value_counts_as_left_whatever_its_case_and_width():
    text = "card 4000 0212 and again card ４０００ 0212"
    sample = Sample(text, (Gold(5, 14, "CREDIT_CARD"),))
    assert leaks([sample], [Outcome.of(text, [(5, 14, "[CARD]")])])["CREDIT_CARD"].entities_left == 1
    everywhere = Outcome.of(text, [(5, 14, "[CARD]"), (30, 39, "[CARD]")])
    assert leaks([sample], [everywhere])["CREDIT_CARD"].entities_left == 0


def test_a_refused_text_leaves_nothing_and_counts_nowhere():
    assert leaks([OSWYN], [Outcome(None, [])]) == {}


def test_over_redaction_counts_only_what_no_label_covers():
    clean = Sample("Rain in May.", must_keep=("May",))
    outcomes = [Outcome.of(TEXT, [(0, 17, "X")]), Outcome.of(clean.text, [(8, 11, "<PERSON>")])]
    found = over_redaction([OSWYN, clean], outcomes)
    assert found["characters_percent"] == round(100 * 6 / (8 + 10), 2)
    assert found["texts_touched_percent"] == 50.0
    assert found["clean_texts_touched_percent"] == 100.0
    assert (found["parts_wanted"], found["parts_lost"]) == (1, 1)


def test_overlapping_replacements_become_one_that_covers_both():
    outcome = Outcome.of("abcdef", [(2, 4, "late"), (0, 3, "long"), (5, 6, "end")])
    assert outcome.text == "longeend"
    assert outcome.replaced == [(0, 4, "long"), (5, 6, "end")]


def test_one_value_with_two_replacements_is_inconsistent_and_two_with_one_share():
    samples = [Sample("a@x.io b@x.io", (Gold(0, 6, "EMAIL"), Gold(7, 13, "EMAIL")), "t")] * 2
    good = [Outcome.of(one.text, [(0, 6, "1"), (7, 13, "2")]) for one in samples]
    assert consistency(samples, good)["same_in_talk_percent"] == 100.0
    assert consistency(samples, good)["sharing_percent"] == 0.0
    numbered = [good[0], Outcome.of(samples[1].text, [(0, 6, "2"), (7, 13, "2")])]
    assert consistency(samples, numbered)["same_in_talk_percent"] == 50.0
    assert consistency(samples, numbered)["sharing_percent"] == 100.0


def test_two_written_forms_of_a_number_may_share_a_replacement():
    text = "020 7946 0001, that is +44 20 7946 0001"
    sample = Sample(text, (Gold(0, 13, "PHONE"), Gold(23, 39, "PHONE")), "t")
    shared = consistency([sample], [Outcome.of(text, [(0, 13, "<P>"), (23, 39, "<P>")])])
    assert (shared["different_values"], shared["sharing_percent"]) == (1, 0.0)


def test_a_first_name_alone_is_linked_when_it_is_a_part_of_the_full_stand_in():
    linked = Outcome.of(TEXT, [(4, 17, "Wren Holt"), (23, 28, "Wren")])
    loose = Outcome.of(TEXT, [(4, 17, "Wren Holt"), (23, 28, "Ada")])
    assert consistency([OSWYN], [linked])["linked_percent"] == 100.0
    assert consistency([OSWYN], [loose])["linked_percent"] == 0.0


def test_json_must_parse_with_the_same_form():
    assert keeps_json('{"a": [1, "b"]}', '{"a": ["<N>", "c"]}')
    assert not keeps_json('{"a": [1, "b"]}', '{"a": [1]}')
    assert not keeps_json('{"a": "b"}', '{"a": "b}')


def test_code_blocks_must_compile():
    before = "```python\nx = 1\n```"
    assert keeps_python(before, "```python\ny = 'z'\n```")
    assert not keeps_python(before, "```python\n<X> = 1\n```")
    assert not keeps_python(before, "x = 1")


def test_structure_counts_changed_texts_alone():
    sample = Sample('{"a": "b"}', structure="json")
    outcomes = [Outcome.of(sample.text, []), Outcome.of(sample.text, [(8, 10, "")])]
    assert structure([sample, sample], outcomes) == {"json": {"changed": 1, "kept_percent": 0.0}}


def test_an_open_case_fails_for_a_leak_a_lost_part_or_a_mixed_up_person(tmp_path):
    record = {
        "id": "two", "text": "Ugo met Mirek.", "must_keep": ["met"], "different_entity": [["Ugo", "Mirek"]],
        "expected": [{"type": "PERSON", "value": "Ugo"}, {"type": "PERSON", "value": "Mirek"}],
    }  # fmt: skip
    (tmp_path / "cases.jsonl").write_text(json.dumps(record))
    cases = open_cases.read(tmp_path / "cases.jsonl")
    text = cases[0].sample.text
    assert failed(cases, [Outcome.of(text, [(0, 3, "A"), (8, 13, "B")])]) == []
    for spans in ([(0, 3, "A")], [(0, 3, "A"), (8, 13, "A")], [(0, 7, "A"), (8, 13, "B")]):
        assert failed(cases, [Outcome.of(text, spans)]) == ["two"]


def test_a_kind_that_no_system_claims_is_named_apart_and_a_better_peer_is_named():
    whole = LabelledSet("s", (Sample("Mx Oswyn", (Gold(0, 2, "TITLE"), Gold(3, 8, "PERSON"))),))
    ours = figures(whole, [Outcome.of("Mx Oswyn", [])], [1.0], ["PERSON"])
    peer = figures(whole, [Outcome.of("Mx Oswyn", [(3, 8, "X")])], [1.0], ["PERSON"])
    assert unclaimed({"ours": ours}, {"ours": ["PERSON"]}) == {"TITLE": 1}
    assert worse_than_peers({"ours": ours, "peer": peer}, "ours") == {"PERSON": {"peer": [0.0, 100.0]}}


def test_the_rate_is_the_median_of_the_passes_after_the_first():
    whole = LabelledSet("s", (Sample("x" * 1000),) * 10)
    found = figures(whole, [Outcome.of("x" * 1000, [])] * 10, [9.0, 1.0, 2.0, 4.0], [])
    assert (found["texts_per_second"], found["megabytes_per_second"]) == (5.0, 0.005)


def test_tables_show_each_system_and_say_what_is_missing():
    whole = LabelledSet("chat", (OSWYN,))
    found = figures(whole, [Outcome.of(TEXT, [(4, 17, "X")])], [1.0], ["PERSON"])
    entry = {"texts": 1, "megabytes": 0.0, "unclaimed": {}, "systems": {"ours": found}}
    report = {
        "systems": {"peer": {"missing": "no such package"}},
        "sets": {"chat": entry, "other": {"missing": "no file"}},
    }
    shown = tables(report)
    assert "| ours | 29.4 % |" in shown
    assert "peer: no such package" in shown
    assert "**other**: no file" in shown


@given(st.lists(st.tuples(st.text("ab c", max_size=6), st.text("XYZ", min_size=1, max_size=4)), min_size=1, max_size=6))
def test_replaced_parts_led_back_into_the_source_splice_into_the_edited_text(parts):
    source = "".join(between + "0123" for between, _ in parts) + "end"
    edited, redactions = "", []
    for between, token in parts:
        edited += between
        redactions.append((len(edited), len(edited) + len(token), "KIND"))
        edited += token
    edited += "end"
    assert Outcome.of(source, aligned(source, edited, redactions)).text == edited


def test_quotes_put_around_a_json_number_belong_to_the_replacement():
    source, edited = '{"a": 123, "b": "x", "c": 45}', '{"a": "<N>", "b": "<M>", "c": "<O>"}'
    redactions = [(edited.index(token), edited.index(token) + 3, "KIND") for token in ("<N>", "<M>", "<O>")]
    spans = aligned(source, edited, redactions)
    assert [source[start:end] for start, end, _ in spans] == ["123", "x", "45"]
    assert spliced(source, Outcome.of(source, spans).replaced) == edited


def test_text_that_cannot_have_become_the_other_is_an_error():
    with pytest.raises(ValueError, match="between replaced parts"):
        aligned("abc", "xbX", [(2, 3, "KIND")])


def test_a_peer_that_cannot_be_loaded_says_so_instead_of_failing():
    out = io.StringIO()
    worker.serve("no_such_peer", {}, io.StringIO(), out)
    assert json.loads(out.getvalue())["missing"].startswith("ModuleNotFoundError")


def test_every_peer_has_a_module_with_packages_claims_and_a_note():
    for name in PEERS:
        source = ast.parse((ROOT / "tests" / "benchmarks" / "privacy_peers" / f"{name}.py").read_text())
        names = {target.id for node in source.body if isinstance(node, ast.Assign) for target in node.targets}
        assert {"PACKAGES", "CLAIMS", "NOTE"} <= names


def test_a_failing_system_tells_the_place_of_its_error_and_no_text():
    try:
        raise ValueError("oswyn@tarnholm-mail.com")
    except ValueError as error:
        told = worker._place_of(error)
    assert told.startswith("ValueError in test_privacy_benchmark.py")
    assert "oswyn" not in told


def test_a_gap_is_filled_and_its_value_labelled_also_with_json_escapes():
    text, gold = fill(
        '{"to": "[[full]]", "id": "[[uuid]]"}', lambda gap: Value('Zoë "Z"', "PERSON" * (gap == "full")), in_json=True
    )
    assert [(text[one.start : one.end], one.kind) for one in gold] == [(r"Zo\u00eb \"Z\"", "PERSON")]
    assert json.loads(text)["to"] == 'Zoë "Z"'


def test_equal_seeds_give_equal_sets_and_others_others():
    assert chat.chat_set(20) == chat.chat_set(20)
    assert chat.chat_set(20) != chat.chat_set(20, seed=1)
    assert chat.hard_negatives(50) == chat.hard_negatives(50)
    assert chat.long_notes(1, 2000) == chat.long_notes(1, 2000)


def test_labels_are_disjoint_in_order_and_of_known_kinds(talks):
    for sample in (*talks.samples, *chat.long_notes(2, 5000).samples):
        ends = [0]
        for one in sample.gold:
            assert one.kind in KINDS
            assert one.start >= ends[-1]
            value = sample.text[one.start : one.end]
            assert value == value.strip() != ""
            ends.append(one.end)


def test_no_gap_is_left_open(talks):
    assert not any(GAP.search(sample.text) for sample in (*talks.samples, *chat.hard_negatives().samples))


def test_structured_texts_parse_before_the_edit(talks):
    for sample in talks.samples:
        if sample.structure == "json":
            assert keeps_json(sample.text, sample.text)
        elif sample.structure == "python":
            assert keeps_python(sample.text, sample.text)


def test_the_chat_set_has_every_language_and_structure_and_most_kinds(talks):
    assert {sample.language for sample in talks.samples} == {language.code for language in LANGUAGES}
    assert {sample.structure for sample in talks.samples} == {"", "json", "python"}
    assert {"PERSON", "ADDRESS", "EMAIL", "PHONE", "IBAN", "CREDIT_CARD", "SECRET", "USERNAME", "IP_ADDRESS",
            "DATE_OF_BIRTH"} <= kinds_of(talks.samples).keys()  # fmt: skip


def test_hard_negatives_hold_no_label():
    assert not kinds_of(chat.hard_negatives().samples)


def test_both_persons_of_a_talk_differ(talks):
    for language in LANGUAGES:
        assert len(set(language.given)) == len(language.given)
        assert len(set(language.family)) == len(language.family)
    owners = {}
    for sample in talks.samples:
        for one in sample.gold:
            if one.kind == "PERSON" and " " in sample.text[one.start : one.end]:
                owners.setdefault((sample.conversation, sample.text[one.start : one.end].casefold()), set()).add(
                    one.entity
                )
    assert all(len(entities) == 1 for entities in owners.values())


def test_no_sentence_of_the_chat_set_is_known_to_the_product():
    modules = [*(ROOT / "pipelines" / "synthetic").glob("*.py"), *(ROOT / "pipelines" / "privacy").rglob("*.py")]
    known = "\n".join(path.read_text() for path in modules)
    own = [text for language in LANGUAGES for text in (*language.told, *language.replies)]
    for template in (*own, *PYTHON, *ASKED, *LOG_LINES, *HARD_NEGATIVES):
        longest = max(GAP.split(template)[::2], key=len).strip()
        assert len(longest) < 12 or longest not in known


def test_no_name_of_the_chat_set_is_one_that_the_tagger_was_trained_with():
    pytest.importorskip("faker")
    training_names = pytest.importorskip("pipelines.privacy.tagger.training_names")
    trained = {
        name.lower()
        for lists in training_names.load_names().values()
        for name in (*lists.given, *lists.family)
        if not training_names.is_held_out(name)
    }
    own = {name.lower() for language in LANGUAGES for name in (*language.given, *language.family)}
    assert own
    assert not own & trained


def test_a_thinned_set_keeps_whole_talks(talks):
    few = thinned(talks, 60)
    assert 0 < len(few.samples) < len(talks.samples)
    for talk in {sample.conversation for sample in few.samples}:
        assert [one for one in few.samples if one.conversation == talk] == [
            one for one in talks.samples if one.conversation == talk
        ]


def test_a_set_that_is_not_there_is_named_and_a_label_outside_of_its_text_is_refused(tmp_path):
    with pytest.raises(DataMissing, match=re.escape("generated_large.json")):
        presidio_research.read(tmp_path, "presidio-research-large")
    with pytest.raises(ValueError, match="inside of the text"):
        Sample("short", (Gold(3, 9, "PERSON"),))


def test_public_labels_are_mapped_to_known_kinds():
    from privacy_sets import meddocan

    assert {*presidio_research.LABELS.values(), *meddocan.LABELS.values()} <= set(KINDS)
