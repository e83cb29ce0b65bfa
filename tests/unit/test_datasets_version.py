import random

import hypothesis.strategies as st
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset
from hypothesis import given, settings

from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.version import (
    EXAMPLE_SCHEMA,
    MANIFEST,
    content_hash,
    publish,
    sorted_batches,
    trl_row,
    verify_version,
    version_name,
    write_version,
)
from pipelines.intake.identity import IdentityKey
from schemas import TRAINING_EXAMPLES


def message(role, text, tool_calls=(), tool_call_id=None):
    return {"role": role, "text": text, "tool_calls": list(tool_calls), "tool_call_id": tool_call_id}


def examples(n, validation_every=10):
    rows = [
        TRAINING_EXAMPLES.row(
            example_id=f"e{i:06d}",
            prompt=[message("user", f"question {i}")],
            completion=[message("assistant", f"answer {i}")],
            split="validation" if i % validation_every == 0 else "train",
        )
        for i in range(n)
    ]
    for row in rows:
        del row["dataset_version"]
    return rows


def batches(rows, size=None):
    table = pa.Table.from_pylist(rows, schema=EXAMPLE_SCHEMA)
    return table.to_batches(max_chunksize=size or max(len(rows), 1))


def test_equal_rows_give_equal_bytes_however_they_are_cut(tmp_path):
    rows = examples(12_000)
    first = write_version(batches(rows), tmp_path / "a")
    second = write_version(batches(rows, 701), tmp_path / "b")
    assert first == second
    for name in first.sha256:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@given(st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_the_content_hash_does_not_depend_on_the_order_of_rows(chance):
    rows = examples(50)
    mixed = rows[:]
    chance.shuffle(mixed)
    assert content_hash(mixed) == content_hash(rows)


def test_the_version_is_named_by_the_hash_of_its_rows(tmp_path):
    rows = examples(30)
    written = write_version(batches(rows), tmp_path / "a")
    assert written.content_hash == content_hash(rows)
    assert written.dataset_version == version_name(content_hash(rows))
    assert written.split_counts == {"train": 27, "validation": 3}


def test_any_changed_word_makes_another_version():
    rows = examples(5)
    before = content_hash(rows)
    rows[3]["completion"][0]["text"] += "!"
    assert content_hash(rows) != before


def test_rows_out_of_order_are_refused(tmp_path):
    rows = examples(3)[::-1]
    with pytest.raises(ValueError, match="rising example_id"):
        write_version(batches(rows), tmp_path / "a")


def test_publishing_twice_leaves_the_first(tmp_path):
    written = write_version(batches(examples(4)), tmp_path / "staging")
    manifest = {"content_hash": written.content_hash, "sha256": dict(written.sha256)}
    assert publish(tmp_path / "staging", tmp_path / "ds", manifest)
    first = (tmp_path / "ds" / MANIFEST).stat().st_mtime_ns
    write_version(batches(examples(4)), tmp_path / "staging")
    assert not publish(tmp_path / "staging", tmp_path / "ds", manifest)
    assert (tmp_path / "ds" / MANIFEST).stat().st_mtime_ns == first
    assert not (tmp_path / "staging").exists()
    assert verify_version(tmp_path / "ds") == []


def test_a_folder_that_a_crash_left_without_manifest_is_replaced(tmp_path):
    (tmp_path / "ds").mkdir()
    (tmp_path / "ds" / "train.jsonl").write_text("half")
    written = write_version(batches(examples(4)), tmp_path / "staging")
    publish(
        tmp_path / "staging", tmp_path / "ds", {"content_hash": written.content_hash, "sha256": dict(written.sha256)}
    )
    assert verify_version(tmp_path / "ds") == []


def test_a_changed_file_is_found(tmp_path):
    written = write_version(batches(examples(4)), tmp_path / "staging")
    publish(
        tmp_path / "staging", tmp_path / "ds", {"content_hash": written.content_hash, "sha256": dict(written.sha256)}
    )
    with (tmp_path / "ds" / "train.jsonl").open("ab") as file:
        file.write(b" ")
    assert verify_version(tmp_path / "ds") == ["train.jsonl: missing or changed since it was published"]


def test_tool_arguments_become_objects_and_ids_are_kept():
    call = {"id": "call_1", "name": "weather", "arguments": '{"city": "Rome"}'}
    row = {
        "kind": "sft",
        "prompt": [
            message("user", "Weather?"),
            message("assistant", "", [call]),
            message("tool", "22 C", (), "call_1"),
        ],
        "completion": [message("assistant", "It is 22 C.")],
    }
    told = trl_row(row)
    assert told["prompt"][1]["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}
    ]
    assert told["prompt"][2]["tool_call_id"] == "call_1"
    assert told["completion"] == [{"role": "assistant", "content": "It is 22 C."}]


def test_tools_stand_in_the_row_that_is_trained_on_as_json_text():
    tools = '[{"type":"function","function":{"name":"weather"}}]'
    row = {"kind": "sft", "prompt": [message("user", "Weather?")], "completion": [message("assistant", "Rain.")]}
    assert trl_row(row | {"tools": tools})["tools"] == tools
    assert "tools" not in trl_row(row | {"tools": None})


def test_arguments_that_are_no_json_are_refused_without_being_quoted():
    call = {"id": None, "name": "find", "arguments": '{"name": "Ida'}
    with pytest.raises(ValueError, match="arguments that are JSON") as refused:
        trl_row({"kind": "sft", "prompt": [], "completion": [message("assistant", "", [call])]})
    assert "Ida" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_the_jsonl_loads_into_datasets_with_differing_tool_arguments(tmp_path):
    rows = examples(3)
    for row, arguments in zip(rows, ('{"city":"Rome"}', '{"n":3}', '{"city":["a"]}'), strict=True):
        row["completion"][0]["tool_calls"] = [{"id": None, "name": "t", "arguments": arguments}]
        row["split"] = "train"
    write_version(batches(rows), tmp_path / "a")
    lines = [orjson.loads(line) for line in (tmp_path / "a" / "train.jsonl").read_bytes().splitlines()]
    loaded = Dataset.from_list(lines, on_mixed_types="use_json")
    assert [r["completion"][0]["tool_calls"][0]["function"]["arguments"] for r in loaded] == [
        {"city": "Rome"},
        {"n": 3},
        {"city": ["a"]},
    ]


def judged(kind):
    answers = [message("assistant", "yes"), message("user", "sure?"), message("assistant", "no")]
    sides = {
        "preference": {"completion": None, "chosen": answers[:1], "rejected": answers[2:]},
        "unpaired": {"completion": answers[:1], "label": False},
        "conversation": {"completion": answers, "loss_mask": [True, False, False]},
    }
    return TRAINING_EXAMPLES.row(kind=kind, prompt=[message("user", "Is it?")], **sides[kind])


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("preference", ["prompt", "chosen", "rejected"]),
        ("unpaired", ["prompt", "completion", "label"]),
        ("conversation", ["prompt", "completion", "loss_mask"]),
    ],
)
def test_each_kind_is_written_in_its_own_form_and_read_back(kind, names, tmp_path):
    row = judged(kind)
    del row["dataset_version"]
    written = write_version(batches([row]), tmp_path / "a")
    [line] = (tmp_path / "a" / "train.jsonl").read_bytes().splitlines()
    assert orjson.loads(line) == trl_row(row)
    assert list(orjson.loads(line)) == names
    assert written.split_counts == {"train": 1, "validation": 0}
    [stored] = pq.read_table(tmp_path / "a" / "examples.parquet").to_pylist()
    assert content_hash([stored]) == written.content_hash


def test_line_ends_of_unicode_inside_a_text_end_no_line(tmp_path):
    [row] = examples(1, validation_every=2)
    row["completion"][0]["text"] = "one\u2028two\u2029three\u0085four"
    write_version(batches([row]), tmp_path / "a")
    [line] = (tmp_path / "a" / "validation.jsonl").read_text("utf-8").splitlines()
    assert orjson.loads(line)["completion"][0]["content"] == row["completion"][0]["text"]


def test_sorted_batches_read_files_in_the_order_given(tmp_path):
    rows = examples(10)
    for name, part in (("p1", rows[:5]), ("p2", rows[5:])):
        pq.write_table(pa.Table.from_pylist(part, schema=EXAMPLE_SCHEMA), tmp_path / name)
    read = [row["example_id"] for b in sorted_batches([tmp_path / "p1", tmp_path / "p2"]) for row in b.to_pylist()]
    assert read == [row["example_id"] for row in rows]


def test_a_user_stays_in_one_split_for_good():
    key, policy = IdentityKey(bytes(range(32))), CurationPolicy()
    users = [f"user-{random.Random(i).getrandbits(64)}" for i in range(2_000)]
    splits = [policy.split(key.split_bucket("default", user)) for user in users]
    again = [policy.split(IdentityKey(bytes(range(32))).split_bucket("default", user)) for user in users]
    assert splits == again
    assert 0.07 < splits.count("validation") / len(splits) < 0.13


@pytest.mark.parametrize("percent", [-1, 101])
def test_a_share_outside_0_to_100_is_refused(percent):
    with pytest.raises(ValueError, match="validation_percent"):
        CurationPolicy(validation_percent=percent)
