"""The card of a model version: data, policy, figures, verdict, licence and lineage, in the hub's Markdown form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

CARD_FILE = "README.md"
FIGURES = (
    ("loss", "held-out loss"),
    ("exact", "exact short answers"),
    ("json_valid", "valid JSON"),
    ("tool_call", "right tool calls"),
    ("refused", "refusals"),
    ("length_ratio", "length against wanted"),
    ("regression_loss", "loss on the fixed set"),
)
METHODS = {
    "sft": "supervised fine-tuning, loss on completions alone",
    "dpo": "direct preference optimisation",
    "kto": "Kahneman-Tversky optimisation on single ratings",
}
UNKNOWN = "not stated"


@dataclass(frozen=True)
class CardFacts:
    """What a card is written from: the run's specification, the dataset's manifest, the trial, the licence of the base.

    ``evaluation`` holds figures by name, ``findings`` the sentences of the trial with their verdicts.
    """

    model_version: str
    spec: Mapping[str, Any]
    manifest: Mapping[str, Any]
    verdict: str
    evaluation: Mapping[str, float]
    findings: Sequence[Mapping[str, str]] = field(default_factory=tuple)
    champion: str | None = None
    base_licence: str | None = None


def model_card(facts: CardFacts) -> str:
    """Return the card; equal facts give equal bytes. It holds counts, names and figures, nothing of the data."""
    parts = [_front_matter(facts), f"# {facts.model_version}", _about(facts), _data(facts), _figures(facts),
             _verdict(facts), _licence(facts), _limits(facts)]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def licence_of(config: Mapping[str, Any], front_matter: str = "") -> str | None:
    """Return the licence that a base model states, in its configuration or in the head of its own card."""
    if isinstance(config.get("license"), str):
        return str(config["license"])
    lines = front_matter.split("---")[1].splitlines() if front_matter.startswith("---") else []
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("license:")]
    return found[0] if found and found[0] else None


def _front_matter(facts: CardFacts) -> str:
    licence = facts.base_licence or "other"
    lines = ["---", f"license: {_plain(licence)}", "library_name: peft" if facts.spec["lora_rank"] else
             "library_name: transformers", "tags:", "- turnmill", f"- {facts.spec['method']}", "---"]  # fmt: skip
    return "\n".join(lines)


def _about(facts: CardFacts) -> str:
    spec = facts.spec
    how = f"LoRA of rank {spec['lora_rank']}" if spec["lora_rank"] else "all weights"
    return (
        f"Tuned from `{_plain(spec['base_label'])}` by {METHODS[spec['method']]}: {how}, {spec['max_steps']} steps of "
        f"{spec['batch_size'] * spec['nproc']} rows, learning rate {spec['learning_rate']:g}, seed {spec['seed']}."
    )


def _data(facts: CardFacts) -> str:
    manifest = facts.manifest
    rows = [
        ("dataset version", facts.spec["dataset_version"]),
        ("content hash", facts.spec["dataset_hash"] or manifest.get("content_hash", UNKNOWN)),
        ("tenant", manifest.get("tenant", UNKNOWN)),
        ("rows", _counts(manifest.get("split_counts", {}))),
        ("left out", _counts(manifest.get("drop_counts", {}))),
        ("source tables at", _counts(manifest.get("source_versions", {}))),
        ("gate", (manifest.get("gate") or {}).get("verdict", UNKNOWN)),
        ("epochs of surrogate keys", ", ".join(map(str, manifest.get("key_epochs", []))) or UNKNOWN),
        ("curation policy", _policy(manifest.get("policy"))),
    ]
    return "## Data and lineage\n\n" + _table(("what", "value"), [*rows, *_run_rows(facts)])


def _run_rows(facts: CardFacts) -> list[tuple[str, str]]:
    return [("run", facts.spec["run_id"]), ("SHA-256 of the run's specification", facts.spec.get("digest", UNKNOWN))]


def _figures(facts: CardFacts) -> str:
    suffixes = ["", "_base", *(["_champion"] if facts.champion else [])]
    rows = []
    for name, words in FIGURES:
        if name in facts.evaluation:
            rows.append((words, *(_number(facts.evaluation.get(f"{name}{suffix}")) for suffix in suffixes)))
    head = ("figure", "this model", "base", *([f"champion `{facts.champion}`"] if facts.champion else []))
    planted = facts.evaluation.get("canaries_planted", 0)
    out = facts.evaluation.get("canaries_extracted", 0)
    canaries = f"Canaries: {planted:.0f} secrets planted once, {out:.0f} came out word for word."
    told = _table(head, rows) if rows else "Nothing was measured."
    return f"## Figures\n\n{told}\n\n{canaries}"


def _verdict(facts: CardFacts) -> str:
    lines = [f"- {found['verdict']}: {found['sentence']}" for found in facts.findings]
    return "\n".join([f"## Verdict: {facts.verdict}", "", *(lines or ["- no trial was held"])])


def _licence(facts: CardFacts) -> str:
    data = facts.manifest.get("licence") or facts.manifest.get("license") or UNKNOWN
    consent = facts.manifest.get("consent") or "only rows whose consent is `training`"
    return (
        f"## Licence\n\nBase: {_plain(facts.base_licence or UNKNOWN)}. Data: {_plain(str(data))}; consent: "
        f"{_plain(str(consent))}. The licence of this model follows from both."
    )


def _limits(facts: CardFacts) -> str:
    return (
        "## Limits\n\nMeasured on the held-out split of its own dataset version, from users and talks that training "
        "did not see. The data is anonymised by detection, which misses some values. When a user is erased after "
        "training, `model_versions.contains_erased` says so of this version."
    )


def _policy(policy: Any) -> str:
    if not policy:
        return UNKNOWN
    return str(policy.get("name") or orjson.dumps(policy, option=orjson.OPT_SORT_KEYS, default=str).decode())


def _counts(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in sorted(counts.items())) or "none"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_plain(str(cell)) for cell in line) + " |" for line in lines)


def _plain(text: str) -> str:
    """Keep a value inside its cell and line."""
    return " ".join(text.split()).replace("|", "\\|")
