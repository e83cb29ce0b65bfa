"""Near duplicates: new rows go, exactly one of a cluster stays, and texts that say something else stay apart."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.duplicates.cluster import NONE, clusters, giants
from pipelines.duplicates.index import EXACT, NEAR, AcceptedIndex, Verdict
from pipelines.duplicates.sketches import sketches
from pipelines.duplicates.verify import Likeness, near_duplicates, worded_alike

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "curation.jsonl"
WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "mo", "ti", "su") for b in ("lan", "rop", "vex", "dim") for c in "aeiou"]
quickly = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def taken(texts, index=None, threshold=0.8):
    index = AcceptedIndex(Likeness(threshold)) if index is None else index
    return index.take(index.batch([f"{place:04}" for place in range(len(texts))], texts))


def kept(texts):
    return [place for place, verdict in enumerate(taken(texts)) if not verdict.dropped]


def case(name):
    if not CASES.exists():
        pytest.skip("the cases are not there")
    return next(found for found in map(json.loads, CASES.read_text().splitlines()) if found["id"] == name)


def sentence(seed, size=40):
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def edited(text, seed, share):
    draw, words = random.Random(seed), text.split()
    for place in draw.sample(range(len(words)), max(1, int(share * len(words)))):
        words[place] += "s"
    return " ".join(words)


def test_short_texts_go_only_when_they_are_equal():
    short = ["yes", "no", "yes", "Yes", "yes!", "thank you very much", "thank you very much!"]
    assert kept(short) == [0, 1, 3, 4, 5, 6]
    assert kept(["", "  ", "🙂", "🙃"]) == [0, 2, 3]


def test_white_space_makes_no_text_another_one():
    assert taken(["go on", "go \n on "])[1] == Verdict(EXACT, "0000", 1.0)


def test_case_and_punctuation_make_a_near_duplicate():
    verdicts = taken(["how do i reset my router to defaults", "How do I reset my router to defaults?!"])
    assert verdicts == [Verdict(), Verdict(NEAR, "0000", 1.0)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is the balance of account 1506 in Lamar?", "What is the balance of account 1507 in Lamar?"),
        ("What is the balance of account 1506 in Lamar?", "What is the balance of account 1506 in Oswyn?"),
        ("please explain the difference between C++ and C", "please explain the difference between C# and C"),
        ("how much is 5 + 3 if you please tell me", "how much is 5 - 3 if you please tell me"),
        ("it rose by 5 to the sum of 10 in all", "it rose by -5 to the sum of 10 in all"),
        ("book a table for two people near the window", "book a table for six people near the window"),
        ("is the weather in oslo good enough for a walk", "is the weather in rome good enough for a walk"),
        ("translate from Spanish to English what I wrote", "translate from English to Spanish what I wrote"),
        ("the price went from 15 to 20 and back to 15", "the price went from 20 to 15 and back to 20"),
        ("does this pill cost $5 or more in the shop", "does this pill cost €5 or more in the shop"),
        ("从北京到上海的火车票多少钱一张", "从北京到广州的火车票多少钱一张"),
        ("how do i increase the size of my swap file here", "how do i decrease the size of my swap file here"),
        ("you should give this drug to small children", "you should not give this drug to small children"),
        ("you can mix these two pills with a beer", "you can't mix these two pills with a beer"),
        ("ich kann morgen um zehn zu dir kommen", "ich kann morgen um zehn nicht zu dir kommen"),
    ],
)  # fmt: skip
def test_a_short_text_with_another_number_name_sign_or_word_is_another_text(one, other):
    assert kept([one, other]) == [0, 1]
    assert kept([other, one]) == [0, 1]


def test_a_slip_of_the_pen_makes_no_other_text():
    assert kept(["how do i reset my router to the defaults", "how do i reset my roiter to the defaults"]) == [0]


def test_a_form_letter_with_other_values_is_another_text_and_a_page_with_another_date_the_same():
    letter = f"{sentence(1, 80)} your order 4711 goes to Lamar today"
    assert kept([letter, letter.replace("4711", "4712")]) == [0, 1]
    assert kept([letter, letter.replace("Lamar", "Oswyn")]) == [0, 1]
    page = f"{sentence(2, 900)} printed on 2031-05-07"
    assert kept([page, page.replace("07", "08")]) == [0]


def test_a_longer_text_that_says_not_once_more_is_another_text():
    text = f"{sentence(6, 60)} you may take it with you {sentence(7, 30)}"
    assert kept([text, text.replace("may take", "may not take")]) == [0, 1]


def test_the_same_words_in_another_order_are_another_text():
    words = sentence(3, 60).split()
    assert kept([" ".join(words), " ".join(sorted(words))]) == [0, 1]


def test_a_text_inside_a_much_longer_one_stays():
    assert kept([sentence(4, 30), sentence(4, 30) + " " + sentence(5, 60)]) == [0, 1]


def test_texts_of_scripts_without_spaces_are_compared_by_characters():
    assert kept(["请问如何重置我的路由器到出厂设置呢", "请问，如何重置我的路由器到出厂设置呢！"]) == [0]
    assert kept(["今日は天気がとても良いので散歩に行きたい", "明日は雨が降るらしいので家で本を読みたい"]) == [0, 1]


def test_without_spaces_a_text_is_as_long_as_half_of_its_characters():
    page = "请问如何重置我的路由器到出厂设置呢昨天打电话来的师傅说要等" * 10
    for characters, stay in ((260, [0, 1]), (520, [0])):
        text = (page + page)[:characters]
        assert kept([f"{text}，共5台。", f"{text}，共7台。"]) == stay


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("", "", True),
        ("yes", "Yes!", True),
        ("thanks for the help", "thanks so much for the help", True),
        ("how do i turn it on", "how do i turn it on please", True),
        ("yes", "no", False),
        ("how do i turn it up again", "how do i turn it off again", False),
        ("is it 5 or so from here", "is it 7 or so from here", False),
        (sentence(1, 60), sentence(2, 60), False),
    ],
)
def test_parts_of_texts_are_worded_alike_however_short(one, other, alike):
    likeness = Likeness()
    assert worded_alike(sketches([one], likeness.cut()), sketches([other], likeness.cut()), likeness).tolist() == [
        alike
    ]


def test_full_width_and_apostrophes_are_unified():
    assert kept(["why don't you tell me more about it", "ｗｈｙ don’t you tell me more about it"]) == [0]


@pytest.mark.parametrize("name", ["cur-02", "cur-04", "cur-08", "cur-10"])
def test_the_open_cases_of_kept_texts_pass(name):
    found = case(name)
    texts = found["input"].get("texts") or [record["text"] for record in found["input"]["records"]]
    assert kept(texts) == found["expected"]["kept"]


def test_one_of_a_cluster_stays():
    found = case("cur-03")
    assert len(kept(found["input"]["texts"])) == found["expected"]["kept_count"]


def test_an_equal_short_text_is_dropped_as_such():
    found = case("cur-02")
    (dropped,) = found["expected"]["dropped"]
    assert taken(found["input"]["texts"])[dropped["i"]] == Verdict(EXACT, f"{dropped['dup_of']:04}", 1.0)


def test_every_duplicate_names_the_row_that_stays():
    found = case("cur-10")
    texts = [record["text"] for record in found["input"]["records"]]
    matched = [place for place, one in enumerate(taken(texts)) if one.matched_id == "0000"]
    assert matched == found["expected"]["duplicates_of_0"]


def test_a_replayed_batch_does_not_match_its_own_rows():
    found = case("cur-06")
    index = AcceptedIndex()
    for _ in ("first", "replayed"):
        verdicts = taken(found["input"]["batch"], index)
        assert [place for place, one in enumerate(verdicts) if not one.dropped] == found["expected"]["kept"]


def test_a_new_row_names_the_accepted_row_that_it_repeats():
    found = case("cur-07")
    index = AcceptedIndex()
    accepted, incoming = ([[row[name] for row in found["input"][side]] for name in ("id", "text")]
                          for side in ("accepted", "incoming"))  # fmt: skip
    index.take(index.batch(*accepted))
    verdicts = zip(incoming[0], index.take(index.batch(*incoming)), strict=True)
    dropped = [{"id": one, "dup_of": verdict.matched_id} for one, verdict in verdicts if verdict.dropped]
    assert dropped == found["expected"]["dropped"]


def test_shared_json_scaffold_does_not_chain():
    talks = case("cur-05")["input"]["conversations"]
    assert kept(["\n".join(f"{turn['role']}: {turn['content']}" for turn in talk) for talk in talks]) == [0, 1, 2]


def test_new_rows_go_against_accepted_ones_and_name_them():
    index = AcceptedIndex()
    index.take(index.batch(["old-7"], ["explain the difference between tcp and udp please"]))
    verdict = index.take(index.batch(["new-1"], ["explain the difference between tcp and udp, please"]))
    assert verdict == [Verdict(NEAR, "old-7", 1.0)]
    assert ("old-7" in index, "new-1" in index, len(index)) == (True, False, 1)


def test_a_retried_batch_gets_the_same_answers_and_adds_no_rows():
    texts = [sentence(seed) for seed in range(6)]
    texts += [edited(text, 1, 0.05) for text in texts[:3]] + texts[:2] + ["yes", "yes"]
    index = AcceptedIndex()
    first = taken(texts, index)
    size = len(index)
    assert taken(texts, index) == first
    assert len(index) == size == sum(not verdict.dropped for verdict in first)


def test_deciding_accepts_nothing():
    index = AcceptedIndex()
    assert index.decide(index.batch(["a"], [sentence(1)])) == [Verdict()]
    assert len(index) == 0


def test_a_forgotten_row_matches_nothing_and_is_not_stored_again():
    index = AcceptedIndex()
    index.take(index.batch(["a", "b"], [sentence(1), sentence(2)]))
    assert index.forget(["a", "a", "unknown"]) == 1
    assert list(index.accepted().ids) == ["b"]
    assert index.take(index.batch(["c", "d"], [sentence(1), sentence(2)])) == [Verdict(), Verdict(EXACT, "b", 1.0)]
    assert list(index.accepted().ids) == ["b", "c"]


def test_rows_stay_by_rank_before_id():
    index = AcceptedIndex()
    batch = index.batch(["a", "b"], [sentence(1), sentence(1)], ranks=[2, 1])
    assert index.take(batch) == [Verdict(EXACT, "b", 1.0), Verdict()]


def test_an_id_that_comes_twice_is_refused():
    index = AcceptedIndex()
    with pytest.raises(ValueError, match="2 rows with 1 ids"):
        index.batch(["a", "a"], ["x", "y"])
    index.accept(index.batch(["a"], ["x"]))
    with pytest.raises(ValueError, match="not accepted yet"):
        index.accept(index.batch(["a"], ["x"]))


@pytest.mark.parametrize("threshold", [0.3, 1.01, float("nan")])
def test_a_threshold_that_makes_no_sense_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold"):
        Likeness(threshold)


def test_a_higher_threshold_keeps_more():
    texts = [sentence(1), edited(sentence(1), 1, 0.15)]
    assert [verdict.dropped for verdict in taken(texts, threshold=0.8)] == [False, True]
    assert [verdict.dropped for verdict in taken(texts, threshold=0.95)] == [False, False]


def test_no_rows_are_no_fault():
    assert taken([]) == []
    assert AcceptedIndex().accepted().ids == []


def test_rows_do_not_chain():
    pairs = (np.array([1, 2, 3]), np.array([0, 1, 2]))
    found = clusters(4, pairs, np.array([0.9, 0.8, 0.7]))
    assert found.matched.tolist() == [NONE, 0, NONE, 2]
    assert found.scores.tolist() == [0.0, 0.9, 0.0, 0.7]


def test_a_giant_cluster_raises_the_alarm_and_a_common_one_does_not():
    assert giants(["a"] * 1500 + ["b"] * 20 + [None] * 100) == {"a": 1500}
    assert giants(["a"] * 900) == {}
    assert giants(["a"] * 1500 + [None] * 100_000) == {}


def test_a_full_bucket_is_counted_and_equal_rows_still_go():
    letters = [f"{sentence(1, 60)} number {number}" for number in range(200)]
    index = AcceptedIndex()
    assert not any(verdict.dropped for verdict in taken(letters, index))
    assert index.crowded > 0
    again = index.take(index.batch(["x"], [letters[199]]))
    assert again == [Verdict(EXACT, "0199", 1.0)]


texts_drawn = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from([0.0, 0.03, 0.1, 0.3])), min_size=1, max_size=14
)


def drawn(choices):
    return [sentence(base) if share == 0 else edited(sentence(base), seed, share) for base, seed, share in choices]


@quickly
@given(texts_drawn, st.randoms(use_true_random=False))
def test_the_order_of_a_batch_changes_no_answer(choices, shuffler):
    rows = list(enumerate(drawn(choices)))
    answers = []
    for order in (rows, shuffler.sample(rows, len(rows))):
        index = AcceptedIndex()
        ids = [f"{number:03}" for number, _ in order]
        answers.append(dict(zip(ids, index.take(index.batch(ids, [text for _, text in order])), strict=True)))
    assert answers[0] == answers[1]


@quickly
@given(texts_drawn, st.integers(1, 5))
def test_the_size_of_batches_changes_no_answer(choices, size):
    texts = drawn(choices)
    ids = [f"{number:03}" for number in range(len(texts))]
    index, whole = AcceptedIndex(), AcceptedIndex()
    parts = [range(low, min(low + size, len(ids))) for low in range(0, len(ids), size)]
    found = [one for part in parts for one in index.take(index.batch([ids[i] for i in part], [texts[i] for i in part]))]
    assert [one.dropped for one in found] == [one.dropped for one in whole.take(whole.batch(ids, texts))]
    assert list(index.accepted().ids) == list(whole.accepted().ids)


@quickly
@given(texts_drawn)
def test_every_dropped_row_matches_one_that_stays_and_is_like_it(choices):
    texts = drawn(choices)
    verdicts = taken(texts)
    index = AcceptedIndex()
    for place, verdict in enumerate(verdicts):
        if not verdict.dropped:
            assert verdict == Verdict()
            continue
        first = int(verdict.matched_id)
        assert first < place
        assert not verdicts[first].dropped
        rows = index.batch(["a", "b"], [texts[first], texts[place]]).rows
        alike, scores = near_duplicates(rows, rows, (np.array([0]), np.array([1])), Likeness())
        assert texts[first] == texts[place] or (alike[0] and scores[0] == verdict.score >= 0.8)


def test_planted_copies_are_found_and_only_they():
    texts = [sentence(seed, 20 + seed % 60) for seed in range(300)]
    copies = [edited(text, 9, 0.1 if len(text.split()) > 30 else 0.05) for text in texts]
    index = AcceptedIndex()
    assert not any(one.dropped for one in taken(texts, index))
    verdicts = index.take(index.batch([f"new-{place:04}" for place in range(300)], copies))
    right = sum(one.matched_id == f"{place:04}" for place, one in enumerate(verdicts))
    assert right >= 297
    assert right == sum(one.dropped for one in verdicts)
