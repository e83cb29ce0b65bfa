"""What follows a run that succeeded: its model is tried, judged and registered, and the aliases move in one commit."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
from pyspark.sql import SparkSession

from jobs.streaming import one_driver
from pipelines.adapters import delta
from pipelines.adapters.http_judge import HttpJudge, JudgeEndpoint
from pipelines.adapters.jars import cache_folder
from pipelines.adapters.lake import Lake
from pipelines.datasets.version import MANIFEST
from pipelines.durable_files import replace_file
from pipelines.promotion.aliases import challenged, champion_of, promoted
from pipelines.promotion.canaries import Canary
from pipelines.promotion.held_out import held_out_rows, rows_of_file, tenant_of
from pipelines.promotion.measure import Plan, RowSet
from pipelines.promotion.model_card import CARD_FILE, CardFacts, licence_of, model_card
from pipelines.promotion.rule import PromotionRule
from pipelines.promotion.trial import Contenders, Trial, try_candidate
from pipelines.training.base_model import TINY, BaseModel, resolve_base
from pipelines.training.model_folder import MODEL_FILE, write_model
from pipelines.training.run_spec import ADAPTER_FOLDER, RunSpec
from schemas import MODEL_VERSIONS

CANARIES_FILE = "canaries.json"
EVALUATION_FILE = "evaluation.json"
OWN_LICENCE = "apache-2.0"
"""Of the base that is made on the spot from generated talks."""
PROMOTION_LEASE = "promote"
DEFAULT_TENANT = "default"
PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrialOptions:
    """How a candidate is tried. ``regression`` is a JSONL file of TRL rows that must not get worse.

    Without a file the fixed set is the held-out cut of the champion's own dataset version.
    """

    plan: Plan = field(default_factory=Plan)
    rule: PromotionRule = field(default_factory=PromotionRule)
    regression: Path | None = None
    promote: bool = True
    """Move aliases by the verdict; else the verdict is written down and nothing moves."""
    judge: JudgeEndpoint | None = None
    """Judge model that compares the candidate's answers with its reference's."""
    judged_at_once: int = 4


def register_model(
    spark: SparkSession, lake: Lake, spec: RunSpec, base: BaseModel, metrics: Mapping[str, float], trial: TrialOptions
) -> dict[str, Any]:
    """Publish the weights of a finished run, try them, and write the model's row; return that row.

    A repeat after a crash ends in the same state: a model that has its row is neither tried nor moved again.
    """
    name = model_name(spec.run_id)
    models = [row.asDict() for row in delta.read(spark, lake, MODEL_VERSIONS).collect()]
    known = next((model for model in models if model["model_version"] == name), None)
    if known is not None:
        return known
    target = lake.model(name)
    if not (target / MODEL_FILE).is_file():
        facts = {"model_version": name, "run_id": spec.run_id, "dataset_version": spec.dataset_version}
        target.parent.mkdir(parents=True, exist_ok=True)
        write_model(lake.run(spec.run_id) / ADAPTER_FOLDER, target, base, facts, with_base=base.name == TINY)
    tenant = tenant_of(lake.dataset(spec.dataset_version)) or DEFAULT_TENANT
    champion = champion_of(models, tenant)
    tried = _tried(lake, spec, base, name, champion, trial)
    model = {
        "model_version": name,
        "tenant": tenant,
        "run_id": spec.run_id,
        "dataset_version": spec.dataset_version,
        "parent": base.label,
        "path": str(target.relative_to(lake.path)),
        "evaluation": {k: v for k, v in metrics.items() if k.startswith(("loss_", "perplexity_"))} | tried["numbers"],
        "verdict": tried["verdict"],
        "verdict_reason": tried["reason"],
        "compared_with": champion["model_version"] if champion else None,
        "alias": None,
        "alias_reason": None,
        "replaced": None,
        "promoted_at": None,
        "rolled_back_at": None,
        "contains_erased": False,
        "created_at": dt.datetime.now(dt.UTC),
    }
    replace_file(target / EVALUATION_FILE, orjson.dumps(tried, option=PRETTY))
    replace_file(target / CARD_FILE, _card(lake, spec, base, model, tried).encode())
    with one_driver(lake, PROMOTION_LEASE):
        models = [row.asDict() for row in delta.read(spark, lake, MODEL_VERSIONS).collect()]
        now = champion_of(models, tenant)
        if (now or {}).get("model_version") != model["compared_with"]:
            model |= {"verdict": "hold", "verdict_reason": "Another model became champion during the trial."}
        changed = moved([*models, model]) if trial.promote else []
        rows = {row["model_version"]: row for row in [model, *changed]}
        write_models(spark, lake, list(rows.values()))
    return rows[name]


def _card(lake: Lake, spec: RunSpec, base: BaseModel, model: Mapping[str, Any], tried: Mapping[str, Any]) -> str:
    """Return the card of the model, from what lies on disk beside it."""
    manifest = lake.dataset(spec.dataset_version) / MANIFEST
    config, own_card = base.path / "config.json", base.path / CARD_FILE
    stated = licence_of(
        orjson.loads(config.read_bytes()) if config.is_file() else {},
        own_card.read_text("utf-8", "replace") if own_card.is_file() else "",
    )
    facts = CardFacts(
        model_version=model["model_version"],
        spec={**asdict(spec), "digest": spec.digest},
        manifest=orjson.loads(manifest.read_bytes()) if manifest.is_file() else {},
        verdict=tried["verdict"],
        evaluation=tried["numbers"],
        findings=tried["findings"],
        champion=model["compared_with"],
        base_licence=OWN_LICENCE if base.name == TINY else stated,
    )
    return model_card(facts)


def moved(models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that the last model's verdict changes: promote makes it champion, hold challenger."""
    name, verdict, reason = (models[-1][key] for key in ("model_version", "verdict", "verdict_reason"))
    if verdict == "promote":
        return promoted(models, name, dt.datetime.now(dt.UTC), reason)
    return challenged(models, name, reason) if verdict == "hold" else []


def write_models(spark: SparkSession, lake: Lake, rows: list[dict[str, Any]]) -> None:
    """Write rows of ``model_versions`` in one commit, so that no reader sees two champions or none."""
    delta.merge(spark.createDataFrame(rows, MODEL_VERSIONS.spark_schema), lake, MODEL_VERSIONS, update=True)


def model_name(run_id: str) -> str:
    """Return the name of the model that a run makes."""
    return f"model{run_id.removeprefix('run')}"


def _tried(
    lake: Lake, spec: RunSpec, base: BaseModel, name: str, champion: Mapping[str, Any] | None, options: TrialOptions
) -> dict[str, Any]:
    """Try the candidate; a trial that cannot be held leaves the candidate unpromoted, with the reason."""
    try:
        contenders = Contenders(lake.model(name), base.path, *_champion_folders(lake, base, champion))
        plan = replace(options.plan, max_length=spec.max_length)
        judge = None if options.judge is None else HttpJudge(options.judge)
        rows = _rows(lake, spec, champion, options)
        trial = try_candidate(name, contenders, rows, plan, options.rule, judge, options.judged_at_once)
    except Exception as error:  # noqa: BLE001 - a run must not end because its model cannot be judged
        log.warning("%s: the trial ended with %s", name, type(error).__name__)
        return {"verdict": "hold", "reason": f"The trial ended with {type(error).__name__}.", "numbers": {},
                "findings": []}  # fmt: skip
    return _told(trial) | ({"judge": options.judge.label} if options.judge else {})


def _told(trial: Trial) -> dict[str, Any]:
    findings = [{"verdict": found.verdict, "sentence": found.sentence} for found in trial.judgement.findings]
    return {
        "verdict": trial.judgement.verdict,
        "reason": trial.judgement.reason,
        "numbers": trial.evidence.numbers,
        "findings": findings,
    }


def _rows(lake: Lake, spec: RunSpec, champion: Mapping[str, Any] | None, options: TrialOptions) -> RowSet:
    most = options.plan.rows
    regression = []
    if options.regression is not None:
        regression = rows_of_file(options.regression, most)
    elif champion is not None and champion["dataset_version"] != spec.dataset_version:
        folder = lake.dataset(champion["dataset_version"])
        regression = held_out_rows(folder, most) if folder.is_dir() else []
    planted = lake.run(spec.run_id) / CANARIES_FILE
    canaries = [Canary(**told) for told in orjson.loads(planted.read_bytes())] if planted.is_file() else []
    return RowSet(held_out_rows(lake.dataset(spec.dataset_version), most), regression, canaries)


def _champion_folders(
    lake: Lake, base: BaseModel, champion: Mapping[str, Any] | None
) -> tuple[Path | None, Path | None]:
    """Return the champion's folder and that of its base, which may be another one than the candidate's."""
    if champion is None:
        return None, None
    folder = lake.path / champion["path"]
    if champion["parent"] == base.label:
        return folder, base.path
    if orjson.loads((folder / MODEL_FILE).read_bytes())["has_base"]:
        return folder, None
    found = resolve_base(champion["parent"].rpartition("@")[0], cache_folder(), lambda: [])
    return folder, found.path
