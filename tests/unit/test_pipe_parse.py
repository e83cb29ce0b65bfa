"""`turnmill pipe parse`: JSON lines in, JSON lines out, each line accounted for, nothing of Kafka or Spark needed."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.command_line import main
from pipelines.intake.identity import IdentityKey
from pipelines.intake.parse import parse_record
from pipelines.privacy.keys import KeyFolder
from schemas.records import MAX_RECORD_BYTES

TALK = {
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
    "user": "anna@example.com",
}
RATING = {"feedback": {"kind": "thumb", "value": "up", "response_id": "r-1"}}


def line(value):
    return json.dumps(value).encode() + b"\n"


@pytest.fixture
def keys(tmp_path):
    return KeyFolder(tmp_path / "keys").open_or_create()


@pytest.fixture
def parse(keys):
    def run(data, *arguments):
        result = CliRunner().invoke(main, ["pipe", "parse", "--keys", str(keys.path), "--json", *arguments], input=data)
        rows = [json.loads(one) for one in result.stdout.split("\n") if one]
        return result, rows

    return run


def test_every_message_is_a_line_with_the_ids_of_the_ingest(parse, keys):
    result, rows = parse(line(TALK))
    items = parse_record(line(TALK), {}, IdentityKey(keys.identity))
    assert result.exit_code == 0
    assert [row["turn_id"] for row in rows] == [item.turn_id for item in items]
    assert [(row["role"], row["text"], row["tool_calls"]) for row in rows] == [
        ("user", "hi", []),
        ("assistant", "hello", []),
    ]
    assert rows[1]["parent_id"] == rows[0]["turn_id"]
    assert rows[0]["parent_id"] == rows[0]["root_id"]


def test_a_logged_user_is_shown_as_a_reference_only(parse):
    result, rows = parse(line(TALK))
    assert rows[0]["user_ref"]
    assert "anna@example.com" not in result.output


def test_ratings_and_rejections_have_lines_of_their_own(parse):
    result, rows = parse(line(RATING) + b"\n" + b"{broken\n")
    assert result.exit_code == 0
    assert rows[0]["feedback"]["kind"] == "thumb"
    assert rows[0]["feedback"]["value"] == 1.0
    assert rows[1] == {"rejected": "bad_json", "detail": rows[1]["detail"], "line": 3}
    assert json.loads(result.stderr) == {"lines": 2, "feedback": 1, "bad_json": 1, "output_closed": False}


def test_lines_end_at_line_feeds_alone(parse):
    talk = {"messages": [{"role": "user", "content": "one\u2028two\u0085three"}]}
    _, rows = parse(json.dumps(talk, ensure_ascii=False).encode() + b"\r\n" + line(TALK))
    assert [row["text"] for row in rows] == ["one\u2028two\u0085three", "hi", "hello"]


def test_tools_and_images_are_in_the_line(parse):
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    image = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}]
    _, rows = parse(
        line({"messages": [{"role": "user", "content": image}, {"role": "assistant", "tool_calls": [call]}]})
    )
    assert rows[0]["parts"] == [
        {"type": "image", "media_type": "image/png", "sha256": rows[0]["parts"][0]["sha256"], "bytes": 3, "uri": None}
    ]
    assert rows[1]["tool_calls"] == [{"id": "c", "name": "look", "arguments": "{}"}]


def test_the_tenant_changes_the_ids_and_the_format_can_be_named(parse):
    (_, plain), (_, other) = parse(line(TALK)), parse(line(TALK), "--tenant", "acme")
    assert other[0]["tenant"] == "acme"
    assert other[0]["turn_id"] != plain[0]["turn_id"]
    _, rows = parse(line(TALK), "--format", "sharegpt")
    assert "rejected" in rows[0]


def test_a_line_above_the_limit_is_rejected_and_the_next_is_read(parse):
    _, rows = parse(b'{"' + b"x" * (MAX_RECORD_BYTES + 1) + b"\n" + line(TALK))
    assert (rows[0]["rejected"], rows[0]["line"]) == ("too_large", 1)
    assert rows[1]["text"] == "hi"


def test_without_keys_the_ids_are_of_this_run_and_that_is_said(tmp_path):
    runs = [
        CliRunner().invoke(main, ["pipe", "parse", "--keys", str(tmp_path / "none")], input=line(TALK)) for _ in "ab"
    ]
    assert all("key of this run alone" in run.stderr for run in runs)
    ids = [json.loads(run.stdout.split("\n")[0])["turn_id"] for run in runs]
    assert ids[0] != ids[1]
    assert not (tmp_path / "none").exists()


def test_a_damaged_key_folder_is_an_error_and_no_other_key_is_taken(parse, keys):
    keys.path.chmod(0o755)
    result, rows = parse(line(TALK))
    assert result.exit_code == 1
    assert rows == []


def chunk(answer, delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return line({"id": answer, "object": "chat.completion.chunk", "choices": [choice]})


def test_pieces_of_streamed_answers_on_lines_of_their_own_are_joined(parse):
    pieces = [
        chunk("a", {"role": "assistant", "content": "one "}),
        chunk("b", {"role": "assistant", "content": "half an"}),
        chunk("a", {"content": "whole"}),
        chunk("a", {}, "stop"),
        line(TALK),
        chunk("b", {"content": " answer"}),
    ]
    result, rows = parse(b"".join(pieces))
    assert [(row["text"], row["line"], row["flags"]) for row in rows if row["role"] == "assistant"] == [
        ("one whole", 4, []),
        ("hello", 5, []),
        ("half an answer", 2, ["stream_incomplete"]),
    ]
    assert json.loads(result.stderr)["pieces"] == 5


def test_a_reader_that_goes_away_is_no_fault(tmp_path):
    program = "from jobs.command_line import main; main()"
    command = [sys.executable, "-c", program, "pipe", "parse", "--keys", str(tmp_path / "none")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    _, told = process.communicate(line(TALK) * 20_000, timeout=60)
    assert process.returncode == 0
    assert b"closed early" in told
    assert b"Traceback" not in told and b"Broken" not in told


def test_neither_kafka_nor_spark_nor_the_tables_are_needed(tmp_path):
    blocked = (
        "pyspark delta torch transformers confluent_kafka pandas duckdb deltalake polars fastavro urllib3 fastavro"
    )
    program = (
        "import sys\n"
        f"for name in {blocked.split()!r}: sys.modules[name] = None\n"
        "from jobs.command_line import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", program, "pipe", "parse", "--keys", str(tmp_path / "none")]
    told = subprocess.run(command, input=line(TALK), capture_output=True, check=False)
    assert told.returncode == 0, told.stderr
    assert len(told.stdout.splitlines()) == 2


def test_the_help_says_that_the_output_is_raw():
    told = CliRunner().invoke(main, ["pipe", "parse", "--help"]).stdout
    assert "raw" in told


lines = st.one_of(
    st.just(json.dumps(TALK).encode()),
    st.just(b'{"messages":[{"role":"user","content":"\\ud800\\u0000"}],"user":"\\ud800"}'),
    st.binary(max_size=30).map(lambda value: value.replace(b"\n", b"")),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.lists(lines, max_size=6))
def test_every_line_that_is_not_blank_has_an_output_and_its_number(parse, given_lines):
    result, rows = parse(b"\n".join(given_lines))
    assert result.exit_code == 0
    wanted = {number for number, value in enumerate(given_lines, 1) if value.strip(b" \t\r\n\x0b\x0c")}
    assert {row["line"] for row in rows} == wanted
