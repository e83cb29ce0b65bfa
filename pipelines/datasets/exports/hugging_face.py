"""A folder that ``datasets.load_dataset`` reads: Parquet by kind and split, and a dataset card that names them.

Card: Hugging Face Hub's documentation, dataset cards and their metadata.
"""

from __future__ import annotations

import orjson

from pipelines.datasets.exports import columns
from pipelines.datasets.exports.example import KINDS, Kind
from pipelines.datasets.exports.form import Form, Subject

SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
LARGEST = "n>10M"


def file_name(kind: Kind, split: str) -> str:
    """Return where the Hub looks for a split of a configuration."""
    return f"{kind}/{split}-00000-of-00001.parquet"


def card(subject: Subject) -> dict[str, bytes]:
    """Return the dataset card: metadata for the Hub, then what a reader has to know, without a clock."""
    return {"README.md": "\n".join(["---", *_metadata(subject), "---", "", *_words(subject), ""]).encode()}


def _metadata(subject: Subject) -> list[str]:
    total = sum(file.rows for file in subject.files)
    size = next((name for limit, name in SIZES if total < limit), LARGEST)
    languages = [code for code in sorted(subject.languages) if code not in ("", "und")]
    lines = [f"pretty_name: {subject.name}", f"license: {_quoted(subject.licence)}"]
    lines += ["language:", *(f"- {_quoted(code)}" for code in languages)] if languages else []
    lines += ["task_categories:", "- text-generation", "size_categories:", f"- {size}", "configs:"]
    for kind in KINDS:
        files = [file for file in subject.files if file.kind == kind]
        if files:
            lines += [f"- config_name: {kind}", "  data_files:"]
            lines += [line for file in files for line in (f"  - split: {file.split}", f"    path: {file.name}")]
    return lines


def _words(subject: Subject) -> list[str]:
    manifest = subject.manifest
    rows = [f"| {file.kind} | {file.split} | {file.rows:,} |" for file in subject.files]
    dropped = [f"| {rule} | {count:,} |" for rule, count in sorted(manifest.get("drop_counts", {}).items())]
    spoken = ", ".join(f"{code or 'und'} {count:,}" for code, count in sorted(subject.languages.items()))
    return [
        f"# {subject.name}",
        "",
        "Examples for fine-tuning, cut from logged conversations. Personal data was replaced before anything was",
        "stored; ids and references of persons, conversations and turns are left out.",
        "",
        "| kind | split | examples |",
        "| --- | --- | --- |",
        *rows,
        "",
        f"- Languages: {spoken}.",
        f"- Content hash: `{manifest['content_hash']}`, SHA-256 over the rows of the version in their order.",
        f"- Quality gate: {manifest.get('gate', {}).get('verdict', 'unknown')}.",
        "- Split: by user or, where none was logged, by conversation; fixed for good.",
        "- Messages have role, content, tool_calls, tool_call_id and name; arguments and `tools` are JSON in text.",
        "",
        "## Left out",
        "",
        "| rule | rows |",
        "| --- | --- |",
        *dropped,
    ]


def _quoted(text: str) -> str:
    """Return a string for YAML, of which JSON is a part: `no` is a language, not a refusal."""
    return orjson.dumps(text).decode()


FORM = Form(
    name="hugging-face",
    words="Hugging Face datasets folder: Parquet by kind and split with a dataset card.",
    encoding="parquet",
    kinds=KINDS,
    record=columns.record,
    file_name=file_name,
    schema=columns.schema,
    side_files=card,
)
