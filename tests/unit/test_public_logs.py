import gzip
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from pipelines.adapters.log_files import log_entries
from pipelines.intake.flags import ORPHAN_TOOL_CALL, TOOL_ARGS_INVALID_JSON
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Feedback, Rejection, Turn
from pipelines.intake.parse import parse_record
from pipelines.synthetic.log_files import load_groups
from schemas.records import FEEDBACK_TOPIC, LOGS_TOPIC

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ROOT / "tests" / "benchmarks" / "public_logs.py"
DATA = ROOT.parent / "shared" / "data" / "conversations"
IDENTITY = IdentityKey(bytes(range(KEY_BYTES)))

SGD_CALLS = {"sgd_train": 1178, "sgd_dev": 642}
SGD_CALLS_WITHOUT_RESULTS = 61
TASKMASTER_CALLS, BROKEN_REQUESTS = 4182, 11

# source records, log records, feedback records: as the page of the data folder counts them
RECORDS = {
    "oasst": (100, 100, 0),
    "fastchat_dummy": (500, 500, 0),
    "mt_bench": (80, 80, 0),
    "arena_hard_v0.1": (500, 500, 0),
    "arena_hard_v2.0": (750, 750, 0),
    "hh_rlhf": (2312, 2 * 2312, 2 * 2312),
    "sgd_train": (627, 627, 0),
    "sgd_dev": (256, 256, 0),
    "taskmaster_4": (1000, 1000, 0),
    "taskmaster_3_reward": (1500, 1500, 1500),
    "taskmaster_4_reward": (2000, 2000, 2000),
}
# messages as the same page counts them; each call brings one message that calls and one that answers
MESSAGES = {
    "oasst": 1167,
    "fastchat_dummy": 2000,
    "mt_bench": 80 * 2 + 30 * 2,
    "arena_hard_v0.1": 500 * 2,
    "arena_hard_v2.0": 750 * 2,
    "sgd_train": 8594 + 2 * SGD_CALLS["sgd_train"],
    "sgd_dev": 3498 + 2 * SGD_CALLS["sgd_dev"],
    "taskmaster_4": 3766 + 2 * TASKMASTER_CALLS,
}


class Quiet(dict):
    """Shows no text of the sets when a test fails: some are harmful by design."""

    def __repr__(self):
        return f"<items of {len(self)} files>"


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the public sets are not here")


def run(*arguments):
    return subprocess.run([sys.executable, COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def rendering(tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    done = run("--out", folder, "--data", DATA)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


@pytest.fixture(scope="module")
def items(rendering):
    """The items of each file by its stem."""
    folder, _ = rendering
    found = Quiet()
    for path in (path for group in load_groups(folder) for path in group.files):
        name = path.name.removesuffix(path.suffix)
        found[name] = [item for entry in log_entries(path) for item in parse_record(entry, {}, IDENTITY)]
    return found


def turns(items, dataset):
    return [item for item in items[dataset] if isinstance(item, Turn)]


@needs_data
def test_every_source_record_comes_out_and_is_counted(rendering):
    folder, told = rendering
    counts = {name: (one["source"], one["records"], one["feedback"]) for name, one in told["datasets"].items()}
    assert counts == RECORDS
    assert told["incomplete"] == []
    assert told["total"]["records"] == sum(records for _, records, _ in RECORDS.values())


@needs_data
def test_the_manifest_lists_every_file_by_topic(rendering):
    folder, told = rendering
    logs, feedback = load_groups(folder)
    assert (logs.topic, feedback.topic) == (LOGS_TOPIC, FEEDBACK_TOPIC)
    listed = {*logs.files, *feedback.files}
    assert listed == {path for path in folder.iterdir() if path.name != "manifest.json"}
    assert sum(path.stat().st_size for path in listed) == told["total"]["bytes"] >= 8_000_000


@needs_data
def test_what_intake_makes_of_the_sets_adds_up(rendering, items):
    _, told = rendering
    for name, one in told["intake"].items():
        if name == "total":
            continue
        of_set = [item for file in (name, f"{name}-feedback") for item in items.get(file, ())]
        turn_ids = [item.turn_id for item in of_set if isinstance(item, Turn)]
        assert one["turns"] == len(set(turn_ids))
        assert one["repeats"] == len(turn_ids) - len(set(turn_ids))
        assert one["feedback"] == sum(isinstance(item, Feedback) for item in of_set)
        assert one["records"] == sum(RECORDS[name][1:])
        assert (one["fragments"], one["dead_letters"], one["unaccounted"]) == (0, {}, 0)
    assert told["intake"]["total"]["turns"] == sum(told["intake"][name]["turns"] for name in RECORDS)
    assert told["intake"]["oasst"]["branches"] == sum(
        n_siblings - 1 for n_siblings in Counter(turn.parent_id for turn in turns(items, "oasst")).values()
    )
    assert {name for name, one in told["intake"].items() if one["branches"]} >= {"oasst", "hh_rlhf"}


@needs_data
def test_no_record_is_rejected(items):
    rejected = Counter(
        (name, str(item.reason)) for name, of_file in items.items() for item in of_file if isinstance(item, Rejection)
    )
    assert not rejected


@needs_data
@pytest.mark.parametrize("dataset", MESSAGES)
def test_every_message_of_the_source_becomes_a_turn(items, dataset):
    assert len(turns(items, dataset)) == MESSAGES[dataset]


@needs_data
@pytest.mark.parametrize("dataset", ["taskmaster_3_reward", "taskmaster_4_reward"])
def test_every_step_of_a_rated_context_becomes_a_turn(items, dataset):
    folder = DATA / "taskmaster" / ("TM-3-2020" if "3" in dataset else "TM-4-2024") / "reward"
    rows = [row for path in folder.iterdir() for row in json.loads(read(path))]
    assert len(turns(items, dataset)) == sum(len(json.loads(row["context"])) + 1 for row in rows)


@needs_data
def test_transcripts_of_preference_pairs_come_back_from_their_turns(items):
    pairs = [json.loads(line) for line in read(DATA / "hh-rlhf/harmless-base/test.jsonl.gz").splitlines()]
    sides = iter(side for pair in pairs for side in (pair["chosen"], pair["rejected"]))
    told, names = [], {"user": "Human", "assistant": "Assistant"}
    for turn in turns(items, "hh_rlhf"):
        if turn.position == 0:
            told.append("")
        told[-1] += f"\n\n{names[turn.message.role]}: {turn.message.text}"
    assert sum(bare(one) != bare(side) for one, side in zip(told, sides, strict=True)) == 0


@needs_data
def test_the_two_replies_of_a_pair_are_siblings_unless_the_pair_parts_before(items):
    last = {}
    for turn in turns(items, "hh_rlhf"):
        if turn.message.response_id is not None:
            last.setdefault(turn.conversation_ref, []).append(turn)
    parents = Counter(len({turn.parent_id for turn in pair}) for pair in last.values())
    assert parents == {1: 2307, 2: 5}
    assert all(len({turn.root_id for turn in pair}) == 1 for pair in last.values())


@needs_data
@pytest.mark.parametrize(
    ("dataset", "kind", "values"),
    [
        ("hh_rlhf", "vote", {1.0: 2312, -1.0: 2312}),
        ("taskmaster_3_reward", "thumb", {1.0: 321, -1.0: 1179}),
        ("taskmaster_4_reward", "thumb", {1.0: 1581, -1.0: 419}),
    ],
)
def test_every_rating_judges_a_logged_response_in_its_conversation(items, dataset, kind, values):
    ratings = [item for item in items[f"{dataset}-feedback"] if isinstance(item, Feedback)]
    assert {item.rating.kind for item in ratings} == {kind}
    assert Counter(item.rating.value for item in ratings) == values
    logged = {(turn.message.response_id, turn.conversation_ref) for turn in turns(items, dataset)}
    assert {(item.rating.response_id, item.conversation_ref) for item in ratings} == logged - {
        place for place in logged if place[0] is None
    }
    assert len({item.feedback_id for item in ratings}) == len(ratings)


@needs_data
def test_ranks_and_thumbs_of_trees_are_feedback(items):
    kinds = Counter(item.rating.kind for item in items["oasst"] if isinstance(item, Feedback))
    assert kinds == {"rank": 641, "vote": 735}


@needs_data
def test_every_call_has_its_answer_and_empty_results_are_answers_too(items):
    orphans = Counter(
        name
        for name, of_file in items.items()
        for item in of_file
        if isinstance(item, Turn) and ORPHAN_TOOL_CALL in item.message.flags
    )
    assert not orphans
    for dataset, n_calls in {**SGD_CALLS, "taskmaster_4": TASKMASTER_CALLS}.items():
        calls = [call for turn in turns(items, dataset) for call in turn.message.tool_calls]
        assert len(calls) == n_calls
        assert all(turn.message.tool_name for turn in turns(items, dataset) if turn.message.role == "tool")
    empty = [turn for dataset in SGD_CALLS for turn in turns(items, dataset) if turn.message.text == "[]"]
    assert len(empty) == SGD_CALLS_WITHOUT_RESULTS


@needs_data
def test_requests_that_are_no_json_stay_the_strings_they_are(items):
    flagged = [turn for turn in turns(items, "taskmaster_4") if TOOL_ARGS_INVALID_JSON in turn.message.flags]
    assert len(flagged) == BROKEN_REQUESTS


@needs_data
def test_tools_of_a_dialogue_hold_every_tool_that_it_calls(rendering):
    folder, _ = rendering
    for name in ("sgd_train", "sgd_dev", "taskmaster_3_reward"):
        for entry in log_entries(folder / f"{name}.jsonl"):
            request = json.loads(entry)["request"]
            known = [tool["function"]["name"] for tool in request["tools"]]
            called = {call["function"]["name"] for said in request["messages"] for call in said.get("tool_calls", ())}
            assert len(set(known)) == len(known)
            assert called <= set(known)


@needs_data
def test_logs_that_are_logs_already_go_out_byte_by_byte(rendering):
    folder, _ = rendering
    assert (folder / "oasst.jsonl").read_bytes() == (DATA / "oasst/en_100_tree.jsonl").read_bytes()
    assert (folder / "fastchat_dummy.json").read_bytes() == (DATA / "fastchat/dummy_conversation.json").read_bytes()


def test_a_missing_set_is_one_sentence_and_nothing_is_written(tmp_path):
    done = run("--out", tmp_path / "out", "--data", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("wanted oasst/")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@needs_data
def test_files_of_others_are_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    done = run("--out", tmp_path, "--data", DATA)
    assert done.returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def read(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def bare(text):
    return "".join(text.split())
