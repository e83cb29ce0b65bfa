"""Absolute caps by origin: which examples stay is drawn by hash, so that neither arrival nor flooding decides it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipelines.datasets import rules
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.verdicts import judged, verdict


def capped(rows: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Judge rows beyond the caps of user, source, topic and tenant, each counted over what the caps before it left.

    A drop's score is the row's rank in the draw, its threshold the cap. Rows without a topic are in none that is full.
    """
    owner = F.coalesce("user_ref", "conversation_id")
    caps = policy.caps
    if caps.user is not None:
        rows = beyond_cap(rows, "user", owner, F.lit(caps.user), policy.seed)
    if caps.source is not None:
        rows = beyond_cap(rows, "source", F.col("source"), F.lit(caps.source), policy.seed)
    if policy.topics.wanted:
        rows = beyond_cap(rows, "topic", F.col("topic"), _share_of_tenant(policy.topics.max_share), policy.seed)
    if caps.tenant is not None:
        rows = beyond_cap(rows, "tenant", F.lit(""), F.lit(caps.tenant), policy.seed)
    return rows


def beyond_cap(rows: DataFrame, name: str, origin: Column, cap: Column, seed: int) -> DataFrame:
    """Judge the rows of each tenant and ``origin`` that the draw puts behind the first ``cap``; null is no origin."""
    standing = F.col("verdict").isNull()
    drawn = Window.partitionBy("tenant", "_origin", standing).orderBy(draw(seed), "example_id")
    rows = rows.withColumn("_origin", origin).withColumn("_cap", cap).withColumn("_rank", F.row_number().over(drawn))
    beyond = F.col("_origin").isNotNull() & (F.col("_rank") > F.col("_cap"))
    why = verdict(f"{rules.CAP_PREFIX}{name}", score=F.col("_rank"), threshold=F.col("_cap"))
    return judged(rows, beyond, why).drop("_origin", "_cap", "_rank")


def draw(seed: int) -> Column:
    """Return the number of each row in the draw of ``seed``: a hash of seed, tenant and example id."""
    return F.sha2(F.concat_ws("\x1f", F.lit(str(seed)), "tenant", "example_id"), 256)


def _share_of_tenant(share: float) -> Column:
    n_standing = F.count("*").over(Window.partitionBy("tenant", F.col("verdict").isNull()))
    return F.greatest(F.floor(n_standing * share), F.lit(1))
