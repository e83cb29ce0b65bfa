"""`turnmill consent`: only keyed references are stored, each subject once, and what holds a subject is told."""

import datetime as dt
import json

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable, write_deltalake

from jobs.consent_admin import command
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.intake.identity import IdentityKey
from pipelines.privacy.keys import KeyFolder
from schemas import CONSENT_WITHDRAWALS, DATASET_VERSIONS, TRAINING_EXAMPLES, TURNS

PERSON = "mira.invented@example.com"
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def lake(tmp_path) -> Lake:
    (tmp_path / "lake").mkdir()
    return Lake(tmp_path / "lake")


@pytest.fixture
def identity(tmp_path) -> IdentityKey:
    return IdentityKey(KeyFolder(tmp_path / "keys").open_or_create().identity)


@pytest.fixture
def run(tmp_path, lake, identity):
    def run(*arguments, given=None, code=0):
        flags = ["--keys", str(tmp_path / "keys"), "--lake", str(lake.path), "--json"]
        told = CliRunner().invoke(command, [*arguments, *flags], input=given)
        assert told.exit_code == code, told.output
        return json.loads(told.stdout) if code == 0 else told.output

    return run


def put(lake, table, *rows):
    delta.create_table(lake, table)
    content = pa.Table.from_pylist([table.row(**row) for row in rows], schema=table.arrow_schema)
    write_deltalake(str(lake.table(table.name)), content, mode="append")


def stored(lake):
    return DeltaTable(str(lake.table(CONSENT_WITHDRAWALS.name))).to_pyarrow_table().to_pylist()


def test_what_is_stored_is_a_keyed_reference_of_the_tenant_and_never_the_id(run, lake, identity):
    told = run("withdraw", "--tenant", "acme", "--user", PERSON, "--conversation", "talk-7")
    assert (told["withdrawn"], told["withdrawn_before"], told["without_turns"]) == (2, 0, 2)
    found = {(row["tenant"], row["subject_kind"], row["subject_ref"], row["consent"]) for row in stored(lake)}
    assert found == {
        ("acme", "user", identity.user_ref("acme", PERSON), "analytics"),
        ("acme", "conversation", identity.conversation_ref("acme", "talk-7"), "analytics"),
    }
    written = [path.read_bytes() for path in lake.path.rglob("*") if path.is_file()]
    assert not [content for content in written if PERSON.encode() in content or b"talk-7" in content]


def test_a_withdrawal_said_again_adds_no_row_and_keeps_its_time(run, lake):
    run("withdraw", "--user", PERSON)
    first = stored(lake)
    told = run("withdraw", "--user", PERSON, "--user", PERSON)
    assert (told["withdrawn"], told["withdrawn_before"]) == (0, 1)
    assert stored(lake) == first


def test_a_list_of_ids_is_read_line_by_line_as_the_logs_have_them(run, lake, identity, tmp_path):
    (tmp_path / "ids").write_bytes("\ufeffu-1\r\n\r\n  padded \nü-2\n".encode())
    run("withdraw", "--users-from", str(tmp_path / "ids"))
    run("withdraw", "--conversations-from", "-", given="c-1\nc-2")
    refs = {row["subject_ref"] for row in stored(lake)}
    users = {identity.user_ref("default", one) for one in ("u-1", "  padded ", "ü-2")}
    assert refs == users | {identity.conversation_ref("default", one) for one in ("c-1", "c-2")}


def test_a_list_in_another_encoding_is_refused_without_telling_what_it_holds(run, lake, tmp_path):
    (tmp_path / "ids").write_bytes("mira-ö\n".encode("latin-1"))
    told = run("withdraw", "--users-from", str(tmp_path / "ids"), code=2)
    assert "UTF-8" in told and "mira" not in told
    assert not lake.exists(CONSENT_WITHDRAWALS.name)


def test_naming_nobody_is_wrong_use(run):
    assert "--user" in run("withdraw", code=2)


def test_show_tells_the_versions_that_still_hold_a_subject(run, lake, identity):
    ref = identity.user_ref("default", PERSON)
    turns = [{"turn_id": "t1", "user_ref": ref}, {"turn_id": "t2", "user_ref": ref}, {"turn_id": "t3"}]
    put(lake, TURNS, *turns, {"turn_id": "t3", "user_ref": ref, "tenant": "other"})
    examples = [("ds-1", "e1", ["t1", "t2"]), ("ds-1", "e2", ["t2"]), ("ds-2", "e3", ["t3"])]
    put(lake, TRAINING_EXAMPLES, *({"dataset_version": v, "example_id": e, "turn_ids": t} for v, e, t in examples))
    put(lake, DATASET_VERSIONS, {"dataset_version": "ds-1"}, {"dataset_version": "ds-2", "created_at": NOON})
    (before,) = run("show", "--user", PERSON)["subjects"]
    assert before["withdrawn_at"] is None
    assert run("withdraw", "--user", PERSON)["without_turns"] == 0
    (after,) = run("show", "--user", PERSON)["subjects"]
    assert after["withdrawn_at"]
    assert [(held["dataset_version"], held["examples"]) for held in after["dataset_versions"]] == [("ds-1", 2)]


def test_list_tells_every_reference(run, identity):
    assert run("list")["withdrawals"] == []
    run("withdraw", "--user", PERSON)
    (row,) = run("list")["withdrawals"]
    assert (row["subject_kind"], row["subject_ref"]) == ("user", identity.user_ref("default", PERSON))
