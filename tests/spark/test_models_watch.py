"""A roll-back on feedback moves both aliases in one commit, and keeps its figures and reason with the model."""

import datetime as dt

from jobs.models_watch import decide
from pipelines.adapters import delta
from pipelines.promotion.live_feedback import WatchRule
from schemas import FEEDBACK, MODEL_VERSIONS, TURNS

AT = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
RULE = WatchRule(least_ratings=20, least_owners=10)


def test_a_champion_that_people_like_less_gives_its_alias_back_once(spark, lake):
    at = AT + dt.timedelta(days=1)
    models = [
        MODEL_VERSIONS.row(model_version="model-a", promoted_at=AT),
        MODEL_VERSIONS.row(
            model_version="model-b", alias="champion", replaced="model-a", promoted_at=AT, evaluation=[("loss", 1.25)]
        ),
    ]
    rated = [(name, value, nth) for name, value in (("model-a", 1.0), ("model-b", -1.0)) for nth in range(20)]
    turns = [TURNS.row(turn_id=f"{name}-{nth}", role="assistant", model=name, created_at=at) for name, _, nth in rated]
    said = [
        FEEDBACK.row(feedback_id=f"{name}-{nth}", target_turn_id=f"{name}-{nth}", value=value, user_ref=f"u{nth}")
        for name, value, nth in rated
    ]
    for table, rows in ((MODEL_VERSIONS, models), (TURNS, turns), (FEEDBACK, said)):
        delta.append_rows(rows, lake, table, txn=("test", 1))
    told = decide(lake, "default", RULE, 30.0, {})
    assert (told["verdict"], told["rolled_back"]) == ("roll_back", True)
    before, gone = delta.read(spark, lake, MODEL_VERSIONS).orderBy("model_version").collect()
    assert (before.alias, gone.alias) == ("champion", None)
    assert gone.rolled_back_at is not None
    assert gone.alias_reason == f"Rolled back: {told['reason']}"
    assert (gone.evaluation["loss"], gone.evaluation["feedback"], gone.evaluation["feedback_before"]) == (1.25, 0, 1)
    again = decide(lake, "default", RULE, 30.0, {})
    assert (again["model_version"], again["verdict"]) == ("model-a", "wait")
