"""`turnmill pipe anonymize`: JSON lines in, the same lines without personal values out, each line accounted for."""

import json
import subprocess
import sys

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.pipe_anonymize import BATCH_LINES, command
from pipelines.privacy import ColumnAnonymizer, anonymize
from pipelines.privacy.anonymizer import Anonymizer
from pipelines.privacy.json_pointers import values_of
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.policy import ANALYTICS
from pipelines.privacy.text_lines import anonymize_lines, read_line

MAIL = "nina@korvane-labs.com"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return KeyFolder(tmp_path_factory.mktemp("lake") / "keys").open_or_create()


def run(keys, *lines, arguments=("--policy", "analytics")):
    data = "".join(one if isinstance(one, str) else json.dumps(one) for one in [x + "\n" for x in map(as_line, lines)])
    told = CliRunner().invoke(command, ["--keys", str(keys.path), "--json", *arguments], input=data.encode())
    assert told.exit_code == 0, told.output
    return [json.loads(one) for one in told.stdout.splitlines() if one], json.loads(told.stderr.splitlines()[-1])


def as_line(line):
    return line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)


def applied(text, entities):
    for one in sorted(entities, key=lambda one: -one["start"]):
        text = text[: one["start"]] + one["replacement"] + text[one["end"] :]
    return text


def test_a_text_is_replaced_and_its_entities_point_into_the_input(keys):
    text = f"📦📦 to {MAIL} 🎉 or 202-555-0117"
    (row,), counts = run(keys, {"id": 7, "text": text})
    assert row["id"] == 7
    assert [text[one["start"] : one["end"]] for one in row["entities"]] == [MAIL, "202-555-0117"]
    assert [one["type"] for one in row["entities"]] == ["EMAIL", "PHONE"]
    assert all(set(one) == {"type", "start", "end", "replacement", "score"} for one in row["entities"])
    assert row["text"] == applied(text, row["entities"])
    assert counts == {"lines": 1, "rejected": 0, "replaced": {"EMAIL": 1, "PHONE": 1}, "output_closed": False}


def test_a_text_without_personal_values_comes_back_with_no_entities(keys):
    rows, _ = run(keys, {"text": "hello"}, {"id": "a"}, {})
    assert rows == [{"text": "hello", "entities": []}, {"id": "a", "entities": []}, {"entities": []}]


def test_a_bare_string_becomes_a_text(keys):
    (row,), _ = run(keys, f'"mail {MAIL}"')
    assert set(row) == {"text", "entities"}
    assert row["text"].startswith("mail <EMAIL_")


def test_a_log_record_is_edited_in_all_its_strings(keys):
    record = {
        "messages": [{"role": "user", "content": f"I am {MAIL}"}],
        "tool": json.dumps({"password": "kestrel88", "n": 1}),
        "phone": 2025550117, "model": "gpt-4o-2024-08-06", "usage": {"cost": 1.5},
    }  # fmt: skip
    (row,), _ = run(keys, record)
    assert {one["field"] for one in row["entities"]} == {"/messages/0/content", "/tool", "/phone"}
    assert not any(value in json.dumps(row) for value in (MAIL, "kestrel88", "2025550117"))
    assert (row["model"], row["usage"]) == (record["model"], record["usage"])
    assert json.loads(row["tool"])["n"] == 1
    (place,) = [one for one in row["entities"] if one["field"] == "/messages/0/content"]
    assert record["messages"][0]["content"][place["start"] : place["end"]] == MAIL


def test_what_is_beside_the_text_is_edited_too(keys):
    (row,), _ = run(keys, {"text": "see below", "author": MAIL, "note": f"{MAIL}!"})
    assert row["author"] == row["note"][:-1]
    assert MAIL not in json.dumps(row)


def test_a_value_told_in_one_field_is_replaced_in_the_others(keys):
    (row,), _ = run(keys, {"text": "password: kestrel88", "other": "xkestrel88"})
    assert "kestrel88" not in json.dumps(row)


def test_names_of_members_are_edited_and_not_told(keys):
    (row,), _ = run(keys, {"text": "x", MAIL: {"phone": "202-555-0117"}})
    assert MAIL not in json.dumps(row)
    name, value = row["entities"]
    assert name["of"] == "name"
    assert value["field"] == f"{name['field']}/phone"


def test_everything_but_values_stays_byte_for_byte(keys):
    line = '{ "a" : 1.50e3 , "big": 123456789012345678901234567890, "m":"\\u0022' + MAIL + '\\u0022 \\/" , "b":[]}'
    told = CliRunner().invoke(command, ["--keys", str(keys.path), "--policy", "analytics"], input=line.encode())
    start = '{ "a" : 1.50e3 , "big": 123456789012345678901234567890, "m":"\\u0022<EMAIL_'
    assert told.stdout.startswith(start)
    assert '>\\u0022 \\/" , "b":[],"entities":[{' in told.stdout


def test_another_member_may_be_the_text(keys):
    (row,), _ = run(keys, {"prompt": f"to {MAIL}"}, arguments=("--field", "prompt", "--policy", "analytics"))
    assert "field" not in row["entities"][0]


def test_the_last_of_repeated_texts_counts_and_none_is_left(keys):
    (row,), _ = run(keys, f'{{"text":"first {MAIL}","text":"last {MAIL}"}}')
    assert row["text"].startswith("last <EMAIL_")
    assert MAIL not in json.dumps(row)


def test_entities_of_an_earlier_run_are_replaced(keys):
    (row,), _ = run(keys, {"text": f"to {MAIL}", "entities": [{"start": 0}]})
    assert [one["type"] for one in row["entities"]] == ["EMAIL"]


@pytest.mark.parametrize(
    ("line", "reason"), [(b"not json", "bad_json"), (b'{"text":NaN}', "bad_json"), (b'"\xff"', "bad_utf8")]
)
def test_a_broken_line_is_rejected_and_its_neighbours_pass(keys, line, reason):
    data = b'{"text":"a"}\n\n' + line + b'\n{"text":"b"}'
    told = CliRunner().invoke(command, ["--keys", str(keys.path), "--json"], input=data)
    rows = [json.loads(one) for one in told.stdout.splitlines()]
    assert [row.get("text") for row in rows] == ["a", None, "b"]
    assert (rows[1]["rejected"], rows[1]["line"]) == (reason, 3)
    assert json.loads(told.stderr)["rejected"] == 1


def test_a_line_that_fails_is_rejected_and_never_passes(keys, monkeypatch):
    def fail(self, row, tagged):
        if "bad" in row.fields["text"]:
            raise MemoryError("bad luck")
        return edit(self, row, tagged)

    edit = Anonymizer._row
    monkeypatch.setattr(Anonymizer, "_row", fail)
    rows, counts = run(keys, {"text": "a"}, {"text": "bad"}, {"text": "c"})
    assert [row.get("rejected") for row in rows] == [None, "anonymise_failed", None]
    assert "bad" not in json.dumps(rows)
    assert counts["rejected"] == 1


def test_lines_keep_their_order_over_batches(keys):
    count = BATCH_LINES * 2 + 10
    rows, counts = run(keys, *({"id": i, "text": MAIL if i % 3 else "x"} for i in range(count)))
    assert [row["id"] for row in rows] == list(range(count))
    assert counts["lines"] == count


def test_a_policy_that_is_not_there_is_wrong_use(keys):
    told = CliRunner().invoke(command, ["--keys", str(keys.path), "--policy", "traning"], input=b"")
    assert told.exit_code == 2
    assert "wanted training, analytics" in told.output


def test_the_first_run_makes_keys_and_says_so(tmp_path):
    told = CliRunner().invoke(command, ["--keys", str(tmp_path / "keys")], input=b'{"text":"a@korvane-labs.com"}\n')
    assert "made new keys" in told.stderr
    again = CliRunner().invoke(command, ["--keys", str(tmp_path / "keys")], input=b'{"text":"a@korvane-labs.com"}\n')
    assert "made new keys" not in again.stderr
    assert again.stdout == told.stdout


def test_it_runs_without_spark_kafka_and_torch(keys):
    blocked = "pyspark delta torch transformers sentence_transformers lancedb great_expectations confluent_kafka pandas"
    program = (
        f"import sys\nfor name in {blocked.split()!r}: sys.modules[name] = None\n"
        f"from jobs.pipe_anonymize import command\ncommand(['--keys', {str(keys.path)!r}])\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        input=b'{"text":"to nina@korvane-labs.com"}\n',
        capture_output=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert MAIL.encode() not in told.stdout


def test_a_line_comes_out_before_the_next_one_is_there(keys):
    program = f"from jobs.pipe_anonymize import command\ncommand(['--keys', {str(keys.path)!r}])\n"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as filter_:
        filter_.stdin.write(b'{"text":"one"}\n')
        filter_.stdin.flush()
        assert json.loads(filter_.stdout.readline())["text"] == "one"
        filter_.stdin.close()
        assert filter_.wait(60) == 0


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=12),
    st.sampled_from([MAIL, "202-555-0117", "ssn 529-41-6372"]),
)
MEMBERS = st.text(max_size=6) | st.just("text")
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=4))


def shape(value):
    if isinstance(value, dict):
        return [shape(inner) for inner in value.values()]
    return [shape(inner) for inner in value] if isinstance(value, list) else None


@given(st.dictionaries(MEMBERS, VALUES, max_size=4), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_record_keeps_its_structure_and_loses_its_values(keys, record, ascii_only):
    record.pop("entities", None)
    line = read_line(json.dumps(record, ensure_ascii=ascii_only), "text")
    (written,) = anonymize_lines([line], Anonymizer(keys, ANALYTICS), "default")
    row = json.loads(written)
    entities = row.pop("entities")
    assert shape(row) == shape(record)
    assert not any(value in json.dumps(row) for value in (MAIL, "202-555-0117", "529-41-6372"))
    assert all(one["start"] <= one["end"] for one in entities)


@given(VALUES)
def test_pointers_lead_to_the_values_of_a_record(value):
    source = json.dumps(value)
    for one in values_of(source):
        if one.is_name:
            continue
        found = value
        for step in one.pointer.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = found[int(name)] if isinstance(found, list) else found[name]
        assert json.loads(source[one.start : one.end]) == found


# From Python


def test_one_text_in_three_lines(keys):
    clean = anonymize(f"to {MAIL}", keys=keys.path, policy="analytics")
    assert clean.text.startswith("to <EMAIL_")
    assert [kind for *_, kind in clean.redactions] == ["EMAIL"]


def test_columns_of_pandas_arrow_and_duckdb_give_the_same_texts(keys):
    texts = [f"to {MAIL}", None, "hello", "call 202-555-0117"]
    column = ColumnAnonymizer(keys.path, "analytics")
    wanted = column.values(texts)
    assert wanted[1:3] == [None, "hello"]
    assert column.arrow(pa.array(texts)).to_pylist() == wanted
    assert column.arrow(pa.chunked_array([texts[:2], texts[2:]])).to_pylist() == wanted
    frame = pd.DataFrame({"text": texts})
    frame["text"] = column.values(frame["text"])
    assert frame["text"].tolist() == wanted
    with duckdb.connect() as connection:
        connection.create_function(
            "anonymize", column.arrow, ["VARCHAR"], "VARCHAR", type="arrow", null_handling="special"
        )
        connection.register("logs", pa.table({"id": range(4), "text": pa.array(texts)}))
        rows = connection.sql("SELECT anonymize(text) FROM logs ORDER BY id").fetchall()
    assert [text for (text,) in rows] == wanted
