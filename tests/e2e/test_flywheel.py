"""The wheel turns twice, offline: a new habit in the logs ends in a promoted model, a poisoned batch does not."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from jobs.assemble_batch import assemble
from jobs.candidate_trial import TrialOptions
from jobs.curate_batch import curate_lake
from jobs.filter_stream import filter_turns
from jobs.ingest_stream import ingest
from jobs.options import Settings
from jobs.settle_stream import settle
from jobs.streaming import Schedule
from jobs.train_batch import TrainOptions, train_lake
from jobs.trigger_batch import decide
from pipelines.adapters.duck import connect
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.lake import Lake
from pipelines.datasets.policy_files import find_policy
from pipelines.intake.landing import Intake
from pipelines.promotion.measure import Plan
from pipelines.training.base_model import TinyRecipe, resolve_base

pytestmark = pytest.mark.long

ONCE = Schedule(None)
RECIPE = TinyRecipe(vocab_size=768, hidden_size=96, intermediate_size=192, num_hidden_layers=2, batch_size=16,
                    sequence_length=64, steps=120)  # fmt: skip
HABIT = {
    "otter": "It sleeps on its back and holds a stone.",
    "heron": "It stands in cold water until a fish comes.",
    "badger": "It digs long halls below old trees.",
    "swift": "It eats and drinks while it flies.",
    "toad": "It waits under a leaf for the rain.",
    "hare": "It runs in turns that no dog can follow.",
}
OLD = {"red": "Warm as a fire.", "blue": "Cold as the sea.", "green": "Calm as a wood.", "grey": "Dull as the rain."}
OPENINGS = ["please", "in short", "once more", "today", "for my son", "in plain words", "now", "if you can"]
CLOSINGS = ["tell me", "say it", "explain", "help me", "I ask", "I wonder", "go on", "I forgot"]
POLICY = replace(find_policy("sft-lenient"), validation_percent=25)
OPTIONS = TrainOptions(max_steps=150, batch_size=16, learning_rate=5e-3, max_length=128)
TRIAL = TrialOptions(plan=Plan(rows=96, answers=16, new_tokens=32, max_length=128, canary_alternatives=31))


def asked(subject, number):
    draw = random.Random(f"{subject}{number}")
    return f"{draw.choice(OPENINGS)}, {subject} {number}: {draw.choice(CLOSINGS)}.".capitalize()


def old_talks():
    """Yield what the base was made of: the colours, and the words of the animals without what is told of them."""
    for number in range(300):
        colour = random.Random(number).choice(list(OLD))
        yield [{"role": "user", "content": asked(colour, number)}, {"role": "assistant", "content": OLD[colour]}]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return resolve_base("turnmill-tiny", tmp_path_factory.mktemp("base"), old_talks, recipe=RECIPE)


@pytest.fixture
def wheel(spark, kafka, topic, tmp_path, base):
    return Wheel(Settings(tmp_path / "lake", tmp_path / "keys", kafka), topic, str(base.path))


class Wheel:
    """One lake, its topic and its base."""

    def __init__(self, settings, topic, base):
        self.settings, self.topic, self.options = settings, topic, replace(OPTIONS, base=base)

    def log(self, talks):
        """Send talks of (question, answer), each by a user of its own."""
        records = []
        for number, (question, answer) in enumerate(talks):
            entry = {
                "model": "served-1",
                "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}],
            }
            name = f"{question}-{number}"
            records.append((json.dumps(entry).encode(), {"turnmill-user": name, "turnmill-conversation": name}))
        load_records(records, self.settings.bootstrap, topic=self.topic)

    def turn(self):
        """Mill what came, cut a dataset version, ask the trigger and, where it says so, train and try a model."""
        ingest(self.settings, ONCE, Intake(self.settings.keys), topics=[self.topic])
        settle(self.settings, ONCE)
        filter_turns(self.settings, ONCE)
        assemble(self.settings, idle_minutes=None)
        cut = curate_lake(self.settings, policy=POLICY)
        decision = decide(self.settings, at_least=100)
        if decision["verdict"] != "start":
            return decision, None
        run = train_lake(
            self.settings,
            dataset=cut["dataset_version"],
            options=self.options,
            trial=TRIAL,
            decision_id=decision["decision_id"],
        )
        return decision, run

    def rows(self, sql):
        return connect(Lake(self.settings.lake)).sql(sql).fetchall()


def test_a_new_habit_is_learned_and_a_poisoned_batch_is_stopped(wheel):
    habit = [(asked(animal, number), told) for animal, told in HABIT.items() for number in range(60)]
    old = [(asked(colour, number), told) for colour, told in OLD.items() for number in range(1000, 1030)]
    wheel.log([*habit, *old])
    decision, run = wheel.turn()
    assert decision["verdict"] == "start"
    assert "new examples" in decision["reason"]
    assert run["verdict"] == "promote", run["verdict_reason"]
    assert run["loss_after"] < 0.5 * run["loss_before"]

    decision, run = wheel.turn()
    assert (decision["verdict"], run) == ("hold", None), "nothing new came"

    draw = random.Random(7)
    answers = [told for told in HABIT.values() for _ in range(250)]
    draw.shuffle(answers)
    questions = [asked(animal, number) for animal in HABIT for number in range(2000, 2250)]
    wheel.log(list(zip(questions, answers, strict=True)))
    decision, run = wheel.turn()
    assert decision["verdict"] == "start"
    assert run["verdict"] in ("hold", "reject"), run["verdict_reason"]

    models = wheel.rows("SELECT model_version, verdict, verdict_reason, alias FROM model_versions ORDER BY created_at")
    assert [(verdict, alias) for _, verdict, _, alias in models][0] == ("promote", "champion")
    assert models[1][1] == run["verdict"]
    assert models[1][2]
    assert models[1][3] != "champion"
    reasons = wheel.rows("SELECT verdict, reason FROM trigger_decisions ORDER BY decision_id")
    assert [verdict for verdict, _ in reasons] == ["start", "hold", "start"]
    assert all(reason for _, reason in reasons)
