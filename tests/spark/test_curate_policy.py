"""What a policy adds to a cut: bounds on signals, near duplicates and leaks, benchmarks, caps, topics."""

import datetime as dt
import math
import random

import pytest
from pyspark.sql import functions as F

from pipelines.datasets.caps import capped
from pipelines.datasets.contamination import contaminated
from pipelines.datasets.curate import Finders, said_in_other_words
from pipelines.datasets.decontaminate import flag_leaks
from pipelines.datasets.exchange_sides import both_sides_alike
from pipelines.datasets.policy import Bound, Caps, Contamination, CurationPolicy, NearDuplicates, Topics
from pipelines.datasets.repeats import near_duplicates
from pipelines.datasets.topic_rows import with_topics
from pipelines.datasets.verdicts import VERDICT, broken_bounds
from pipelines.decontamination.check import leak_check
from pipelines.decontamination.items import BenchmarkItem
from schemas import EMBEDDINGS

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
ROWS = (
    "tenant string, turn_id string, example_id string, at timestamp, split string, source string, "
    f"conversation_id string, user_ref string, topic int, verdict {VERDICT}"
)


def rows_of(spark, rows):
    """Rows that are compared, each with defaults for what it does not say; a list of the columns that differ."""
    made = []
    for nth, more in enumerate(rows):
        turn_id = more.get("turn_id", f"t{nth:03d}")
        row = {
            "tenant": "default",
            "turn_id": turn_id,
            "example_id": f"e-{turn_id}",
            "at": START + dt.timedelta(minutes=nth),
            "split": "train",
            "source": "openai_chat",
            "conversation_id": f"c-{turn_id}",
            "user_ref": None,
            "topic": None,
            "verdict": None,
        }
        made.append(row | more)
    return spark.createDataFrame(made, ROWS)


def verdicts_of(frame):
    """Rule, score, threshold and matched id of each dropped row by its turn."""
    dropped = frame.where("verdict IS NOT NULL").collect()
    return {row.turn_id: (row.verdict.rule, row.verdict.score, row.verdict.threshold, row.verdict.matched_id)
            for row in dropped}  # fmt: skip


def pairs_of(spark, *pairs):
    return spark.createDataFrame(
        [("default", *pair) for pair in pairs], "tenant string, subject_id string, matched_id string, score double"
    )


def test_bounds_of_every_kind_are_broken_beyond_their_limit_alone_and_by_no_missing_value(spark):
    bounds = (
        Bound("answer", "n_words", above=10),
        Bound("prompt", "injection_score", at_least=0.5),
        Bound("prompt", "lang_score", below=0.3),
        Bound("answer", "code_validity", any_of=("invalid",)),
    )
    policy = CurationPolicy(bounds=bounds)
    within = {
        "answer.n_words": 10.0,
        "prompt.injection_score": 0.49,
        "prompt.lang_score": 0.3,
        "answer.code_validity": 0.0,
    }
    beyond = {
        "answer.n_words": 11.0,
        "prompt.injection_score": 0.5,
        "prompt.lang_score": 0.2,
        "answer.code_validity": 1.0,
    }
    names = [bound.name for bound in policy.bounds]
    rows = [("none", *[None] * 4), ("within", *(within[name] for name in names))]
    rows += [(name, *(beyond[n] if n == name else within[n] for n in names)) for name in names]
    columns = ", ".join(f"measure_{nth} double" for nth in range(4))
    frame = spark.createDataFrame(rows, f"turn_id string, {columns}")
    why = F.coalesce(*(F.when(broken, verdict) for broken, verdict in broken_bounds(policy)))
    limits = {
        "answer.n_words": 10.0,
        "prompt.injection_score": 0.5,
        "prompt.lang_score": 0.3,
        "answer.code_validity": 1.0,
    }
    assert verdicts_of(frame.withColumn("verdict", why)) == {
        name: (f"signal:{name}", beyond[name], limits[name], None) for name in names
    }


def test_of_a_cluster_the_row_that_the_others_match_stays_and_is_named(spark):
    rows = rows_of(spark, [{"turn_id": name} for name in ("a", "b", "c", "other")])
    judged = near_duplicates(rows, pairs_of(spark, ("b", "a", 0.9), ("c", "a", 0.85)), NearDuplicates())
    assert verdicts_of(judged) == {
        "b": ("near_duplicate", 0.9, 0.8, "a"),
        "c": ("near_duplicate", 0.85, 0.8, "a"),
    }


def test_a_policy_may_keep_more_than_one_of_a_cluster_the_earliest(spark):
    rows = rows_of(spark, [{"turn_id": name} for name in "abcd"])
    pairs = pairs_of(spark, ("d", "a", 0.9), ("c", "a", 0.9), ("b", "a", 0.9))
    assert set(verdicts_of(near_duplicates(rows, pairs, NearDuplicates(max_per_cluster=2)))) == {"c", "d"}


@pytest.mark.parametrize(
    ("held_out", "leaks", "repeats"),
    [({"a"}, {"b": "a", "c": "a"}, {}), ({"b"}, {"a": "b", "c": "b"}, {}), ({"b", "c"}, {"a": "b"}, {"c": "a"})],
)
def test_where_a_cluster_crosses_the_split_validation_keeps_one_and_train_none(spark, held_out, leaks, repeats):
    rows = rows_of(spark, [{"turn_id": n, "split": "validation" if n in held_out else "train"} for n in "abc"])
    pairs = pairs_of(spark, ("b", "a", 0.9), ("c", "a", 0.85))
    found = verdicts_of(near_duplicates(rows, pairs, NearDuplicates()))
    assert {turn: why[3] for turn, why in found.items() if why[0] == "split_leak"} == leaks
    assert {turn: why[3] for turn, why in found.items() if why[0] == "near_duplicate"} == repeats
    assert all(why[1] is not None for why in found.values())


def flood(n=30):
    """One user who talks most, some others, some without a name, in two formats."""
    rows = [{"user_ref": "loud", "source": "sharegpt"} for _ in range(n)]
    rows += [{"user_ref": f"user-{nth}", "source": "openai_chat"} for nth in range(10)]
    return rows + [{"source": "alpaca"} for _ in range(10)]


def test_caps_hold_for_each_origin_and_tell_rank_and_cap(spark):
    judged = capped(rows_of(spark, flood()), CurationPolicy(caps=Caps(user=5, source=8, tenant=18)))
    found = verdicts_of(judged).values()
    counts = {rule: sum(why[0] == rule for why in found) for rule in ("cap_user", "cap_source", "cap_tenant")}
    assert counts == {"cap_user": 25, "cap_source": 4, "cap_tenant": 3}
    assert sorted(why[1] for why in found if why[0] == "cap_user") == [float(rank) for rank in range(6, 31)]
    assert {(why[0], why[2]) for why in found} == {("cap_user", 5.0), ("cap_source", 8.0), ("cap_tenant", 18.0)}


def test_a_draw_depends_on_seed_and_ids_and_never_on_arrival(spark):
    rows = flood()
    for nth, row in enumerate(rows):
        row |= {"turn_id": f"t{nth}", "at": START}
    mixed = rows[:]
    random.Random(1).shuffle(mixed)
    drawn = [
        verdicts_of(capped(rows_of(spark, some), CurationPolicy(caps=Caps(user=5), seed=seed)))
        for some, seed in ((rows, 0), (mixed, 0), (rows, 1))
    ]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) != set(drawn[2])


def test_rows_that_are_dropped_already_take_no_room_under_a_cap(spark):
    gone = {"verdict": {"rule": "consent", "score": None, "threshold": None, "matched_id": None}}
    rows = rows_of(spark, [{"user_ref": "u", **(gone if nth < 5 else {})} for nth in range(8)])
    found = verdicts_of(capped(rows, CurationPolicy(caps=Caps(user=3))))
    assert {why[0] for why in found.values()} == {"consent"}


def test_a_topic_that_fills_the_version_is_cut_to_its_share_and_named(spark):
    """Vectors of two directions: 90 questions about routers, 30 about refunds."""
    asked, vectors = [], []
    chance = random.Random(3)
    for nth in range(120):
        about = "router" if nth < 90 else "refund"
        turn = {"turn_id": f"t{nth}", "tenant": "default", "text": f"the {about} {nth}", "text_hash": f"h{nth}"}
        asked.append(turn)
        direction = (1.0, 0.0) if nth < 90 else (0.0, 1.0)
        noisy = [x + chance.uniform(-0.05, 0.05) for x in direction]
        length = sum(x * x for x in noisy) ** 0.5
        vectors.append(EMBEDDINGS.row(text_hash=f"h{nth}", vector=[x / length for x in noisy]))
    candidates = spark.createDataFrame(asked, "turn_id string, tenant string, text string, text_hash string")
    candidates = candidates.withColumn("question", F.struct("text", "text_hash")).drop("text", "text_hash")
    rows = rows_of(spark, [{"turn_id": f"t{n}", "user_ref": f"u{n % 20}"} for n in range(121)]).drop("topic")
    policy = CurationPolicy(caps=Caps(user=None), topics=Topics(max_share=0.5, count=2))
    with_topic, topics = with_topics(rows, candidates, spark.createDataFrame(vectors, EMBEDDINGS.spark_schema), policy)
    found = verdicts_of(capped(with_topic, policy))
    assert sorted(topic.name for topic in topics) == ["refund, the", "router, the"]
    assert len(found) == 30
    assert {why[0] for why in found.values()} == {"cap_topic"}
    assert all(int(turn[1:]) < 90 and why[2] == 60.0 for turn, why in found.items())


ITEM = "A snail climbs a wall of 37 metres by day, slips back 4 metres at night; when is it on top of Weir Hall?"


@pytest.fixture(scope="module")
def leaky(spark):
    """Rows of which one asks an item of a benchmark, and the leaks that are found in them."""
    texts = {"clean": "How do I bake bread without yeast?", "leaked": f"Please solve this. {ITEM}"}
    rows = rows_of(spark, [{"turn_id": name} for name in texts])
    asked = "array<struct<role:string,text:string,tool_calls:array<struct<id:string,name:string,arguments:string>>>>"
    examples = spark.createDataFrame(
        [("default", f"e-{n}", [{"role": "user", "text": t, "tool_calls": []}], []) for n, t in texts.items()],
        f"tenant string, example_id string, prompt {asked}, completion {asked}",
    )
    check = leak_check([BenchmarkItem("riddles", "q7", "prompt", ITEM)])
    return rows, flag_leaks(examples, check).persist()


def test_an_example_that_holds_an_item_is_dropped_and_names_it(leaky):
    rows, flags = leaky
    found = verdicts_of(contaminated(rows, flags, Contamination()))
    assert {turn: (why[0], why[3]) for turn, why in found.items()} == {"leaked": ("contaminated", "riddles#q7")}


def test_a_policy_may_only_flag_and_the_evidence_is_there_all_the_same(leaky):
    rows, flags = leaky
    assert not verdicts_of(contaminated(rows, flags, Contamination(action="flag")))
    assert [(row.example_id, row.item, row.verdict) for row in flags.collect()] == [("e-leaked", "q7", "contaminated")]


EXCHANGES = (
    ("first", "how can I reset the box", "hold the button until it blinks twice"),
    ("other_words", "what makes my router forget everything", "press until a light flashes"),
    ("other_answer", "what brings it back to factory state", "there is an app for that"),
    ("other_question", "why does the lamp flicker", "keep it pressed and wait"),
    ("without_vector", "could you get it back to default", "push it for long"),
)
DEGREES = {"first": (0, 0), "other_words": (6, 9), "other_answer": (3, 60), "other_question": (60, 3)}


def asked_and_answered(spark):
    """Rows, candidates and vectors of ``EXCHANGES``; the angles between vectors are those of ``DEGREES``."""
    rows = rows_of(spark, [{"turn_id": name} for name, *_ in EXCHANGES])
    message = "struct<role:string,text:string,tool_calls:array<struct<id:string,name:string,arguments:string>>>"
    candidates = spark.createDataFrame(
        [
            ("default", name, START + dt.timedelta(minutes=nth), f"{asked}\n{answer}", (asked, f"{name}-q"),
             ("assistant", answer, []), f"{name}-a", "en")
            for nth, (name, asked, answer) in enumerate(EXCHANGES)
        ],
        "tenant string, turn_id string, at timestamp, exchange string, question struct<text:string,text_hash:string>, "
        f"message {message}, text_hash string, language string",
    )  # fmt: skip
    vectors = [
        EMBEDDINGS.row(text_hash=f"{name}-{side}", vector=[math.cos(math.radians(d)), math.sin(math.radians(d))])
        for name, degrees in DEGREES.items()
        for side, d in zip("qa", degrees, strict=True)
    ]
    return rows, candidates, spark.createDataFrame(vectors, EMBEDDINGS.spark_schema)


def test_an_exchange_in_other_words_goes_when_question_and_answer_both_say_the_same(spark):
    rows, candidates, vectors = asked_and_answered(spark)
    settings = NearDuplicates(semantic_threshold=0.97, min_chars=0)
    policy, finders = CurationPolicy(near_duplicates=settings), Finders(embeddings=vectors)
    found = verdicts_of(said_in_other_words(rows, candidates, policy, finders, lambda frame: frame))
    assert found == {
        "other_words": ("semantic_duplicate", pytest.approx(math.cos(math.radians(9)), abs=1e-6), 0.97, "first")
    }
    stricter = CurationPolicy(near_duplicates=NearDuplicates(semantic_threshold=0.999, min_chars=0))
    assert not verdicts_of(said_in_other_words(rows, candidates, stricter, finders, lambda frame: frame))
    japanese = candidates.withColumn("language", F.lit("ja"))
    assert not verdicts_of(said_in_other_words(rows, japanese, policy, finders, lambda frame: frame))
    off = CurationPolicy(near_duplicates=NearDuplicates(semantic_threshold=None))
    assert said_in_other_words(rows, candidates, off, finders, lambda frame: frame) is rows


def test_one_answer_to_two_questions_and_two_answers_to_one_are_no_near_duplicates(spark):
    answer = "There is a page about it where you find all forms; fill in the quick one and someone calls you back soon."
    said = {
        "first": ("how do I join the choir", answer),
        "again": ("how do I join the choir?", answer.replace("quick", "quik")),
        "other_question": ("what does parking cost", answer),
        "other_answer": ("how do I join the choir", "Please ask in the office."),
    }
    told = spark.createDataFrame(
        [("default", name, *sides) for name, sides in said.items()],
        "tenant string, subject_id string, question string, answer string",
    )
    pairs = pairs_of(spark, *((name, "first", 0.9) for name in said if name != "first"))
    kept = both_sides_alike(pairs, told, 0.8)
    assert [(row.subject_id, row.matched_id, row.score) for row in kept.collect()] == [("again", "first", 0.9)]
