"""Gives each example the topic of its question. Grain: one row per row, in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipelines.datasets.caps import draw
from pipelines.datasets.policy import CurationPolicy, Topics
from pipelines.datasets.topics import Vectors, find_centroids, nearest, topic_names

FITTED = "tenant string, topic int, name string, centroid array<float>"


@dataclass(frozen=True)
class Topic:
    """A cluster of questions of one tenant, named by its frequent words."""

    tenant: str
    topic: int
    name: str


def with_topics(
    rows: DataFrame, candidates: DataFrame, embeddings: DataFrame, policy: CurationPolicy
) -> tuple[DataFrame, list[Topic]]:
    """Add ``topic``, null for a question without a vector, and return the topics of each tenant. Runs Spark jobs.

    Where several models have made vectors, those of the model with most of a tenant's rows count. The clusters are
    found on a sample drawn by hash; tenants share none.
    """
    vectors = one_model(embeddings)
    standing = rows.where("verdict IS NULL").select("tenant", "turn_id", "example_id", "user_ref", "conversation_id")
    asked = candidates.select("tenant", "turn_id", F.col("question.text").alias("text"), "question.text_hash")
    questions = standing.join(asked, ["tenant", "turn_id"]).join(vectors, ["tenant", "text_hash"])
    drawn = Window.partitionBy("tenant").orderBy(draw(policy.seed), "example_id")
    sample = questions.withColumn("nth", F.row_number().over(drawn)).where(F.col("nth") <= policy.topics.sample)
    fitted = sample.groupBy("tenant").applyInPandas(topic_fitter(policy.topics, policy.seed), FITTED).collect()
    fitted.sort(key=lambda row: (row.tenant, row.topic))
    centroids = {
        tenant: np.asarray([row.centroid for row in fitted if row.tenant == tenant], np.float32)
        for tenant in {row.tenant for row in fitted}
    }
    assigned = questions.select("tenant", "turn_id", "vector").mapInArrow(
        topic_assigner(centroids), "tenant string, turn_id string, topic int"
    )
    topics = [Topic(row.tenant, row.topic, row.name) for row in fitted]
    return rows.join(assigned, ["tenant", "turn_id"], how="left"), topics


def one_model(embeddings: DataFrame) -> DataFrame:
    """Return tenant, text_hash and vector of the model that has most rows of the tenant, each text once."""
    counts = embeddings.groupBy("tenant", "model_fingerprint").count()
    most = counts.groupBy("tenant").agg(
        F.max(F.struct("count", "model_fingerprint"))["model_fingerprint"].alias("most")
    )
    return (
        embeddings.join(most, "tenant")
        .where(F.col("model_fingerprint") == F.col("most"))
        .groupBy("tenant", "text_hash")
        .agg(F.min_by("vector", "embedded_at").alias("vector"))
    )


def topic_fitter(settings: Topics, seed: int) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function for ``applyInPandas``: a tenant's sample in; topic, name and centroid of each cluster out."""

    def fit(sample: pd.DataFrame) -> pd.DataFrame:
        sample = sample.sort_values("nth")
        vectors = np.asarray(sample["vector"].tolist(), np.float32)
        centroids = find_centroids(vectors, settings.count, seed)
        rows = []
        if len(centroids):
            owners = sample["user_ref"].fillna(sample["conversation_id"]).tolist()
            texts = sample["text"].fillna("").tolist()
            names = topic_names(texts, owners, nearest(vectors, centroids), len(centroids))
            rows = [(sample["tenant"].iloc[0], nth, name, centroids[nth].tolist()) for nth, name in enumerate(names)]
        return pd.DataFrame(rows, columns=["tenant", "topic", "name", "centroid"])

    return fit


def topic_assigner(centroids: dict[str, Vectors]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for ``mapInArrow``: questions in; their topic by their tenant's centroids, or null, out."""

    def assign(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            frame = batch.to_pandas()
            topics = pd.Series([None] * len(frame), dtype="Int32")
            for tenant, positions in frame.groupby("tenant").indices.items():
                if tenant in centroids:
                    vectors = np.asarray(frame["vector"].iloc[positions].tolist(), np.float32)
                    topics.iloc[positions] = nearest(vectors, centroids[tenant])
            columns = [batch.column("tenant"), batch.column("turn_id"), pa.array(topics, pa.int32())]
            yield pa.RecordBatch.from_arrays(columns, ["tenant", "turn_id", "topic"])

    return assign
