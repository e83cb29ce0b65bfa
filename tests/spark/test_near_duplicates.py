"""Near duplicates at size: the answers of the index, from stored signatures, whatever the batch."""

import datetime as dt
import random

import pytest
from pyspark.sql import functions as F

from pipelines.datasets import near_duplicates
from pipelines.datasets.near_duplicates import giant_clusters, signatures_of
from pipelines.duplicates.arrow_columns import from_arrow
from pipelines.duplicates.index import EXACT, AcceptedIndex
from schemas import DUPLICATE_SIGNATURES

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "mo", "ti") for b in ("lan", "rop", "vex", "dim", "zor") for c in "aeiou"]
COLUMNS = "tenant string, subject_id string, at timestamp, text string"


def sentence(seed, size=30):
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def edited(text, seed, count):
    draw, words = random.Random(seed), text.split()
    for place in draw.sample(range(len(words)), count):
        words[place] += "s"
    return " ".join(words)


def drawn(seed, bases=25, count=90):
    """Texts of which many nearly repeat each other, some to and fro across the threshold, some short or templated."""
    draw = random.Random(seed)
    texts = [edited(sentence(draw.randrange(bases)), draw.random(), draw.randrange(8)) for _ in range(count)]
    texts += ["yes", "yes", "go on please", "", f"{sentence(1)} order 4711", f"{sentence(1)} order 4712"]
    draw.shuffle(texts)
    return texts


class Frames:
    """Rows of (id, text) of one tenant, in order of time."""

    def __init__(self, spark):
        self.spark, self.minute = spark, 0

    def of(self, rows, tenant="default"):
        told = []
        for name, text in rows:
            self.minute += 1
            told.append((tenant, name, START + dt.timedelta(minutes=self.minute), text))
        return self.spark.createDataFrame(told, COLUMNS)


@pytest.fixture
def frames(spark):
    return Frames(spark)


def find_near_duplicates(candidates, accepted, threshold=0.8):
    return near_duplicates.find_near_duplicates(candidates, accepted, threshold, hold=lambda frame: frame.cache())


def told(frame):
    return {row.subject_id: (row.matched_id, round(row.score, 9)) for row in frame.collect()}


def test_new_texts_get_the_answers_of_the_index_and_a_retried_batch_the_same_again(frames):
    old = [(f"old-{place:03}", text) for place, text in enumerate(drawn(1))]
    new = [(f"new-{place:03}", text) for place, text in enumerate(drawn(2))]
    index, answers = AcceptedIndex(), []
    for rows in (old, new):
        batch = index.batch([one for one, _ in rows], [text for _, text in rows], ranks=range(len(rows)))
        found = zip(batch.ids, index.take(batch), strict=True)
        answers.append({one: verdict for one, verdict in found if verdict.dropped})
    wanted = [
        {one: (v.matched_id, round(v.score, 9)) for one, v in found.items() if v.rule != EXACT} for found in answers
    ]
    equal = {one for found in answers for one, verdict in found.items() if verdict.rule == EXACT}

    nothing = frames.spark.createDataFrame([], DUPLICATE_SIGNATURES.spark_schema)
    first, second = frames.of(old), frames.of(new)
    among = told(find_near_duplicates(first, nothing))
    assert {one: match for one, match in among.items() if one not in equal} == wanted[0]
    staying = signatures_of(first).where(~_is_in(answers[0]))
    against = told(find_near_duplicates(second, staying))
    assert {one: match for one, match in against.items() if one not in equal} == wanted[1]
    assert len(wanted[0]) > 20 < len(wanted[1])
    assert {match for match, _ in against.values()}.isdisjoint(against)

    accepted = staying.unionByName(signatures_of(second).where(~_is_in(answers[1])))
    assert told(find_near_duplicates(second, accepted)) == against


def _is_in(found):
    return F.col("subject_id").isin(sorted(found))


def test_signatures_are_rows_of_their_table_and_serve_without_the_text(frames):
    texts = frames.of([("a", sentence(3)), ("b", sentence(3) + " also"), ("c", "yes"), ("d", None)])
    signatures = signatures_of(texts).cache()
    assert signatures.columns == DUPLICATE_SIGNATURES.column_names
    assert not [row.v for row in signatures.select(DUPLICATE_SIGNATURES.violations().alias("v")).collect() if row.v]
    assert told(find_near_duplicates(signatures, signatures.limit(0))) == {"b": ("a", pytest.approx(0.98, abs=0.01))}
    ids, rows = from_arrow(signatures.orderBy("subject_id").toArrow())
    index = AcceptedIndex()
    again = index.batch(["a", "b", "c", "d"], [sentence(3), sentence(3) + " also", "yes", ""])
    assert ids == ["a", "b", "c", "d"]
    assert (rows.bands == again.rows.bands).all()
    assert (rows.bytes == again.rows.bytes).all()
    signatures.unpersist()


def test_tenants_are_never_compared_and_short_texts_never_merge(frames):
    rows = [("a", sentence(4)), ("b", "go on"), ("c", "go on!")]
    both = frames.of(rows, "one").unionByName(frames.of([(f"{name}-2", text) for name, text in rows], "two"))
    accepted = signatures_of(frames.of(rows, "three"))
    assert told(find_near_duplicates(both, accepted)) == {}


def test_signatures_of_another_version_or_threshold_are_refused(frames):
    texts = frames.of([("a", sentence(5))])
    other = frames.of([("b", sentence(5))])
    old = signatures_of(other).withColumn("sketch_version", F.lit(0))
    for accepted, threshold in ((old, 0.8), (signatures_of(other), 0.6)):
        with pytest.raises(Exception, match="make the signatures anew"):
            find_near_duplicates(texts, accepted, threshold).collect()
    assert told(find_near_duplicates(texts, signatures_of(other), 0.95)) == {"a": ("b", 1.0)}
    with pytest.raises(ValueError, match="threshold"):
        find_near_duplicates(texts, old, 1.2)


def test_a_giant_cluster_is_told(spark):
    rows = [("default", f"s{number}", "first", 1.0) for number in range(1001)]
    rows += [("default", f"t{number}", "second", 1.0) for number in range(900)]
    frame = spark.createDataFrame(rows, "tenant string, subject_id string, matched_id string, score double")
    assert [tuple(row) for row in giant_clusters(frame, 2000).collect()] == [("default", "first", 1001)]
    assert giant_clusters(frame, 100_000).collect() == []
