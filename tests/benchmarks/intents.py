"""How well searches and topics follow what people meant: CLINC150's intents, through the product, as one line of JSON.

    uv run python tests/benchmarks/intents.py data_small.json.gz [--model NAME] [--out FILE]

The training utterances are indexed, the test ones asked: the share of the ten best hits that have the intent of the
question, by vectors, by shared words and by both fused. Topics: normalised mutual information of the clusters of the
test utterances and their intents, with as many clusters as there are intents, beside scikit-learn's KMeans of the same
vectors. CLINC150: Larson et al., EMNLP 2019, CC BY 3.0.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gzip
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipelines.embedding.encoder import SentenceTransformerEncoder
from pipelines.embedding.models import DEFAULT_MODEL
from pipelines.index.analysis.topics import find_topics
from pipelines.index.answers import Mode, Question, found_by
from pipelines.index.lance import LanceIndex
from pipelines.index.rows import Vector, index_schema
from pipelines.index.terms import hashed_terms

K = 10
MODES: tuple[Mode, ...] = ("vector", "text", "hybrid")
DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def built(folder: Path, texts: list[str], vectors: Vector) -> LanceIndex:
    """Index the texts by their place."""
    rows = [
        {"tenant": "default", "turn_id": str(place), "text_hash": "", "role": "user", "conversation_ref": None,
         "lang": "en", "created_at": DAY, "landed_at": DAY, "terms": hashed_terms(text), "vector": vector.tolist()}
        for place, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=index_schema(vectors.shape[1]))
    index = LanceIndex(folder)
    index.rebuild(table.to_batches(), model="m", model_fingerprint="f", versions={"turns": 0}, table_ids={})
    return index


def hits_at_k(
    index: LanceIndex, indexed: list[str], asked: list[tuple[str, str]], vectors: Vector, mode: Mode
) -> float:
    """Return the mean share of the ``K`` best hits that have the question's intent; a missing hit counts as wrong."""
    right = 0
    for (text, intent), vector in zip(asked, vectors, strict=True):
        hits = found_by(index, Question(text, vector, K, mode=mode), K).hits[:K]
        right += sum(indexed[int(hit.turn_id)] == intent for hit in hits)
    return round(right / (K * len(asked)), 4)


def nmi(found: np.ndarray, wanted: list[str]) -> float:
    """Return the normalised mutual information of clusters and intents (arithmetic mean), from 0 to 1."""
    from sklearn.metrics import normalized_mutual_info_score

    return round(float(normalized_mutual_info_score(wanted, found)), 4)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--out", type=Path, help="write the line there too")
    flags = parser.parse_args()
    sets: dict[str, list[list[str]]] = json.loads(gzip.decompress(flags.data.read_bytes()))
    train, test = [[(text, intent) for text, intent in sets[name]] for name in ("train", "test")]
    encoder = SentenceTransformerEncoder(flags.model)
    started = time.process_time()
    vectors, questions = (encoder.encode([text for text, _ in part]).vectors for part in (train, test))
    figures: dict[str, Any] = {
        "model": flags.model, "indexed": len(train), "asked": len(test), "intents": len({i for _, i in test}),
        "embedding_cpu_seconds": round(time.process_time() - started, 1),
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        index = built(Path(scratch) / "index", [text for text, _ in train], vectors)
        intents = [intent for _, intent in train]
        figures["same_intent_hits_at_10"] = {mode: hits_at_k(index, intents, test, questions, mode) for mode in MODES}
    wanted = [intent for _, intent in test]
    figures["nmi"] = {"turnmill": nmi(find_topics(questions, figures["intents"]).labels, wanted)}
    from sklearn.cluster import KMeans

    peer = KMeans(figures["intents"], n_init=3, random_state=0).fit(questions)
    figures["nmi"]["scikit-learn KMeans"] = nmi(peer.labels_, wanted)
    line = json.dumps(figures)
    print(line)
    if flags.out:
        flags.out.write_text(line + "\n")


if __name__ == "__main__":
    main()
