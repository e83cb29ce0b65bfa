"""A dataset version on disk: named by its content, the same bytes for the same rows, complete or not there at all."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.datasets.exports.json_lines import json_line
from pipelines.durable_files import flush_to_disk
from schemas import TRAINING_EXAMPLES

SPLITS = ("train", "validation")
MANIFEST = "manifest.json"
EXAMPLES_FILE = "examples.parquet"
ROWS_A_GROUP = 5_000
EXAMPLE_SCHEMA = pa.schema([f for f in TRAINING_EXAMPLES.arrow_schema if f.name != "dataset_version"])


@dataclass(frozen=True)
class WrittenVersion:
    """Files of a version before it is published: name, counts and the SHA-256 of each file."""

    dataset_version: str
    content_hash: str
    split_counts: Mapping[str, int]
    sha256: Mapping[str, str]

    @property
    def n_examples(self) -> int:
        """Examples in all."""
        return sum(self.split_counts.values())


def canonical_row(row: Mapping[str, Any]) -> bytes:
    """Return the bytes that the content hash counts for a row: JSON with sorted keys, without the version itself."""
    return orjson.dumps({k: v for k, v in row.items() if k != "dataset_version"}, option=orjson.OPT_SORT_KEYS)


def content_hash(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return SHA-256, in hex, over the canonical rows in the order of ``example_id``, each ended by a newline."""
    digest = hashlib.sha256()
    for row in sorted(rows, key=lambda row: row["example_id"]):
        digest.update(canonical_row(row) + b"\n")
    return digest.hexdigest()


def version_name(content_hash: str) -> str:
    """Return the name of the version that holds this content."""
    return f"ds-{content_hash[:16]}"


def trl_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as TRL wants it; the arguments of a tool call are an object there, not a string of JSON.

    Raises ``ValueError`` for arguments that are no JSON; curation bars those rows.
    """
    told: dict[str, Any] = {"role": message["role"], "content": message["text"] or ""}
    if message["tool_calls"]:
        told["tool_calls"] = [_trl_call(call) for call in message["tool_calls"]]
    if message["tool_call_id"]:
        told["tool_call_id"] = message["tool_call_id"]
    return told


SIDES = {
    "sft": ("completion",),
    "conversation": ("completion",),
    "preference": ("chosen", "rejected"),
    "unpaired": ("completion",),
}
"""Messages of each kind behind the prompt."""


def trl_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example in TRL's conversational form of its kind (TRL, dataset_formats): a line of the version's files.

    Prompt-completion, preference with an explicit prompt, or unpaired. A conversation has ``loss_mask`` beside, which
    tells of each message of the completion whether it is learned. ``tools`` stay JSON text: TRL and datasets take it.
    """
    kind = row["kind"]
    told: dict[str, Any] = {side: [trl_message(message) for message in row[side]] for side in ("prompt", *SIDES[kind])}
    if row.get("tools"):
        told["tools"] = row["tools"]
    if kind == "unpaired":
        told["label"] = row["label"]
    if kind == "conversation":
        told["loss_mask"] = row["loss_mask"]
    return told


def write_version(
    batches: Iterable[pa.RecordBatch], folder: Path, look: Callable[[Mapping[str, Any]], None] = lambda row: None
) -> WrittenVersion:
    """Write ``train.jsonl``, ``validation.jsonl`` and ``examples.parquet`` into the new ``folder``.

    One pass in bounded memory. ``batches`` hold the columns of ``training_examples`` but the version, rising by
    ``example_id`` without repeats over all batches; else ``ValueError``. Equal rows give equal bytes however they are
    cut into batches. ``look`` is shown every row on the way.
    """
    folder.mkdir(parents=True)
    digest, counts = hashlib.sha256(), dict.fromkeys(SPLITS, 0)
    lines = {split: (folder / f"{split}.jsonl").open("wb") for split in SPLITS}
    last = ""
    try:
        with pq.ParquetWriter(folder / EXAMPLES_FILE, EXAMPLE_SCHEMA, compression="zstd") as parquet:
            for table in _regrouped(batches):
                parquet.write_table(table, row_group_size=ROWS_A_GROUP)
                for row in table.to_pylist():
                    if row["example_id"] <= last:
                        raise ValueError("examples: wanted rising example_id without repeats, found one out of order")
                    last = row["example_id"]
                    look(row)
                    digest.update(canonical_row(row) + b"\n")
                    counts[row["split"]] += 1
                    lines[row["split"]].write(json_line(trl_row(row)))
    finally:
        for file in lines.values():
            file.close()
    names = [EXAMPLES_FILE, *(f"{split}.jsonl" for split in SPLITS)]
    return WrittenVersion(
        dataset_version=version_name(digest.hexdigest()),
        content_hash=digest.hexdigest(),
        split_counts=counts,
        sha256={name: file_sha256(folder / name) for name in sorted(names)},
    )


def publish(staging: Path, target: Path, manifest: Mapping[str, Any]) -> bool:
    """Put a written version in place with its manifest: flushed to disk, then one rename.

    Returns False when it is there already. A folder without a manifest is left from a crash and is replaced.
    """
    if (target / MANIFEST).is_file():
        shutil.rmtree(staging)
        return False
    shutil.rmtree(target, ignore_errors=True)
    (staging / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2) + b"\n")
    flush_to_disk([*staging.iterdir(), staging])
    target.parent.mkdir(parents=True, exist_ok=True)
    staging.replace(target)
    flush_to_disk([target.parent])
    return True


def verify_version(folder: Path) -> list[str]:
    """Return what is wrong with a published version: files that are not the manifest's, or another content hash."""
    manifest = orjson.loads((folder / MANIFEST).read_bytes())
    wrong = [
        f"{name}: missing or changed since it was published"
        for name, wanted in manifest["sha256"].items()
        if not (folder / name).is_file() or file_sha256(folder / name) != wanted
    ]
    if not wrong:
        digest = hashlib.sha256()
        for batch in pq.ParquetFile(folder / EXAMPLES_FILE).iter_batches(ROWS_A_GROUP):
            for row in batch.to_pylist():
                digest.update(canonical_row(row) + b"\n")
        if digest.hexdigest() != manifest["content_hash"]:
            wrong.append("content hash: differs from the manifest's")
    return wrong


def sorted_batches(files: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of Parquet files that follow each other in order, in the declared columns and types."""
    for file in files:
        for batch in pq.ParquetFile(file).iter_batches(ROWS_A_GROUP):
            yield pa.Table.from_batches([batch]).select(EXAMPLE_SCHEMA.names).cast(EXAMPLE_SCHEMA).to_batches()[0]


def key_epochs(files: Sequence[Path]) -> list[int]:
    """Return the distinct values of the column ``key_epochs`` of Parquet files, rising."""
    tables = (pq.read_table(file, columns=["key_epochs"])["key_epochs"] for file in files)
    return sorted({epoch for column in tables for epoch in pc.list_flatten(column).unique().to_pylist()})


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _trl_call(call: Mapping[str, Any]) -> dict[str, Any]:
    try:
        arguments = orjson.loads(call["arguments"]) if (call["arguments"] or "").strip() else {}
    except orjson.JSONDecodeError:
        # No chaining: the decoder's message would show the arguments.
        raise ValueError("tool call: wanted arguments that are JSON, found others") from None
    told = {"type": "function", "function": {"name": call["name"], "arguments": arguments}}
    return told | ({"id": call["id"]} if call["id"] else {})


def _regrouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Cut rows into tables of one size whatever their batches were: Parquet's bytes then depend on the rows alone."""
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += batch.num_rows
        while n_waiting >= ROWS_A_GROUP:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, ROWS_A_GROUP).combine_chunks()
            waiting = table.slice(ROWS_A_GROUP).to_batches()
            n_waiting -= ROWS_A_GROUP
    if n_waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()
