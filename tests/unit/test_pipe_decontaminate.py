import json

import pytest
from click.testing import CliRunner

from jobs.text_pipes import command as pipe

ITEM = (
    "The keeper counts 214 ships in the first week of May, how many does he count in the second one if 31 are missing?"
)
CLEAN = "How do I bake bread without an oven?"


@pytest.fixture
def benchmarks(tmp_path):
    path = tmp_path / "ships.jsonl"
    path.write_text(json.dumps({"id": "s1", "question": ITEM, "answer": "No"}) + "\n")
    return path


def run(benchmarks, *lines, flags=()):
    return CliRunner().invoke(
        pipe, ["decontaminate", "--benchmarks", str(benchmarks), *flags], input="".join(f"{line}\n" for line in lines)
    )


def told(benchmarks, *lines, flags=()):
    done = run(benchmarks, *lines, flags=flags)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_line_comes_back_with_what_it_holds(benchmarks):
    found = told(benchmarks, json.dumps({"text": ITEM, "n": 1}), "", json.dumps({"text": CLEAN}), json.dumps(ITEM))
    leak = {
        "benchmark": "ships", "item": "s1", "side": "prompt", "how": "words", "score": 1.0, "verdict": "contaminated",
    }  # fmt: skip
    assert found == [
        {"text": ITEM, "n": 1, "verdict": "contaminated", "leaks": [leak]},
        {"text": CLEAN, "verdict": None, "leaks": []},
        {"text": ITEM, "verdict": "contaminated", "leaks": [leak]},
    ]


def test_a_log_record_is_checked_in_all_its_messages(benchmarks):
    messages = [
        {"role": "user", "content": "Look it up."},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": json.dumps({"hits": [ITEM]})},
        {"role": "assistant", "content": "Found it."},
    ]
    (found,) = told(benchmarks, json.dumps({"messages": messages}))
    assert found["verdict"] == "contaminated"
    assert found["messages"] == messages


def test_a_line_that_is_no_json_is_told_with_its_number(benchmarks):
    found = told(benchmarks, json.dumps({"text": CLEAN}), "", "{no")
    assert found[1] == {"rejected": "bad_json", "detail": "character 1", "line": 3}


def test_numbers_beyond_64_bits_stay_as_they_are(benchmarks):
    done = run(benchmarks, '{"text": "%s", "n": 123456789012345678901234567890}' % CLEAN)  # noqa: UP031
    assert '"n": 123456789012345678901234567890' in done.stdout


def test_benchmarks_and_counts_are_told(benchmarks):
    done = run(benchmarks, json.dumps({"text": ITEM}), json.dumps({"text": CLEAN}), flags=["--json"])
    figures = json.loads(done.stderr)
    assert {name: figures[name] for name in ("lines", "contaminated", "flag_for_review", "clean", "rejected")} == {
        "lines": 2, "contaminated": 1, "flag_for_review": 0, "clean": 1, "rejected": 0,
    }  # fmt: skip
    (one,) = figures["benchmarks"]
    assert (one["name"], one["records"], one["items"], one["compared_whole"]) == ("ships", 1, 2, 1)


def test_a_benchmark_whose_fields_are_not_known_is_told(benchmarks):
    benchmarks.write_text('{"category": "x"}\n')
    done = run(benchmarks, json.dumps({"text": ITEM}))
    assert done.exit_code == 1
    assert "name the fields of prompt and answer" in done.output
    done = run(benchmarks, json.dumps({"text": "x"}), flags=["--prompt-field", "category"])
    assert done.exit_code == 0
