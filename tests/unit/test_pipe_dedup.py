"""`turnmill pipe dedup`: every line out again, each told whether it repeats an earlier one and which."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import pipe_dedup
from jobs.command_line import main
from schemas.records import MAX_RECORD_BYTES

QUESTION = "how do i reset my router to defaults"
NOTHING = {"dropped": False, "rule": None, "matched_id": None, "score": None}


def run(*lines, arguments=()):
    data = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    told = CliRunner().invoke(main, ["pipe", "dedup", "--json", *arguments], input=data)
    assert told.exit_code == 0, told.output
    return [json.loads(one) for one in told.stdout.split("\n") if one], json.loads(told.stderr.splitlines()[-1])


def talk(question, answer="Press the button for ten seconds.", system="You help."):
    turns = [("system", system), ("user", question), ("assistant", answer)]
    return {"messages": [{"role": role, "content": content} for role, content in turns]}


def test_every_line_comes_back_with_what_became_of_it():
    rows, counts = run(
        {"id": "a", "text": QUESTION}, {"id": "b", "text": QUESTION + "?"}, {"id": "c", "text": QUESTION}
    )
    assert rows[0] == {"id": "a", "text": QUESTION, **NOTHING}
    assert rows[1] == {"id": "b", "text": QUESTION + "?", "dropped": True, "rule": "near_duplicate", "matched_id": "a",
                       "score": 1.0}  # fmt: skip
    assert (rows[2]["rule"], rows[2]["matched_id"]) == ("exact_duplicate", "a")
    assert counts == {"lines": 3, "kept": 1, "exact_duplicate": 1, "near_duplicate": 1, "without_text": 0,
                      "rejected": 0, "output_closed": False, "giants": []}  # fmt: skip


def test_ids_keep_their_type_and_a_line_without_one_is_named_by_its_number():
    rows, _ = run({"id": 0, "text": "Adhesion"}, {"id": 1, "text": "Adhesion"}, b"", "yes", "yes")
    assert [row["matched_id"] for row in rows] == [None, 0, None, 4]
    assert rows[2]["text"] == "yes"


def test_lines_with_one_id_are_still_compared():
    rows, _ = run({"id": "a", "text": QUESTION}, {"id": "a", "text": QUESTION})
    assert [row["dropped"] for row in rows] == [False, True]


def test_talks_are_compared_by_all_their_messages():
    rows, _ = run(
        talk(QUESTION), talk(QUESTION + "!"), talk(QUESTION, "I do not know that, please ask the maker of it.")
    )
    assert [row["matched_id"] for row in rows] == [None, 1, None]


def test_shared_instructions_make_no_talks_alike():
    system = " ".join(f"rule{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300))
    rows, _ = run(
        talk("where is my parcel now", "It is on its way.", system), talk("what do you cost", "Nothing.", system)
    )
    assert [row["dropped"] for row in rows] == [False, False]


def test_calls_without_text_are_not_equal():
    def turn(call_id, number):
        call = {"id": call_id, "name": "look", "arguments": json.dumps({"n": number})}
        return {"role": "assistant", "text": "", "tool_calls": [call]}

    rows, _ = run(turn("c1", 1), turn("c2", 2), turn("other", 1))
    assert [row["dropped"] for row in rows] == [False, False, True]


def test_tenants_and_roles_are_not_compared_with_each_other():
    rows, _ = run(
        *({"tenant": tenant, "role": role, "text": "yes"} for tenant in "ab" for role in ("user", "assistant"))
    )
    assert not any(row["dropped"] for row in rows)


def test_other_members_come_back_byte_for_byte():
    data = b'{"big":123456789012345678901234567890, "text" : "x\\u00e9" }'
    told = CliRunner().invoke(main, ["pipe", "dedup"], input=data)
    assert told.stdout_bytes.startswith(data[:-1] + b',"dropped":false')


def test_a_second_run_replaces_the_answers_of_the_first():
    rows, _ = run({"text": "yes", "dropped": True, "rule": "x", "matched_id": 9, "score": 0.5})
    assert rows == [{"text": "yes", **NOTHING}]


def test_what_has_no_text_is_never_dropped():
    rows, counts = run({"x": 1}, {"x": 1}, {}, [1], 5, None)
    assert [row["dropped"] for row in rows] == [False] * 6
    assert rows[3]["record"] == [1]
    assert counts["without_text"] == 6


def test_what_is_no_json_is_rejected_and_its_bytes_are_not_shown():
    rows, counts = run(b'{"text": "hidden', b'"\xff"', b'"' + b"x" * (MAX_RECORD_BYTES + 1) + b'"', {"text": "yes"})
    assert [row.get("rejected") for row in rows] == ["bad_json", "bad_utf8", "too_large", None]
    assert [row.get("line") for row in rows] == [1, 2, 3, None]
    assert "hidden" not in json.dumps(rows)
    assert (counts["rejected"], counts["kept"]) == (3, 1)


def test_field_and_threshold_can_be_named():
    text = " ".join(f"word{chr(97 + n)}" for n in range(26)) + " and some more"
    other = text.replace("wordc", "wordcc").replace("wordm", "").replace("words ", "")
    lines = [{"body": text}, {"body": other}]
    assert [row["dropped"] for row in run(*lines, arguments=("--field", "body"))[0]] == [False, True]
    strict = run(*lines, arguments=("--field", "body", "--threshold", "0.99"))[0]
    assert [row["dropped"] for row in strict] == [False, False]


@pytest.mark.parametrize("value", ["0", "1.5", "much", "nan"])
def test_a_threshold_that_makes_no_sense_is_wrong_use(value):
    told = CliRunner().invoke(main, ["pipe", "dedup", "--threshold", value], input=b"")
    assert told.exit_code == 2


def test_no_lines_are_no_fault():
    assert run() == ([], {"lines": 0, "kept": 0, "exact_duplicate": 0, "near_duplicate": 0, "without_text": 0,
                          "rejected": 0, "output_closed": False, "giants": []})  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from([QUESTION, QUESTION + "?", "yes", "no", "what is the time now", ""]), max_size=12))
def test_the_size_of_batches_changes_nothing(texts):
    lines = [{"text": text} for text in texts]
    whole, _ = run(*lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipe_dedup.Comparing, "batch_lines", 2)
        assert run(*lines)[0] == whole


def test_lines_are_answered_while_the_input_stays_open():
    command = [sys.executable, "-m", "jobs.command_line", "pipe", "dedup"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for text, dropped in ((QUESTION, False), (QUESTION, True)):
            process.stdin.write(json.dumps({"text": text}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["dropped"] is dropped
        process.stdin.close()
        assert process.wait(60) == 0
