"""``turnmill dataset``: versions on disk, listed, compared, verified and exported without Spark or Java."""

import datetime as dt
import json
import subprocess
import sys

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from jobs.command_line import main
from pipelines.adapters import delta
from pipelines.datasets.stored_version import StoredVersion, difference, stored_version
from pipelines.datasets.version import EXAMPLE_SCHEMA, EXAMPLES_FILE, MANIFEST, publish, write_version
from schemas import DATASET_VERSIONS, TRAINING_EXAMPLES

CUT_AT = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.UTC)


def example(number, answer="Fine."):
    sides = {
        side: [{"role": role, "text": text, "tool_calls": [], "tool_call_id": None}]
        for side, role, text in (("prompt", "user", f"How is number {number}?"), ("completion", "assistant", answer))
    }
    split = "validation" if number % 5 == 0 else "train"
    told = TRAINING_EXAMPLES.row(example_id=f"e{number:03d}", split=split, **sides)
    del told["dataset_version"]
    return told


def cut(lake, rows, *, gate="passed", withdrawn_at=None, at=CUT_AT, drops=None):
    """Write a version as a cut does: files, manifest, and its row in ``dataset_versions``."""
    staging = lake.path / "staging"
    written = write_version(pa.Table.from_pylist(rows, schema=EXAMPLE_SCHEMA).to_batches(), staging)
    name = written.dataset_version
    manifest = {
        "dataset_version": name,
        "content_hash": written.content_hash,
        "split_counts": dict(written.split_counts),
        "drop_counts": drops or {"consent": 2},
        "gate": {"verdict": gate},
        "sha256": dict(written.sha256) if gate == "passed" else {},
    }
    if gate == "held":
        for file in written.sha256:
            (staging / file).unlink()
    target = lake.dataset(name if gate == "passed" else f"{name}.held")
    publish(staging, target, manifest)
    delta.create_table(lake, DATASET_VERSIONS)
    row = DATASET_VERSIONS.row(
        dataset_version=name, content_hash=written.content_hash, gate=gate, created_at=at, withdrawn_at=withdrawn_at,
        n_train=written.split_counts["train"], n_validation=written.split_counts["validation"],
        drop_counts=list((drops or {"consent": 2}).items()), source_versions=[("turns", 0)],
        n_examples=written.n_examples,
    )  # fmt: skip
    table = pa.Table.from_pylist([row], schema=DATASET_VERSIONS.arrow_schema)
    write_deltalake(str(lake.table(DATASET_VERSIONS.name)), table, mode="append")
    return name


def run(lake, *words):
    return CliRunner().invoke(main, ["dataset", *words, "--lake", str(lake.path)])


def told(lake, *words):
    done = run(lake, *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def version(lake):
    return cut(lake, [example(n) for n in range(20)])


def test_versions_are_listed_the_newest_first(lake, version):
    newer = cut(lake, [example(n) for n in range(30)], at=CUT_AT + dt.timedelta(days=1))
    found = told(lake, "list")["dataset_versions"]
    assert [one["dataset_version"] for one in found] == [newer, version]
    assert (found[1]["n_train"], found[1]["n_validation"], found[1]["n_dropped"]) == (16, 4, 2)


def test_a_version_is_shown_by_name_by_its_beginning_and_as_the_latest(lake, version):
    for name in (version, version[:8], "latest"):
        assert told(lake, "show", name)["dataset_version"] == version
    assert run(lake, "show", "ds-ffffffffffffffff").exit_code == 2
    assert "there are: " + version in run(lake, "show", "ds-ffffffffffffffff").output
    assert run(lake, "show", "../../etc").exit_code == 2


def test_the_latest_neither_was_held_nor_was_withdrawn(lake, version):
    later = CUT_AT + dt.timedelta(days=1)
    cut(lake, [example(n) for n in range(5)], gate="held", at=later)
    cut(lake, [example(n) for n in range(6)], at=later, withdrawn_at=later)
    assert told(lake, "show")["dataset_version"] == version


def test_a_whole_version_verifies(lake, version):
    manifest = StoredVersion(lake.dataset(version)).manifest
    assert told(lake, "verify", version) == {
        "dataset_version": version,
        "ok": True,
        "content_hash": manifest["content_hash"],
        "faults": [],
    }


def changed_byte(path):
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


@pytest.mark.parametrize(
    ("harm", "fault"),
    [
        (lambda folder: changed_byte(folder / "train.jsonl"), "train.jsonl: changed"),
        (lambda folder: (folder / "validation.jsonl").unlink(), "validation.jsonl: missing"),
        (lambda folder: (folder / "more.jsonl").write_text("{}"), "more.jsonl: not in the manifest"),
        (lambda folder: (folder / EXAMPLES_FILE).write_bytes(b"PAR1 no"), f"{EXAMPLES_FILE}: cannot be read"),
    ],
)
def test_any_harm_to_the_files_is_told(lake, version, harm, fault):
    harm(lake.dataset(version))
    done = run(lake, "verify", version, "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert not found["ok"]
    assert any(one.startswith(fault) for one in found["faults"])


def test_rows_swapped_for_others_with_all_hashes_mended_are_told(lake, version):
    other = cut(lake, [example(n, "Poisoned.") for n in range(20)])
    ours, theirs = lake.dataset(version), lake.dataset(other)
    manifest = json.loads((ours / MANIFEST).read_bytes())
    for name in manifest["sha256"]:
        (ours / name).write_bytes((theirs / name).read_bytes())
    manifest["sha256"] = json.loads((theirs / MANIFEST).read_bytes())["sha256"]
    (ours / MANIFEST).write_text(json.dumps(manifest))
    faults = StoredVersion(ours).verified().faults
    assert faults == ("content hash: the rows are not those of the manifest",)
    manifest["content_hash"] = json.loads((theirs / MANIFEST).read_bytes())["content_hash"]
    (ours / MANIFEST).write_text(json.dumps(manifest))
    assert StoredVersion(ours).verified().faults == ("name: does not follow from the content hash of the manifest",)


def test_a_held_version_has_nothing_to_verify_or_export(lake):
    held = cut(lake, [example(1)], gate="held")
    for words in (("verify", held), ("export", held, "--form", "trl", "--to", str(lake.path / "out"))):
        done = run(lake, *words)
        assert done.exit_code == 4
        assert "held" in done.output


def test_a_difference_counts_what_came_went_and_changed(lake, version):
    rows = [example(n, "Better." if n == 7 else "Fine.") for n in range(2, 23)]
    newer = cut(lake, rows, drops={"consent": 5, "exact_duplicate": 1})
    found = told(lake, "diff", version, newer)
    assert found["added"] == {"sft.train": 2, "sft.validation": 1}
    assert found["removed"] == {"sft.train": 1, "sft.validation": 1}
    assert found["changed"] == {"sft.train": 1}
    assert found["unchanged"] == 17
    assert found["manifest"]["drop_counts.consent"] == [2, 5]
    assert found["manifest"]["drop_counts.exact_duplicate"] == [None, 1]
    same = difference(*(stored_version(lake.path / "datasets", newer) for _ in range(2)))
    assert (same.added, same.removed, same.changed, same.unchanged, same.manifest) == ({}, {}, {}, 21, {})


def test_an_export_tells_what_it_wrote(lake, version):
    folder = lake.path.parent / "out"
    found = told(lake, "export", version, "--form", "openai", "--to", str(folder))
    assert found["rows"] == {"sft.train.jsonl": 16, "sft.validation.jsonl": 4}
    assert found["left_out"] == {}
    assert json.loads((folder / "sft.train.jsonl").read_bytes().split(b"\n")[0]) == {
        "messages": [
            {"role": "user", "content": "How is number 1?"},
            {"role": "assistant", "content": "Fine.", "weight": 1},
        ]
    }
    again = run(lake, "export", version, "--form", "openai", "--to", str(folder))
    assert again.exit_code == 1
    assert "wanted a new folder" in again.output


def test_a_changed_or_withdrawn_version_is_not_exported(lake, version):
    withdrawn = cut(lake, [example(n) for n in range(3)], withdrawn_at=CUT_AT)
    done = run(lake, "export", withdrawn, "--form", "trl", "--to", str(lake.path / "out"))
    assert done.exit_code == 1
    assert "withdrawn on 2026-03-01" in done.output
    changed_byte(lake.dataset(version) / "train.jsonl")
    done = run(lake, "export", version, "--form", "trl", "--to", str(lake.path / "out"))
    assert done.exit_code == 1
    assert "not what was published" in done.output
    assert not (lake.path / "out").exists()


def test_no_command_needs_spark_or_torch(lake, version):
    code = (
        "import sys\nfrom jobs.command_line import main\n"
        f"main(['dataset', 'export', '{version}', '--form', 'hugging-face', '--to', {str(lake.path / 'out')!r}, "
        f"'--lake', {str(lake.path)!r}], standalone_mode=False)\n"
        "heavy = {'pyspark', 'torch', 'datasets', 'transformers', 'great_expectations'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
