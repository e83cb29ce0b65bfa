"""``turnmill embed --parity``: which backends keep the quality of torch on sentence pairs that people scored."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table as TextTable

from jobs.embedding_model import named_encoder
from jobs.options import Exit, Settings, UserError
from pipelines.embedding.encoder import Backend
from pipelines.embedding.parity import MOST_LOSS, Parity, compare, read_pairs


def compare_backends(settings: Settings, pairs: Path, model: str, backends: Sequence[Backend]) -> list[Parity]:
    """Tell the parity of each backend; raise with exit code 4 where one loses too much."""
    files = sorted(pairs.glob("*.csv")) if pairs.is_dir() else [pairs]
    try:
        scored = read_pairs(files)
    except ValueError as error:
        raise UserError(str(error)) from None
    reference = named_encoder(f"{model}@torch")
    others = [named_encoder(f"{model}@{backend}") for backend in backends if backend != "torch"]
    results = compare(reference, others, scored)
    _tell(settings, model, results, len(scored.scores))
    refused = [result.backend for result in results if not result.accepted]
    if refused:
        raise UserError(
            f"wanted at most {MOST_LOSS:.1%} less rank correlation than torch, found more for {', '.join(refused)}; "
            "do not store vectors of these backends for this model.",
            Exit.GATE_HELD,
        )
    return results


def _tell(settings: Settings, model: str, results: Sequence[Parity], n_pairs: int) -> None:
    if settings.json:
        rows = [{**dataclasses.asdict(result), "accepted": result.accepted} for result in results]
        settings.emit({"model": model, "pairs": n_pairs, "backends": rows})
        return
    table = TextTable("backend", "Spearman", "loss", "largest deviation", "verdict", title=f"{n_pairs:,} pairs")
    for result in results:
        table.add_row(
            result.backend,
            f"{result.spearman:.4f}",
            f"{result.loss:+.2%}",
            "-" if result.max_deviation is None else f"{result.max_deviation:.4f}",
            "accepted" if result.accepted else "refused",
        )
    settings.console.print(table)
