"""Dead letters are counted over time, chosen by time, and expire without leaving a hole in the accounts."""

import datetime as dt
import json
import subprocess
import sys

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable, write_deltalake

from jobs.command_line import main
from jobs.dead_letters import command as dead_letters
from jobs.letters_expire import Age
from jobs.letters_replay import wanted_letters
from pipelines.adapters import delta, payload_expiry
from pipelines.adapters.duck import connect
from pipelines.adapters.payload_expiry import ExpiryError, count_payloads, expire_payloads
from pipelines.conversations.accounting import accounts
from schemas import DEAD_LETTERS, LANDING

NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)
OLD = NOW - dt.timedelta(days=40)
CUT = NOW - dt.timedelta(days=30)


def at(offset):
    return {"topic": "t", "partition": 0, "offset": offset, "entry": 0, "position": 0}


def write(lake, table, *rows):
    delta.create_table(lake, table)
    columns = {name: None for name in table.column_names}
    filled = [{**columns, **row} for row in rows]
    write_deltalake(str(lake.table(table.name)), pa.Table.from_pylist(filled, schema=table.arrow_schema), mode="append")


def letter(lake, offset, landed_at, *, payload=b"sealed", reason="bad_json", outcome="dead"):
    shared = {**at(offset), "tenant": "acme", "attempts": 1, "kafka_at": landed_at, "landed_at": landed_at}
    shared |= {"payload_encrypted": payload, "payload_key_id": "payload-1"}
    write(
        lake,
        LANDING,
        {**shared, "outcome": outcome, "consent": "training", "batch_id": 0, "key_epoch": 1} | {"reason": reason},
    )
    if outcome == "dead":
        write(lake, DEAD_LETTERS, {**shared, "reason": reason, "stage": "parse"})


@pytest.fixture
def letters(lake):
    """Three old letters, one new one, and an old fragment whose payload is still needed."""
    for offset in range(3):
        letter(lake, offset, OLD, reason="bad_json" if offset else "too_large")
    letter(lake, 3, NOW)
    letter(lake, 4, OLD, outcome="fragment", reason=None)
    return lake


def rows(lake, query):
    return connect(lake).sql(query).fetchall()


def test_an_expired_letter_keeps_its_reason_and_loses_its_payload_in_both_tables(letters):
    assert count_payloads(letters, CUT) == 3
    assert expire_payloads(letters, CUT) == {"dead_letters": 3, "landing": 3}
    for table in ("dead_letters", "landing"):
        kept = (
            f'SELECT "offset" FROM {table} WHERE payload_encrypted IS NOT NULL OR payload_key_id IS NOT NULL ORDER BY 1'
        )
        assert rows(letters, kept) == ([(3,)] if table == "dead_letters" else [(3,), (4,)])
    assert rows(letters, "SELECT reason, count(*) FROM dead_letters GROUP BY 1 ORDER BY 1") == [
        ("bad_json", 3),
        ("too_large", 1),
    ]
    assert rows(letters, 'SELECT "offset" FROM landing WHERE key_epoch IS NOT NULL ORDER BY 1') == [(3,), (4,)]
    assert count_payloads(letters, CUT) == 0


def test_expiry_leaves_the_accounts_as_they_were(letters):
    before = accounts(connect(letters))
    expire_payloads(letters, CUT)
    assert accounts(connect(letters)) == before
    assert before.balanced


def test_expiry_writes_no_text_into_the_statistics_of_the_log(letters):
    write(
        letters,
        LANDING,
        {**at(9), "outcome": "turn", "tenant": "acme", "consent": "none", "landed_at": OLD, "text": "MARK"},
    )
    letter(letters, 10, OLD)
    DeltaTable(str(letters.table("landing"))).optimize.compact()
    expire_payloads(letters, CUT)
    written = "".join(path.read_text() for path in letters.table("landing").glob("_delta_log/*.json"))
    assert "MARK" not in written


def test_a_repeat_of_the_expiry_changes_nothing(letters):
    expire_payloads(letters, CUT)
    versions = [delta.version(letters, table.name) for table in (LANDING, DEAD_LETTERS)]
    assert expire_payloads(letters, CUT) == {"dead_letters": 0, "landing": 0}
    assert [delta.version(letters, table.name) for table in (LANDING, DEAD_LETTERS)] == versions


def test_an_expiry_that_always_comes_second_says_so(letters, monkeypatch):
    class Busy:
        def __init__(self, _):
            pass

        def update(self, *_, **__):
            raise payload_expiry.CommitFailedError("another commit")

    monkeypatch.setattr(payload_expiry, "DeltaTable", Busy)
    with pytest.raises(ExpiryError, match="dead_letters"):
        expire_payloads(letters, CUT)


@pytest.fixture
def turnmill(letters, tmp_path):
    def run(*arguments, **options):
        shared = ["--lake", str(letters.path), "--keys", str(tmp_path / "keys"), "--json"]
        return CliRunner().invoke(main, ["dead-letters", *arguments, *shared], **options)

    return run


def test_expire_asks_before_it_lets_go(turnmill, letters):
    refused = turnmill("expire", "--older-than", "30d", input="n\n")
    assert refused.exit_code == 1
    assert "3 payloads" in refused.stderr
    assert count_payloads(letters, CUT) == 3
    done = turnmill("expire", "--older-than", "30d", "--yes")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["expired"] == 3
    assert json.loads(turnmill("expire", "--older-than", "30d").stdout)["expired"] == 0


def test_an_expired_letter_cannot_be_shown_and_says_why(turnmill, letters):
    expire_payloads(letters, CUT)
    shown = turnmill("show", "t:0:0", "--yes")
    assert shown.exit_code == 1
    assert "has expired" in shown.stderr


def test_expired_letters_are_counted_and_not_replayed(turnmill, letters):
    expire_payloads(letters, CUT)
    replayed = turnmill("replay", "--until", f"{CUT:%Y-%m-%d}")
    assert json.loads(replayed.stdout) == {"records": 0, "replayed": 0, "expired": 3}
    listed = json.loads(turnmill("list").stdout)
    assert {row["reason"]: row["expired"] for row in listed["reasons"]} == {"bad_json": 2, "too_large": 1}


@pytest.mark.parametrize("by", ["hour", "day"])
def test_letters_are_counted_over_time(turnmill, by):
    listed = json.loads(turnmill("list", "--by", by).stdout)
    assert listed["dead_letters"] == 4
    assert [(row["from_time"][:10], row["reason"], row["n"]) for row in listed["over_time"]] == [
        (f"{OLD:%Y-%m-%d}", "bad_json", 2),
        (f"{OLD:%Y-%m-%d}", "too_large", 1),
        (f"{NOW:%Y-%m-%d}", "bad_json", 1),
    ]


def offsets(lake, **conditions):
    return sorted(found["offset"] for found in wanted_letters(lake, **conditions))


def test_letters_are_chosen_by_time_reason_and_place_together(letters):
    naive = CUT.replace(tzinfo=None)
    assert offsets(letters, since=naive) == [3]
    assert offsets(letters, until=naive) == [0, 1, 2]
    assert offsets(letters, until=naive, reason="bad_json") == [1, 2]
    assert offsets(letters, until=naive, reason="bad_json", at="t:0:2") == [2]
    assert offsets(letters, since=NOW.replace(tzinfo=None)) == [3]
    assert offsets(letters, until=NOW.replace(tzinfo=None)) == [0, 1, 2]


def test_a_replay_of_everything_must_be_asked_for_in_some_way(turnmill):
    assert turnmill("replay").exit_code == 2


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("30d", 720), ("2w", 336), ("0h", 0)])
def test_an_age_is_read_in_hours_days_or_weeks(text, hours):
    assert Age().convert(text, None, None) == dt.timedelta(hours=hours)


@pytest.mark.parametrize("text", ["", "30", "d", "30 d", "-1d", "30m", "1.5d", "9999999d"])
def test_another_form_of_age_is_wrong_use(turnmill, text):
    assert turnmill("expire", "--older-than", text).exit_code == 2


def test_the_list_of_commands_needs_no_spark():
    blocked = "pyspark delta confluent_kafka pandas"
    program = (
        "import sys\n"
        f"for name in {blocked.split()!r}: sys.modules[name] = None\n"
        "from jobs.command_line import main\n"
        "main(['dead-letters', *sys.argv[1:]])\n"
    )
    listed = subprocess.run([sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    assert all(name in listed.stdout for name in ("list", "show", "replay", "expire", "join"))
    joined = subprocess.run([sys.executable, "-c", program, "join"], capture_output=True, text=True, check=False)
    assert joined.returncode == 1
    assert "install the extra" in joined.stderr


def test_the_command_that_joins_is_the_job_itself():
    from jobs.fragments_join import command as job

    group = main.get_command(None, "dead-letters")
    assert group.get_command(None, "join") is job
    assert job.help and dead_letters.entries["join"][1] in job.help
