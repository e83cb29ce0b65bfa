import json
import pickle

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from pipelines.decontamination.canaries import FORMS, CanaryMissedError, canaries, require_found
from pipelines.decontamination.check import leak_check
from pipelines.decontamination.figures import figures
from pipelines.decontamination.index import build_index
from pipelines.decontamination.items import BenchmarkError, BenchmarkItem
from pipelines.decontamination.overlap import overlaps
from pipelines.decontamination.verdicts import LeakThresholds
from pipelines.decontamination.words import whole_keys, words
from pipelines.embedding.encoder import Embedded

TRUTH_TABLE = (
    "Construct a complete truth table for the following argument. Then, using the truth table, determine whether {}"
)
LIGHTHOUSE = (
    "The lighthouse keeper of Norvik counts 214 ships in the first week of May and half as many in the second one. In "
    "which week would he have to count 60 ships so that the mean stays above 120, and how many may pass unseen?"
)
TRAIN_ASKED = "If a train travels 60 miles in 1.5 hours, what is its average speed?"
TRAIN_IN_FRENCH = "Si un train parcourt 60 miles en 1,5 heure, quelle est sa vitesse moyenne ?"


def said(*texts, role="user"):
    return [{"role": role, "text": text, "tool_calls": [], "tool_call_id": None} for text in texts]


def prompts(*texts, benchmark="bench"):
    return [BenchmarkItem(benchmark, str(n), "prompt", text) for n, text in enumerate(texts)]


def verdicts(check, *examples):
    found = check.check([example if isinstance(example, list) else said(example) for example in examples])
    return [{leak.verdict for leak in found if leak.example == n} for n in range(len(examples))]


@pytest.mark.parametrize("form", FORMS)
def test_an_item_is_found_in_every_form_of_a_leak(form):
    check = leak_check(prompts(LIGHTHOUSE, TRAIN_ASKED))
    leaks = check.check([[FORMS[form](LIGHTHOUSE)]])
    assert [(leak.ref.item_id, leak.verdict, leak.score) for leak in leaks] == [("0", "contaminated", 1.0)]


def test_an_item_inside_of_a_longer_message_is_found():
    check = leak_check(prompts(LIGHTHOUSE))
    assert verdicts(check, f"My teacher gave us this. {LIGHTHOUSE} Can you help me with the second part?") == [
        {"contaminated"}
    ]


def test_an_item_in_the_arguments_of_a_tool_call_is_found():
    call = {"id": "c1", "name": "ask", "arguments": json.dumps({"question": LIGHTHOUSE})}
    example = [{"role": "assistant", "text": "", "tool_calls": [call], "tool_call_id": None}]
    assert verdicts(leak_check(prompts(LIGHTHOUSE)), example) == [{"contaminated"}]


def test_an_item_asked_over_two_turns_is_found():
    first, second = LIGHTHOUSE.split("In which week")
    check = leak_check(prompts(LIGHTHOUSE))
    assert verdicts(
        check, [*said(first), *said("214 and 107.", role="assistant"), *said(f"In which week{second}")]
    ) == [{"contaminated"}]


def test_prompt_and_answer_are_matched_apart():
    answer = (
        "He counts 107 ships in the second week, so the third week is the one, and at most 21 ships may pass unseen."
    )
    items = [BenchmarkItem("b", "7", "prompt", LIGHTHOUSE), BenchmarkItem("b", "7", "answer", answer)]
    leaks = leak_check(items).check([said(LIGHTHOUSE), said(answer, role="assistant"), said(LIGHTHOUSE, answer)])
    found = [{leak.ref.side for leak in leaks if leak.example == n} for n in range(3)]
    assert found == [{"prompt"}, {"answer"}, {"prompt", "answer"}]


def test_shared_instructions_alone_are_no_leak():
    arguments = ("P -> Q", "R v S / ~R // S", "K & L // K", "M -> ~N / N // ~M", "A v (B & C) // A")
    check = leak_check(prompts(*map(TRUTH_TABLE.format, arguments)))
    assert verdicts(check, TRUTH_TABLE.format("T & U"), TRUTH_TABLE.format("K & L // K")) == [set(), {"contaminated"}]


def test_an_instruction_is_no_leak_where_one_item_alone_has_it():
    check = leak_check(prompts(TRUTH_TABLE.format("P -> Q")))
    assert verdicts(check, TRUTH_TABLE.format("R & S"), TRUTH_TABLE.format("P -> Q")) == [set(), {"contaminated"}]


def test_other_numbers_and_names_in_a_template_are_no_proof():
    problem = (
        "{} buys {} crates of plums at 31 dollars each and sells all of them again. How large is the profit of {}?"
    )
    check = leak_check(prompts(problem.format("Mara", 72, "Mara").replace("31", "44")))
    other, same_name = problem.format("Ivo", 55, "Ivo"), problem.format("Mara", 55, "Mara")
    assert verdicts(check, other, same_name) == [set(), {"flag_for_review"}]


def test_a_copy_with_single_words_changed_is_found():
    changed = LIGHTHOUSE.replace("first week", "first month").replace("stays above", "remains over")
    assert verdicts(leak_check(prompts(LIGHTHOUSE)), changed) == [{"contaminated"}]


def test_a_translation_is_for_review():
    leaks = leak_check(prompts(TRAIN_ASKED)).check([said(TRAIN_IN_FRENCH)])
    assert [(leak.how, leak.verdict) for leak in leaks] == [("figures", "flag_for_review")]


def test_the_same_numbers_in_an_unrelated_text_are_nothing():
    other = "Please book a table for 60 guests, the hall is free again in 1.5 weeks, as far as I know."
    assert verdicts(leak_check(prompts(TRAIN_ASKED)), other) == [set()]


@pytest.mark.parametrize("text", ["", "no number", "only 1234", "1 2 3", "10 and 20 " * 10])
def test_few_or_many_numbers_tell_nothing(text):
    assert figures(text) is None


def test_figures_do_not_depend_on_how_a_language_writes_them():
    assert figures("1,840 of 2.5") == figures("2,5 von 1.840") == figures("２．５ ١٬٨٤٠")


def test_no_copy_is_left_behind_by_a_cap():
    check = leak_check(prompts("What is 2+2?", "What is 2-2?"))
    leaks = check.check([said("what is 2 + 2")] * 101)
    assert [(leak.example, leak.ref.item_id) for leak in leaks] == [(n, "0") for n in range(101)]


def test_a_short_item_is_found_as_a_whole_line():
    check = leak_check(prompts("What is 2+2?", "Hello"))
    rows = ("Question: What is 2+2?\nAnswer:", "What is 2+2*7?", "Hello there, how are you?", "hello!")
    assert verdicts(check, *rows) == [{"contaminated"}, set(), set(), {"flag_for_review"}]


def test_items_too_short_for_runs_are_reported():
    check = leak_check([*prompts("What is 2+2?", LIGHTHOUSE), BenchmarkItem("bench", "1", "answer", "21")])
    assert {(ref.item_id, ref.side) for ref in check.index.too_short()} == {("0", "prompt"), ("1", "answer")}


def test_a_text_without_spaces_is_matched_by_characters():
    item = "一列货车在三小时内行驶了两百四十公里，然后以同样的速度继续行驶，问它在一整天里能走多远？"
    other = "请把下面这段文字翻译成英语，并且解释你所做的每一个选择，最后再给出一个简短的总结。"
    check = leak_check(prompts(item))
    assert verdicts(check, f"老师问：{item}谢谢", other) == [{"contaminated"}, set()]


def test_an_item_of_several_benchmarks_is_told_for_each():
    items = [*prompts(LIGHTHOUSE, benchmark="one"), *prompts(LIGHTHOUSE.upper(), benchmark="two")]
    leaks = leak_check(items).check([said(LIGHTHOUSE)])
    assert [leak.ref.benchmark for leak in leaks] == ["one", "two"]


class WordSwapEncoder:
    """Embeds by the words of a text, so that equal bags of words are equal."""

    name = fingerprint = "bag-of-words"

    def encode(self, texts):
        rows = np.zeros((len(texts), 256), np.float32)
        for row, text in enumerate(texts):
            cut = words([text]).hashes.values
            np.add.at(rows[row], (cut % np.uint64(256)).astype(int), 1)
        n = np.array([len(text.split()) for text in texts], np.int32)
        unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return Embedded(unit, n, np.zeros(len(texts), bool), "numpy")


def test_a_question_in_another_order_is_for_review_by_its_meaning():
    item = "which of the two harbours freezes earlier in a hard winter and why"
    other = "and why freezes in a hard winter which of the two harbours earlier"
    check = leak_check(prompts(item), encoder=WordSwapEncoder())
    leaks = check.check([said(other), said(other, role="assistant"), said("how do I bake bread without an oven")])
    assert [(leak.example, leak.how, leak.verdict) for leak in leaks] == [(0, "meaning", "flag_for_review")]


def test_a_blind_check_fails_instead_of_finding_nothing():
    check = leak_check(prompts(LIGHTHOUSE))
    blind = type(check)(build_index(prompts(TRAIN_ASKED))[0], check.limits, check.planted, {})
    with pytest.raises(CanaryMissedError, match="missed 4") as raised:
        blind.check([said("anything at all")])
    assert "lighthouse" not in str(raised.value)


def test_one_canary_that_is_missed_is_enough():
    planted = canaries([LIGHTHOUSE, TRAIN_ASKED])
    found = [{one.item} for one in planted]
    require_found(planted, found)
    found[-1] = set()
    with pytest.raises(CanaryMissedError, match="missed 1"):
        require_found(planted, found)


def test_canaries_have_every_form():
    assert {one.form for one in canaries([LIGHTHOUSE])} == set(FORMS)
    assert len(canaries([f"{n} {LIGHTHOUSE}" for n in range(1000)])) == 16


def test_canaries_are_not_told_as_leaks():
    assert leak_check(prompts(LIGHTHOUSE)).check([]) == []


def test_benchmarks_without_a_word_are_refused():
    with pytest.raises(BenchmarkError, match="wanted items with words"):
        build_index(prompts("", " ?! "))


def test_the_check_travels_to_workers():
    check = pickle.loads(pickle.dumps(leak_check(prompts(LIGHTHOUSE))))
    assert verdicts(check, LIGHTHOUSE) == [{"contaminated"}]


@pytest.mark.parametrize(("name", "value"), [("cover", 0), ("cosine", 1.5), ("stretch", 0)])
def test_thresholds_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}: wanted"):
        LeakThresholds(**{name: value})


def test_the_digest_tells_lists_apart_and_not_their_order():
    one, two = prompts(LIGHTHOUSE, TRAIN_ASKED), prompts(LIGHTHOUSE, f"{TRAIN_ASKED} ")
    assert build_index(one)[0].digest == build_index(one[::-1])[0].digest != build_index(two)[0].digest


TEXTS = st.text(min_size=1, max_size=200)
VOCABULARY = st.lists(
    st.sampled_from(["the", "a", "ship", "keeper", "counts", "214", "May", "week", "北", "京", "的", "Q", "v", "+"]),
    max_size=40,
)


@given(st.lists(TEXTS | VOCABULARY.map(" ".join), min_size=1, max_size=6))
@settings(max_examples=50, deadline=None)
def test_every_item_is_found_in_a_copy_of_itself(texts):
    items = [one for one in prompts(*texts) if len(words([one.text]).hashes.values)]
    if not items:
        return
    check = leak_check(items)
    leaks = check.check([said(one.text) for one in items])
    for row, one in enumerate(items):
        assert one.item_id in {leak.ref.item_id for leak in leaks if leak.example == row}


@given(st.lists(VOCABULARY.map(" ".join), min_size=1, max_size=5), st.lists(VOCABULARY.map(" ".join), max_size=4))
@settings(max_examples=50, deadline=None)
def test_a_batch_finds_what_its_examples_find_alone(texts, others):
    items = prompts(*texts)
    if not len(words(texts).hashes.values):
        return
    check = leak_check(items)
    together = check.check([said(text) for text in others])
    alone = [leak for n, text in enumerate(others) for leak in (check.check([said(text)]))]
    assert [(one.ref, one.verdict, one.score) for one in together] == [
        (one.ref, one.verdict, one.score) for one in alone
    ]


def longest_common(left, right):
    best = 0
    for i in range(len(left)):
        for j in range(len(right)):
            n = 0
            while i + n < len(left) and j + n < len(right) and left[i + n] == right[j + n]:
                n += 1
            best = max(best, n)
    return best


NUMERALS = st.lists(
    st.sampled_from(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]), max_size=30
)


@given(NUMERALS, NUMERALS)
@settings(max_examples=80, deadline=None)
def test_the_longest_stretch_is_at_least_that_of_a_plain_comparison(left, right):
    if not left:
        return
    index, _ = build_index(prompts(" ".join(left)))
    found = overlaps(index, [[" ".join(right)]], 1e-9, 1)
    stretch = int(found.stretch[0]) if len(found) and not found.whole[0] else 0
    wanted = longest_common(left, right)
    assert stretch >= wanted if wanted >= 8 else stretch == 0
    if stretch:
        assert 0 < found.cover[0] <= 1


@given(TEXTS)
def test_case_spaces_and_punctuation_make_no_other_words(text):
    changed = "  ".join(text.split()) + " !"
    assert whole_keys(words([text]).hashes)[0] == whole_keys(words([changed]).hashes)[0]
