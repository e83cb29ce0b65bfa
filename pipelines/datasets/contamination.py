"""What becomes of examples that hold items of benchmarks: dropped by policy, told with evidence in any case."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.datasets import rules
from pipelines.datasets.policy import Contamination
from pipelines.datasets.verdicts import judged, verdict

EVIDENCE = ("example_id", "benchmark", "item", "side", "how", "score", "verdict")


def contaminated(rows: DataFrame, flags: DataFrame, settings: Contamination) -> DataFrame:
    """Judge rows that ``flags`` calls ``contaminated``; the drop names benchmark and item of the highest score.

    ``flags`` are the leaks that ``decontaminate`` tells. Verdicts like ``flag_for_review`` drop nothing.
    """
    if settings.action == "flag":
        return rows
    held = F.struct("score", "benchmark", "item")
    worst = (
        flags.where(F.col("verdict") == rules.CONTAMINATED)
        .groupBy("tenant", "example_id")
        .agg(F.max(held).alias("_held"))
    )
    rows = rows.join(worst, ["tenant", "example_id"], how="left")
    item = F.concat_ws("#", "_held.benchmark", "_held.item")
    why = verdict(rules.CONTAMINATED, score=F.col("_held.score"), matched_id=item)
    return judged(rows, F.col("_held").isNotNull(), why).drop("_held")
