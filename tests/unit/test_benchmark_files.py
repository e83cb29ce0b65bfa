import gzip
import hashlib
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from pipelines.adapters.benchmark_files import find_benchmark_files, read_benchmark
from pipelines.decontamination.items import BenchmarkError, FieldNames, items_of
from pipelines.decontamination.known_benchmarks import known_benchmarks, known_by_content, read_list

RECORDS = [
    {"question_id": 7, "question": "How many keepers has the lighthouse?", "answer": "Two of them."},
    {"question_id": 8, "question": "When was it built?\nGive the year.", "answer": "In 1871."},
]


def written(path, kind):
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(RECORDS), path)
        return
    lines = "\n".join(map(json.dumps, RECORDS))
    csv_rows = "question_id,question,answer\r\n" + "".join(
        f'{r["question_id"]},"{r["question"]}",{r["answer"]}\r\n' for r in RECORDS
    )
    content = {
        "jsonl": lines,
        "json": json.dumps(RECORDS, indent=1),
        "wrapped.json": json.dumps({"version": 1, "data": RECORDS}),
        "csv": csv_rows,
        "bom.csv": "\ufeff" + csv_rows,
        "tsv": csv_rows.replace(",", "\t"),
    }
    name = kind.removesuffix(".gz").removesuffix(".zst")
    raw = content[name].encode()
    path.write_bytes(
        gzip.compress(raw) if kind.endswith(".gz") else zstandard.compress(raw) if kind.endswith(".zst") else raw
    )


@pytest.mark.parametrize(
    "kind", ["jsonl", "json", "wrapped.json", "csv", "bom.csv", "tsv", "parquet", "jsonl.gz", "json.zst", "csv.gz"]
)
def test_every_kind_of_file_gives_the_same_items(tmp_path, kind):
    path = tmp_path / f"lights.{kind}"
    written(path, kind)
    found = read_benchmark(path)
    assert [(item.benchmark, item.item_id, item.side, item.text) for item in found.items] == [
        ("lights", str(r["question_id"]), side, r[name])
        for r in RECORDS
        for side, name in (("prompt", "question"), ("answer", "answer"))
    ]
    assert found.n_records == 2


def test_a_text_file_holds_a_prompt_a_line_or_a_paragraph(tmp_path):
    path = tmp_path / "prompts.txt"
    path.write_text("First prompt.\nSecond prompt.\n")
    assert [item.text for item in read_benchmark(path).items] == ["First prompt.", "Second prompt."]
    path.write_text("First prompt\nof two lines.\n\nSecond prompt.\n")
    assert [item.text for item in read_benchmark(path).items] == ["First prompt\nof two lines.", "Second prompt."]


@pytest.mark.parametrize(
    ("record", "prompt", "answer"),
    [
        ({"uid": "a", "prompt": "Ask"}, "Ask", ""),
        ({"turns": ["First?", "Second?"], "reference": ["One", "Two"]}, "First?\nSecond?", "One\nTwo"),
        ({"turns": [{"content": "First?"}]}, "First?", ""),
        ({"instruction": "Add.", "input": "2 and 3", "output": "5"}, "Add.\n2 and 3", "5"),
        ({"instruction": "Add.", "input": "", "output": 5}, "Add.", "5"),
        ({"task_id": "H/1", "prompt": "def f():", "canonical_solution": "  return 1"}, "def f():", "  return 1"),
        (
            {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": {"answer": "Yes"}}]},
            "Hi",
            "Yes",
        ),
        ({"messages": [{"from": "human", "value": "Hi"}]}, "", ""),
    ],
)
def test_fields_are_found_by_their_usual_names(record, prompt, answer):
    if not prompt:
        with pytest.raises(BenchmarkError):
            items_of({"messages": [{"from": "tool", "value": "Hi"}]}, "b", 1, FieldNames())
        return
    found = {item.side: item.text for item in items_of(record, "b", 1, FieldNames())}
    assert found == {side: text for side, text in (("prompt", prompt), ("answer", answer)) if text}


def test_fields_can_be_named():
    record = {"sentence": "The harbour [MASK] in winter.", "gold": "freezes", "prompt": "unused", "nr": "x9"}
    found = items_of(record, "b", 1, FieldNames(prompt=("sentence",), answer=("gold",), item_id="nr"))
    assert [(item.item_id, item.text) for item in found] == [("x9", "The harbour [MASK] in winter."), ("x9", "freezes")]


def test_a_field_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(BenchmarkError, match="the field gold with text, found nr, sentence; name the fields") as raised:
        items_of({"sentence": "secret words", "nr": 1}, "b", 3, FieldNames(answer=("gold",)))
    assert "record 3" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_record_without_an_id_is_called_by_its_number(tmp_path):
    path = tmp_path / "b.jsonl"
    path.write_text('{"prompt":"one"}\n{"prompt":"two"}\n')
    assert [item.item_id for item in read_benchmark(path).items] == ["1", "2"]


def test_a_line_separator_inside_a_record_ends_no_record(tmp_path):
    path = tmp_path / "b.jsonl"
    path.write_text('{"prompt":"one\u2028more"}\n{"prompt":"two"}\n', encoding="utf-8")
    assert [item.text for item in read_benchmark(path).items] == ["one\u2028more", "two"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("b.jsonl", b"{no json\n", "record 1: wanted JSON"),
        ("b.json", b"[]", "found none"),
        ("b.csv", b"\xff\xfeq\n", "wanted UTF-8"),
        ("b.jsonl", b'{"category":"x"}\n', "found category"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BenchmarkError, match=re.escape(told)):
        read_benchmark(tmp_path / name)


def test_a_folder_stands_for_the_benchmarks_in_it(tmp_path):
    for name in ("b.jsonl", "deep/a.csv", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [path.name for path in find_benchmark_files([tmp_path, tmp_path / "b.jsonl"])] == ["b.jsonl", "a.csv"]
    with pytest.raises(BenchmarkError, match="wanted a benchmark file"):
        find_benchmark_files([tmp_path / "none"])


def test_the_list_names_public_benchmarks_once():
    listed = known_benchmarks()
    assert len({one.name for one in listed}) == len({one.sha256 for one in listed}) == len(listed) >= 5
    for one in listed:
        assert re.fullmatch("[0-9a-f]{64}", one.sha256)
        assert one.source.startswith("https://")
        assert one.licence
        assert known_by_content(one.sha256) == one


def test_a_file_of_the_list_is_known_by_its_content_alone(tmp_path, monkeypatch):
    raw = b'{"prompt":"How high is the tower?"}\n'
    entry = {
        "name": "towers", "title": "Towers", "licence": "MIT", "file": "t.jsonl", "source": "https://example.com",
        "n_items": 1, "sha256": hashlib.sha256(raw).hexdigest(),
    }  # fmt: skip
    listing = tmp_path / "list.toml"
    listing.write_text("[[benchmark]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in entry.items()))
    monkeypatch.setattr("pipelines.decontamination.known_benchmarks.known_benchmarks", lambda: read_list(listing))
    (tmp_path / "anything.jsonl.gz").write_bytes(gzip.compress(raw))
    found = read_benchmark(tmp_path / "anything.jsonl.gz")
    assert (found.name, found.known.licence, found.items[0].benchmark) == ("towers", "MIT", "towers")
