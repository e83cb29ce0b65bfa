"""What a dataset version must keep before anything may train on it, and the text-free frame that it is checked on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import pandas as pd

from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.shape import UNKNOWN_LANGUAGE, Shape, drift, share
from pipelines.datasets.version import SIDES, SPLITS

# Java's \s, as the duplicate rule of curation uses it.
SPACE = re.compile(r"[ \t\n\x0b\f\r]+")
PromiseKind = Literal["rows_at_least", "values_present", "unique", "always_true", "at_most", "at_least"]


@dataclass(frozen=True)
class Promise:
    """A promise of the dataset as a whole, beside the checks that the Table declares for its columns.

    ``at_most`` and ``at_least`` bound one number of the whole dataset, which stands in every row of ``column``.
    """

    name: str
    kind: PromiseKind
    column: str | None = None
    argument: Any = None


@dataclass(frozen=True)
class GateFindings:
    """What is known of a version beside its rows. Ids and counts, never text; what is None was not looked at."""

    compared: int = 0
    """Rows that were compared with each other, and how many of them were dropped as repeats."""
    repeats: int = 0
    contaminated: Collection[str] | None = None
    """example_ids that hold an item of a benchmark."""
    unlike_turns: Collection[str] | None = None
    """example_ids with a string that is not that of its stored turn."""
    suspect: Collection[str] | None = None
    """example_ids where a detector of patterned values finds one outside of recorded redactions."""
    name_suspects: float | None = None
    """Share of the turns read again where the tagger finds a name or address outside of recorded redactions."""
    before: Shape | None = None
    """Shape of the version before."""


COMMON = (
    Promise("both splits have rows", "values_present", "split", SPLITS),
    Promise("no two examples of a tenant say the same", "unique", "content_key"),
    Promise("every prompt has a turn of the user", "always_true", "prompt_has_user"),
    Promise("every target is an answer with content", "always_true", "target_is_answer"),
    Promise("every judged example tells its evidence", "always_true", "evidence_is_told"),
    Promise("no user or conversation is in both splits", "always_true", "owner_in_one_split"),
    Promise("all rows belong to one tenant", "always_true", "tenant_is_one"),
    Promise("all rows are of the policy's kind", "always_true", "kind_is_wanted"),
    Promise("no origin has more examples than its cap", "always_true", "within_caps"),
)


@dataclass(frozen=True)
class Measure:
    """One number of the whole dataset and its bound."""

    promise: Promise
    value: float


def promises(policy: CurationPolicy, findings: GateFindings, shape: Shape) -> list[Promise]:
    """Return what a version under ``policy`` promises, as far as ``findings`` were looked for."""
    counted = Promise("the dataset has enough rows", "rows_at_least", None, policy.gate.min_examples)
    looked = [
        (findings.contaminated, Promise("no example holds an item of a benchmark", "always_true", "is_clean")),
        (findings.unlike_turns, Promise("every string is that of its stored turn", "always_true", "is_as_stored")),
        (findings.suspect, Promise("detectors find nothing outside of redactions", "always_true", "has_no_suspect")),
    ]
    found = [promise for ids, promise in looked if ids is not None]
    return [counted, *COMMON, *found, *(one.promise for one in measures(policy, findings, shape))]


def measures(policy: CurationPolicy, findings: GateFindings, shape: Shape) -> list[Measure]:
    """Return the numbers that the policy bounds, each with its bound."""
    limits = policy.gate
    repeats = findings.repeats / findings.compared if findings.compared else 0.0
    told = [
        _at_most("share of dropped repeats", repeats, limits.max_duplicate_share),
        _at_most("share of unknown languages", share(shape.languages, UNKNOWN_LANGUAGE), limits.max_unknown_language),
    ]
    if policy.kind == "unpaired":
        rarer = min(share(shape.labels, name) for name in ("liked", "disliked"))
        name = "share of the rarer label"
        told.append(Measure(Promise(name, "at_least", _column(name), limits.min_label_share), rarer))
    if findings.name_suspects is not None:
        told.append(_at_most("share of turns with a suspected name", findings.name_suspects, limits.max_name_suspects))
    before = findings.before
    if before is not None and min(before.n, shape.n) >= limits.drift_examples:
        moved = {name: drift(getattr(before, name), getattr(shape, name)) for name in DRIFTING}
        bounds = (limits.max_language_drift, limits.max_source_drift, limits.max_length_drift)
        told += [
            _at_most(f"drift of {name}", value, most) for (name, value), most in zip(moved.items(), bounds, strict=True)
        ]
    return told


DRIFTING = ("languages", "sources", "lengths")


def _at_most(name: str, value: float, most: float) -> Measure:
    return Measure(Promise(name, "at_most", _column(name), most), value)


def _column(name: str) -> str:
    return name.replace(" ", "_")


class GateRows:
    """Collects what the gate looks at, row by row: ids, counts of messages, truth of each promise; never text.

    A list column becomes its length, null where it is null. About 0.5 kB a row in memory. ``shape`` counts along.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self.shape = Shape()

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a row of ``training_examples``, with or without its version."""
        self.shape.add(row)
        self._rows.append(
            (
                *(row[name] for name in _PLAIN),
                *(None if row[name] is None else len(row[name]) for name in _LISTS),
                any(m["role"] == "user" for m in row["prompt"] or []),
                target_is_answer(row),
                row["kind"] in UNJUDGED or bool(row["trust"] and row["evidence"]),
                content_key(row),
            )
        )

    def frame(
        self,
        dataset_version: str,
        policy: CurationPolicy = CurationPolicy(),  # noqa: B008 - frozen
        findings: GateFindings = GateFindings(),  # noqa: B008 - frozen
    ) -> pd.DataFrame:
        """Return the frame that the suite runs on, with the promises that need all rows at once."""
        columns = [*_PLAIN, *_LISTS, "prompt_has_user", "target_is_answer", "evidence_is_told", "content_key"]
        frame = pd.DataFrame(self._rows, columns=columns)
        frame.insert(0, "dataset_version", dataset_version)
        owner = frame["user_ref"].fillna(frame["conversation_id"])
        of_owner = [frame["tenant"], owner]
        frame["owner_in_one_split"] = frame["split"].groupby(of_owner, dropna=False).transform("nunique").le(1)
        frame["tenant_is_one"] = bool(frame["tenant"].nunique(dropna=False) <= 1)
        frame["kind_is_wanted"] = frame["kind"] == policy.kind
        frame["within_caps"] = _within_caps(frame, owner, policy)
        marks = (findings.contaminated, "is_clean"), (findings.unlike_turns, "is_as_stored")
        for ids, column in (*marks, (findings.suspect, "has_no_suspect")):
            frame[column] = ~frame["example_id"].isin(set(ids or ()))
        for measure in measures(policy, findings, self.shape):
            frame[str(measure.promise.column)] = measure.value
        return frame


def _within_caps(frame: pd.DataFrame, owner: pd.Series, policy: CurationPolicy) -> pd.Series:
    """Tell of each row whether its user, log format and tenant keep their caps; talks fold several answers in one."""
    held = pd.Series(True, index=frame.index)
    for origin, cap in ((owner, policy.caps.user), (frame["source"], policy.caps.source)):
        if cap is not None:
            held &= frame["example_id"].groupby([frame["tenant"], origin], dropna=False).transform("size") <= cap
    return held & (policy.caps.tenant is None or len(frame) <= policy.caps.tenant)


UNJUDGED = ("sft", "conversation")


def target_is_answer(row: Mapping[str, Any]) -> bool:
    """Tell whether what is learned is an answer with content: one message, a reply with its calls, or those marked."""
    match row["kind"]:
        case "preference":
            return all(_is_reply(row[side]) for side in SIDES["preference"]) and row["chosen"] != row["rejected"]
        case "conversation":
            completion, mask = row["completion"] or [], row["loss_mask"] or []
            learned = [message for message, is_learned in zip(completion, mask, strict=False) if is_learned]
            ends = bool(mask) and bool(mask[0] and mask[-1])
            return ends and len(mask) == len(completion) and all(_is_answer(one) for one in learned)
        case _:
            completion = row["completion"] or []
            return len(completion) == 1 and _is_answer(completion[0])


def content_key(row: Mapping[str, Any]) -> str:
    """Hash what an example says; equal for equal talk whatever its white space and call ids."""
    sides = ("prompt", *SIDES.get(row["kind"], ("completion",)))
    said = [
        [
            m["role"],
            SPACE.sub(" ", m["text"] or "").strip(" "),
            [[call["name"], call["arguments"]] for call in m["tool_calls"] or []],
        ]
        for side in sides
        for m in row[side] or []
    ]
    ends = [len(row[side] or []) for side in sides]
    return hashlib.sha256(orjson.dumps([row["tenant"], ends, said])).hexdigest()


_PLAIN = (
    "example_id",
    "tenant",
    "kind",
    "conversation_id",
    "user_ref",
    "language",
    "source",
    "model",
    "rejected_model",
    "split",
    "label",
    "trust",
    "evidence",
)
_LISTS = ("prompt", "completion", "loss_mask", "chosen", "rejected", "turn_ids", "feedback_ids")


def _is_reply(side: Sequence[Mapping[str, Any]] | None) -> bool:
    side = side or ()
    roles = [message["role"] for message in side]
    return bool(side) and _is_answer(side[-1]) and roles[0] == "assistant" and set(roles) <= {"assistant", "tool"}


def _is_answer(message: Mapping[str, Any]) -> bool:
    return message["role"] == "assistant" and bool((message["text"] or "").strip() or message["tool_calls"])
