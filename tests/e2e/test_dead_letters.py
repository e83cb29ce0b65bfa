import json

import pytest
from click.testing import CliRunner

from jobs.command_line import main
from jobs.ingest_stream import ingest
from jobs.options import Settings
from jobs.settle_stream import settle
from jobs.streaming import Schedule
from pipelines.adapters import delta
from pipelines.adapters.duck import connect
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.lake import Lake
from pipelines.conversations.accounting import accounts
from pipelines.intake.landing import Intake
from schemas import DEAD_LETTERS

ONCE = Schedule(None)
SECRET = "marlo.quent@korvane-labs.com"


@pytest.fixture
def turnmill(spark, kafka, tmp_path):
    """Run a command on a lake of its own and return its result."""

    def run(*arguments):
        shared = ["--lake", str(tmp_path / "lake"), "--keys", str(tmp_path / "keys"), "--bootstrap", kafka]
        return CliRunner().invoke(main, [*arguments, *shared])

    run.settings = Settings(tmp_path / "lake", tmp_path / "keys", kafka)
    return run


def mill(settings, topic, **options):
    ingest(settings, ONCE, Intake(settings.keys, **options), topics=[topic])
    settle(settings, ONCE)


def test_a_dead_letter_can_be_counted_shown_and_replayed_after_a_fix(spark, turnmill, topic):
    big = json.dumps({"messages": [{"role": "user", "content": SECRET + " words" * 3000}]}).encode()
    headers = {"turnmill-tenant": "acme", "turnmill-user": "u-7654321"}
    load_records([(big, headers), (b"{broken " + SECRET.encode(), {})], turnmill.settings.bootstrap, topic=topic)
    mill(turnmill.settings, topic, max_record_bytes=1000)

    listed = turnmill("dead-letters", "list", "--json")
    reasons = {row["reason"]: row["n"] for row in json.loads(listed.stdout)["reasons"]}
    assert reasons == {"too_large": 1, "bad_json": 1}
    assert SECRET not in listed.output

    (at,) = (
        f"{row.topic}:{row.partition}:{row.offset}"
        for row in delta.read(spark, Lake(turnmill.settings.lake), DEAD_LETTERS).where("reason = 'bad_json'").collect()
    )
    asked = turnmill("dead-letters", "show", at)
    assert asked.exit_code == 1
    assert SECRET not in asked.output
    shown = turnmill("dead-letters", "show", at, "--yes")
    assert SECRET in shown.output

    replayed = turnmill("dead-letters", "replay", "--reason", "too_large", "--json")
    assert json.loads(replayed.stdout) == {"records": 1, "replayed": 1, "expired": 0}
    mill(turnmill.settings, topic)
    connection = connect(Lake(turnmill.settings.lake))
    assert connection.sql("SELECT tenant FROM turns").fetchall() == [("acme",)]
    ((replay, landed),) = connection.sql(
        'SELECT d.replayed_as, struct_pack(topic := t.topic, "partition" := t.partition, "offset" := t.offset) '
        "FROM dead_letters d, turns t WHERE d.reason = 'too_large'"
    ).fetchall()
    assert replay == landed
    assert connection.sql("SELECT max(attempts) FROM landing").fetchall() == [(2,)]
    assert accounts(connection).balanced
    again = turnmill("dead-letters", "replay", "--reason", "too_large", "--json")
    assert json.loads(again.stdout) == {"records": 0, "replayed": 0, "expired": 0}


def test_a_letter_that_fails_again_counts_its_attempts(spark, turnmill, topic):
    load_records([(b"{broken", {})], turnmill.settings.bootstrap, topic=topic)
    mill(turnmill.settings, topic)
    turnmill("dead-letters", "replay", "--reason", "bad_json")
    mill(turnmill.settings, topic)
    rows = delta.read(spark, Lake(turnmill.settings.lake), DEAD_LETTERS).orderBy("attempts").collect()
    assert [row.attempts for row in rows] == [1, 2]


def test_wrong_coordinates_and_a_missing_lake_are_told_in_one_line(turnmill):
    missing = turnmill("dead-letters", "list")
    assert missing.exit_code == 1
    assert "found none" in missing.output
    assert turnmill("dead-letters", "show", "nonsense").exit_code != 0
    assert turnmill("dead-letters", "replay").exit_code == 2
