"""What the gate is told beside the rows: stored text, a second look for personal values, the version before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.leak_audit import COLUMNS, suspects_in
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.datasets.gate import GateFindings
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.rules import CONTAMINATED, EXACT_DUPLICATE, NEAR_DUPLICATE, SEMANTIC_DUPLICATE, SPLIT_LEAK
from pipelines.datasets.shape import shape_of
from pipelines.datasets.stored_text import unlike_turns
from pipelines.datasets.stored_version import StoredVersion, StoredVersionError, stored_version
from pipelines.privacy.anonymizer import Anonymizer
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.policy import PRESETS
from pipelines.privacy.scan import ADDRESS, ORGANISATION, PERSON, PLACE
from pipelines.privacy.second_tier import span_source
from schemas import DATASET_VERSIONS

TAGGED = frozenset({PERSON, ADDRESS, ORGANISATION, PLACE})
REPEATS = (EXACT_DUPLICATE, NEAR_DUPLICATE, SEMANTIC_DUPLICATE, SPLIT_LEAK)


@dataclass(frozen=True)
class Rescan:
    """What a second look at stored turns found: turns with a patterned value, with a name, and how many were read."""

    patterned: frozenset[str]
    named: frozenset[str]
    n_turns: int
    n_unread: int
    """Turns that were anonymised under a policy that is no preset, so that it is not known what they may hold."""


def rescan(turns: Sequence[Mapping[str, Any]], keys: KeyFolder) -> Rescan:
    """Look at stored turns again with every detector, outside of what the anonymiser wrote, under their own policies.

    ``turns`` have the columns of an audit and ``policy``. A turn that cannot be read again counts as patterned.
    """
    by_policy: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for turn in turns:
        by_policy[turn["policy"]].append(dict(turn))
    patterned: set[str] = set()
    named: set[str] = set()
    for name in sorted(by_policy.keys() & PRESETS.keys()):
        policy = PRESETS[name]
        patterned |= {one.turn_id for one in suspects_in(by_policy[name], Anonymizer(keys, policy))}
        tagger = Anonymizer(keys, policy, source=span_source(policy))
        named |= {one.turn_id for one in suspects_in(by_policy[name], tagger) if one.type in TAGGED}
    read = sum(len(rows) for name, rows in by_policy.items() if name in PRESETS)
    return Rescan(frozenset(patterned), frozenset(named), read, len(turns) - read)


def findings(
    examples: DataFrame,
    turns: DataFrame,
    feedback: DataFrame | None,
    *,
    contaminated: frozenset[str] | None,
    drop_counts: Mapping[str, int],
    n_examples: int,
    before: StoredVersion | None,
    policy: CurationPolicy,
    keys: KeyFolder,
) -> tuple[GateFindings, dict[str, int]]:
    """Look at the rows of a version for the gate; returns also how much was read again."""
    unlike = frozenset(row.example_id for row in unlike_turns(examples, turns, feedback).collect())
    again, sampled = _rescanned(examples, turns, policy.gate.rescan_examples, keys)
    repeats = sum(drop_counts.get(rule, 0) for rule in REPEATS)
    found = GateFindings(
        compared=n_examples + repeats,
        repeats=repeats,
        contaminated=contaminated,
        unlike_turns=unlike,
        suspect=None if again is None else frozenset(e for e, ids in sampled.items() if again.patterned & ids),
        name_suspects=None if again is None or not again.n_turns else len(again.named) / again.n_turns,
        before=None if before is None else shape_of(before.manifest.get("shape", {})),
    )
    told = {} if again is None else {"examples": len(sampled), "turns": again.n_turns, "unread_turns": again.n_unread}
    return found, told


def version_before(spark: SparkSession, lake: Lake, tenant: str, kind: str, name: str) -> StoredVersion | None:
    """Return the newest version of the tenant and kind that passed and stands, but for ``name``; None without one."""
    rows = delta.read(spark, lake, DATASET_VERSIONS).where("gate = 'passed' AND withdrawn_at IS NULL")
    rows = rows.where(F.col("dataset_version") != name).orderBy(F.desc("created_at"), "dataset_version")
    for row in rows.select("dataset_version").collect():
        try:
            found = stored_version(lake.path / "datasets", row.dataset_version)
            if found.manifest["tenant"] == tenant and found.manifest["kind"] == kind:
                return found
        except StoredVersionError:
            continue
    return None


def contaminated_ids(flags: DataFrame | None, policy: CurationPolicy) -> frozenset[str] | None:
    """Return the examples that hold an item of a benchmark; None where none were given, or the policy only flags."""
    if flags is None or policy.contamination.action == "flag":
        return None
    return frozenset(row.example_id for row in flags.where(F.col("verdict") == CONTAMINATED).collect())


def source_offsets(turns: DataFrame) -> dict[str, dict[str, int]]:
    """Return the last offset of each topic and partition that the turns came from."""
    last = turns.groupBy("topic", "partition").agg(F.max("offset").alias("last")).orderBy("topic", "partition")
    told: dict[str, dict[str, int]] = defaultdict(dict)
    for row in last.collect():
        told[row.topic][str(row.partition)] = row["last"]
    return dict(told)


def _rescanned(
    examples: DataFrame, turns: DataFrame, n: int, keys: KeyFolder
) -> tuple[Rescan | None, dict[str, frozenset[str]]]:
    if n == 0:
        return None, {}
    drawn = examples.orderBy("example_id").limit(n).select("tenant", "example_id", "turn_ids").collect()
    sampled = {row.example_id: frozenset(row.turn_ids) for row in drawn}
    if not sampled:
        return None, {}
    ids = sorted({(row.tenant, turn) for row in drawn for turn in row.turn_ids})
    wanted = turns.sparkSession.createDataFrame(ids, "tenant string, turn_id string")
    rows = turns.join(F.broadcast(wanted), ["tenant", "turn_id"], how="left_semi").select(*COLUMNS, "policy").collect()
    return rescan([row.asDict(recursive=True) for row in rows], keys), sampled
