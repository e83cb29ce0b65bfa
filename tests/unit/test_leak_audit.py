"""`turnmill audit`: what an earlier run missed is told by type and place, never by value."""

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from jobs.leak_audit import command
from pipelines.adapters.lake import Lake
from pipelines.privacy.anonymizer import Anonymizer, Edit
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.leak_context import masked_context, shape
from schemas import TURNS

MAIL = "nina@korvane-labs.com"


@pytest.fixture
def keys(tmp_path):
    return KeyFolder(tmp_path / "keys").open_or_create()


def audit(tmp_path, *rows, arguments=()):
    lake = Lake(tmp_path / "lake")
    filled = [TURNS.row(turn_id=f"t{i}", offset=i, **row) for i, row in enumerate(rows)]
    write_deltalake(str(lake.table("turns")), pa.Table.from_pylist(filled, schema=TURNS.arrow_schema))
    told = CliRunner().invoke(
        command, ["--lake", str(lake.path), "--keys", str(tmp_path / "keys"), "--json", *arguments]
    )
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout), told.output


def test_what_the_anonymiser_wrote_is_no_suspect(tmp_path, keys):
    clean = Anonymizer(keys).fields("default", {"/text": f"mail {MAIL} or 202-555-0117"})["/text"]
    redactions = [{"field": "/text", "start": s, "end": e, "type": kind} for s, e, kind in clean.redactions]
    figures, _ = audit(tmp_path, {"text": clean.text, "redactions": redactions})
    assert (figures["turns"], figures["suspected"]) == (1, {})


def test_what_was_missed_is_told_by_type_and_place_without_its_value(tmp_path, keys):
    call = {"id": "c1", "name": "send", "arguments": json.dumps({"to": MAIL})}
    figures, output = audit(tmp_path, {"text": "hello"}, {"text": f"My mail: {MAIL}!", "tool_calls": [call]})
    assert figures["suspected"] == {"EMAIL": 2}
    assert {(one["turn_id"], one["field"]) for one in figures["examples"]} == {
        ("t1", "/text"), ("t1", "/tool_calls/0/arguments"),
    }  # fmt: skip
    assert {one["context"] for one in figures["examples"]} == {"Xx xxxx: [EMAIL]!", '{"xx": "[EMAIL]"}'}
    assert "nina" not in output.lower()


def test_a_sample_is_as_large_as_asked_and_the_same_for_a_seed(tmp_path, keys):
    rows = [{"text": f"mail n{i}@korvane-labs.com"} for i in range(20)]
    figures, _ = audit(tmp_path, *rows, arguments=("--sample", "5", "--seed", "3"))
    assert figures["turns"] == figures["suspected"]["EMAIL"] == 5


def test_context_shows_shapes_and_other_suspects_as_types():
    text = "Call Nina Olmi at 202-555-0117, ask for 529-41-6372."
    phone, ssn = Edit(18, 30, "PHONE", "", 1.0), Edit(40, 51, "SSN", "", 1.0)
    assert masked_context(text, phone, [ssn, phone]) == "Xxxx Xxxx Xxxx xx [PHONE], xxx xxx [SSN]."
    assert shape("Łódź 12\n王") == "Xxxx 00 x"
