"""A withdrawal counts for every dataset version that is cut after it, and the versions before are still told."""

import json

from click.testing import CliRunner

from jobs.assemble_batch import assemble
from jobs.consent_admin import command
from jobs.curate_batch import curate_lake
from jobs.options import Settings
from pipelines.adapters import delta
from pipelines.conversations.consent import with_withdrawals
from pipelines.datasets.policy import CurationPolicy, GateLimits
from pipelines.intake.identity import IdentityKey
from pipelines.privacy.keys import KeyFolder
from schemas import CONSENT_WITHDRAWALS, CONVERSATIONS, DROPS, TRAINING_EXAMPLES, TURN_SIGNALS, TURNS

PERSON = "mira.invented@example.com"
TALKS = 30
# Keys are new in each run: with few users or a tenth held out, all could be of one split, which the gate holds.
# The texts here were never anonymised, so that the gate would look for names that nobody has replaced.
HALF = CurationPolicy(validation_percent=50, gate=GateLimits(rescan_examples=0))


def test_the_strictest_of_all_that_is_known_counts_and_no_row_is_lost(spark):
    talks = {
        "own-word-stricter": {"consent": "none", "user_ref": "u1", "user_refs": ["u1"]},
        "second-speaker": {"user_refs": ["u0", "u1"]},
        "named-itself": {"conversation_ref": "c1"},
        "both": {"user_ref": "u1", "user_refs": ["u1"], "conversation_ref": "c1"},
        "kinds-differ": {"user_ref": "c1", "user_refs": ["c1"], "conversation_ref": "u1"},
        "other-tenant": {"tenant": "other", "user_ref": "u1", "user_refs": ["u1"]},
        "nobody": {"user_refs": None},
    }
    rows = [CONVERSATIONS.row(**{"conversation_id": name, **row}) for name, row in talks.items()]
    withdrawals = [
        CONSENT_WITHDRAWALS.row(subject_ref="u1"),
        CONSENT_WITHDRAWALS.row(subject_kind="conversation", subject_ref="c1", consent="none"),
    ]
    conversations = spark.createDataFrame(rows, CONVERSATIONS.spark_schema)
    found = with_withdrawals(conversations, spark.createDataFrame(withdrawals, CONSENT_WITHDRAWALS.spark_schema))
    assert found.columns == [*CONVERSATIONS.column_names, "is_withdrawn"]
    assert {row.conversation_id: (row.is_withdrawn, row.consent) for row in found.collect()} == {
        "own-word-stricter": (True, "none"),
        "second-speaker": (True, "analytics"),
        "named-itself": (True, "none"),
        "both": (True, "none"),
        "kinds-differ": (False, "training"),
        "other-tenant": (False, "training"),
        "nobody": (False, "training"),
    }


def test_a_withdrawn_user_is_dropped_from_the_next_version_and_told_of_the_last_one(spark, lake):
    settings = Settings(lake.path, lake.path.with_name("keys"))
    identity = IdentityKey(KeyFolder(settings.keys).open_or_create().identity)
    for table, rows in ((TURNS, []), (TURN_SIGNALS, [])):
        for nth in range(TALKS):
            ref = identity.user_ref("default", PERSON if nth == 0 else f"other-{nth}")
            place = {"root_id": f"r{nth}", "conversation_ref": f"c{nth}"}
            for role, parent in (("user", f"r{nth}"), ("assistant", f"user-{nth}")):
                row = {"turn_id": f"{role}-{nth}", "parent_id": parent, **place}
                more = {"role": role, "text": f"{role} speaks of matter {nth}", "user_ref": ref}
                rows.append(table.row(**row, **(more if table is TURNS else {})))
        delta.append(spark.createDataFrame(rows, table.spark_schema), lake, table)
    assemble(settings, idle_minutes=None)
    first = curate_lake(settings, policy=HALF)

    def consent(verb):
        flags = ["--lake", str(settings.lake), "--keys", str(settings.keys), "--json"]
        return json.loads(CliRunner().invoke(command, [verb, "--user", PERSON, *flags]).stdout)

    assert consent("withdraw")["without_turns"] == 0
    second = curate_lake(settings, policy=HALF)
    assert (first["examples"], second["examples"]) == (TALKS, TALKS - 1)
    assert second["drops"] == {"consent_withdrawn": 1}
    drops = delta.read(spark, lake, DROPS).where(f"dataset_version = '{second['dataset_version']}'").collect()
    assert [(drop.subject_id, drop.rule) for drop in drops] == [("assistant-0", "consent_withdrawn")]
    (told,) = consent("show")["subjects"]
    assert [one["dataset_version"] for one in told["dataset_versions"]] == [first["dataset_version"]]
    examples = delta.read(spark, lake, TRAINING_EXAMPLES).where(f"dataset_version = '{first['dataset_version']}'")
    assert examples.count() == TALKS
