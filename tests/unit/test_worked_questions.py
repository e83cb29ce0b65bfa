"""The eight questions of the README, in SQL and in Python, on a small lake whose answers are known."""

from __future__ import annotations

import datetime as dt
import math
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.lake_reader import open_lake
from pipelines.datasets.rules import meaning
from schemas import (
    CONVERSATIONS,
    DATASET_VERSIONS,
    DROPS,
    EMBEDDINGS,
    FEEDBACK,
    TRAINING_EXAMPLES,
    TURN_SIGNALS,
    TURNS,
)

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
SECTION = README[README.index("### Eight questions") : README.index("### Why turns are not kept")]
QUESTIONS = re.findall(r"^\*\*(.*?)\*\*.*?```sql\n(.*?)```.*?```python\n(.*?)```", SECTION, re.DOTALL | re.MULTILINE)
BLOCKS = {title.split("?")[0]: (sql, python) for title, sql, python in QUESTIONS}
FROM_PYTHON = re.search(r"^### From Python\n(.*?)^### ", README, re.DOTALL | re.MULTILINE)[1]

DECEMBER, JANUARY = (dt.datetime(2025, 12, 9, tzinfo=dt.UTC), dt.datetime(2026, 1, 9, tzinfo=dt.UTC))
ROUTER, REFUND = (101, 102)
"""Sketches of two questions."""


def talk(nth, user, question, sketch, month, model, **answer):
    """A talk of a question and an answer: its rows of ``turns`` and ``turn_signals``."""
    asked, told = f"q{nth}", f"a{nth}"
    at = {"created_at": month, "user_ref": user, "offset": nth}
    names = [{"field": "/text", "start": 0, "end": 1, "type": "NAME"}] * (2 if nth == 1 else 0)
    turns = [
        TURNS.row(turn_id=asked, text=question, text_hash=f"h{nth}", redactions=names, **at),
        TURNS.row(turn_id=told, parent_id=asked, role="assistant", text=f"answer {nth}", model=model, position=1, **at),
    ]
    signals = [TURN_SIGNALS.row(turn_id=asked, text_sketch=sketch), TURN_SIGNALS.row(turn_id=told, **answer)]
    return turns, signals


TALKS = (
    talk(1, "u1", "Reset my router", ROUTER, DECEMBER, "big", n_words=10),
    talk(2, "u1", "reset my router!", ROUTER, JANUARY, "big", n_words=20),
    talk(3, "u2", "Reset my router", ROUTER, JANUARY, "small", n_words=2, refusal_score=1.0),
    talk(4, "u3", "Where is my refund", REFUND, JANUARY, "small", n_words=4, is_unfinished=True),
)
VECTORS = {1: (1.0, 0.0), 2: (0.8, 0.6), 3: (0.6, 0.8), 4: (0.0, 1.0)}
VERSIONS = {"ds-1": (DECEMBER, (1,)), "ds-2": (JANUARY, (1, 2, 4))}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    lake = Lake(tmp_path_factory.mktemp("worked") / "lake")
    rows = [
        (TURNS, [turn for turns, _ in TALKS for turn in turns] + [TALKS[0][0][0] | {"landed_at": JANUARY}]),
        (TURN_SIGNALS, [signal for _, signals in TALKS for signal in signals]),
        (
            FEEDBACK,
            [
                thumb(1, "a1", 1, "u1"),
                thumb(2, "a3", 1, "u2", DECEMBER),
                thumb(3, "a3", -1, "u2", JANUARY),
                thumb(4, "a4", -1, "u3"),
            ],
        ),
        (EMBEDDINGS, [EMBEDDINGS.row(text_hash=f"h{nth}", vector=vector) for nth, vector in VECTORS.items()]),
        (
            CONVERSATIONS,
            [
                CONVERSATIONS.row(
                    conversation_id=f"c{n}", turn_ids=[f"q{n}", f"a{n}"], last_at=DECEMBER if n < 4 else JANUARY
                )
                for n in VECTORS
            ],
        ),
        (DATASET_VERSIONS, [DATASET_VERSIONS.row(dataset_version=v, created_at=at) for v, (at, _) in VERSIONS.items()]),
        (TRAINING_EXAMPLES, [example(version, n) for version, (_, numbers) in VERSIONS.items() for n in numbers]),
        (
            DROPS,
            [
                DROPS.row(dataset_version=version, subject_id=turn, rule=rule)
                for version, turn, rule in (
                    ("ds-1", "a2", "not_complete"),
                    ("ds-2", "a3", "signal:answer.refusal_score"),
                    ("ds-2", "q1", "cap_user"),
                    ("ds-2", "q2", "cap_user"),
                )
            ],
        ),
    ]
    for table, of_table in rows:
        delta.append_rows(of_table, lake, table, txn=("test", 1))
    return lake


def thumb(nth, turn, value, user, at=DECEMBER):
    return FEEDBACK.row(
        feedback_id=f"f{nth}", target_turn_id=turn, value=float(value), user_ref=user, created_at=at, offset=nth
    )


def example(version, nth):
    return TRAINING_EXAMPLES.row(
        dataset_version=version,
        example_id=f"e{nth}",
        turn_ids=[f"q{nth}", f"a{nth}"],
        conversation_id=f"c{nth}",
        user_ref={1: "u1", 2: "u1", 4: "u3"}[nth],
        model="big",
    )


ANSWERS = {
    "What do users ask most, and how did it change": [
        ("Reset my router", 3, 2, 1),
        ("Where is my refund", 1, 1, 0),
    ],
    "Which answers are disliked, and what do they share": [
        (True, 2, 3.0, 0.5, 0.5, "small"),
        (False, 1, 10.0, 0.0, 0.0, "big"),
    ],
    "Which rule costs most rows": [
        ("cap_user", meaning("cap_user"), 2, 66.7),
        ("signal:answer.refusal_score", meaning("signal:answer.refusal_score"), 1, 33.3),
    ],
    "What did version N train on that N-1 did not": [("e2", "c2", "en", "big"), ("e4", "c4", "en", "big")],
    "Which conversations are like this one": [("c3", 0.8), ("c2", 0.6), ("c1", 0.0)],
    "How much personal data was replaced, by type and day": [(DECEMBER.date(), "NAME", 2, 50.0)],
    "Who is over-represented": [("u1", 0.667, 0.5), ("u3", 0.333, 0.25)],
    "Where did a trained example come from": [
        (version, f"e{n}", role, "turnmill.logs", 0, n, 0, place)
        for version, (_, numbers) in VERSIONS.items()
        for n in numbers
        for role, place in (("assistant", 1), ("user", 0))
    ],
}  # fmt: skip


def rows_of(answer):
    if isinstance(answer, pl.DataFrame):
        return answer.rows()
    return [tuple(row) for row in (answer.itertuples(index=False) if isinstance(answer, pd.DataFrame) else answer)]


def same(found, wanted):
    return len(found) == len(wanted) and all(
        math.isclose(a, b, abs_tol=1e-6) if isinstance(b, float) else a == b
        for row, other in zip(found, wanted, strict=True)
        for a, b in zip(row, other, strict=True)
    )


def test_each_question_of_the_readme_has_its_answer_here():
    assert list(BLOCKS) == list(ANSWERS)
    assert len(BLOCKS) == 8


@pytest.mark.parametrize("title", list(ANSWERS))
def test_the_sql_of_a_question_gives_its_answer(lake, title):
    found = open_lake(lake.path).sql(BLOCKS[title][0]).fetchall()
    assert same(found, ANSWERS[title]), found


@pytest.mark.parametrize("title", list(ANSWERS))
def test_the_python_of_a_question_gives_its_answer(lake, title):
    names = {"lake": open_lake(lake.path), "pl": pl}
    exec(BLOCKS[title][1], names)  # the README's own code
    assert same(rows_of(names["answer"]), ANSWERS[title]), names["answer"]


def test_the_readers_of_the_readme_run(lake, monkeypatch):
    monkeypatch.chdir(lake.path.parent)
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", FROM_PYTHON, re.DOTALL | re.MULTILINE):
        exec(block, names)  # the README's own code
    assert names["frame"].collect().height == 4
    assert names["before"].collect().height == 0
    assert names["dataset"].count_rows() == 9
    assert names["relation"].shape[0] == 5
    assert len(names["counts"]) == names["rows"].height == 0
