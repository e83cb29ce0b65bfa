"""Examples -> the benchmark items that they hold, with evidence; canaries in every batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.decontamination.canaries import Canary, canaries, require_found
from pipelines.decontamination.figures import FigureTable, figure_table, figures
from pipelines.decontamination.index import BenchmarkIndex, ItemRef, build_index
from pipelines.decontamination.items import BenchmarkItem
from pipelines.decontamination.meaning import ItemVectors, embed_items
from pipelines.decontamination.messages import questions_of, texts_of
from pipelines.decontamination.overlap import Overlaps, overlaps
from pipelines.decontamination.verdicts import How, LeakThresholds, Verdict, verdict_by_whole, verdict_by_words
from pipelines.decontamination.words import words
from pipelines.embedding.encoder import Encoder

Messages = Sequence[Mapping[str, Any]]


TOLD_PARTICULARS = 0.5
"""Share of an item's numbers and names that a paraphrase keeps; templates with other values are alike in meaning."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A benchmark item in an example: which side of it, how it was told, and how much of it is there.

    ``score``: share of the item, 1 for a whole short item or equal figures, the cosine for a meaning.
    """

    example: int
    ref: ItemRef
    how: How
    score: float
    verdict: Verdict


@dataclass(frozen=True)
class LeakCheck:
    """Finds items in batches of examples. Picklable; holds hashes and, of few items, the text as canaries."""

    index: BenchmarkIndex
    limits: LeakThresholds
    planted: tuple[Canary, ...]
    figures: FigureTable
    encoder: Encoder | None = None
    vectors: ItemVectors | None = field(default=None, repr=False)

    def check(self, examples: Sequence[Messages]) -> list[Leak]:
        """Return all leaks of a batch of examples, each a list of messages, in order of example and item.

        An item is told once an example, by its best evidence, and once for each benchmark that has it. Raises
        ``CanaryMissedError`` when an item that was planted in the batch is not found.
        """
        batch = [*examples, *([canary.message] for canary in self.planted)]
        found = self._told_in_words([texts_of(messages) for messages in batch])
        by_canary: list[set[int]] = [set() for _ in self.planted]
        for example, item in found:
            if example >= len(examples):
                by_canary[example - len(examples)].add(item)
        require_found(self.planted, by_canary)
        found = {pair: told for pair, told in found.items() if pair[0] < len(examples)}
        for example, item, how, score in (*self._by_figures(examples), *self._by_meaning(examples)):
            found.setdefault((example, item), (how, score, "flag_for_review"))
        return [
            Leak(example, ref, how, round(score, 4), verdict)
            for (example, item), (how, score, verdict) in sorted(found.items())
            for ref in self.index.refs[item]
        ]

    def _told_in_words(self, texts: Sequence[Sequence[str]]) -> dict[tuple[int, int], tuple[How, float, Verdict]]:
        pairs = overlaps(self.index, texts, self.limits.cover, self.limits.excerpt)
        judged = ((pair, self._judged(pairs, row)) for row, pair in enumerate(_pairs(pairs)))
        return {pair: told for pair, told in judged if told is not None}

    def _judged(self, pairs: Overlaps, row: int) -> tuple[How, float, Verdict] | None:
        n_words = int(self.index.n_words[pairs.items[row]])
        if pairs.whole[row]:
            verdict = verdict_by_whole(self.limits, is_message=pairs.whole[row] == 2, n_words=n_words)
            return None if verdict is None else ("whole", 1.0, verdict)
        cover = float(pairs.cover[row])
        verdict = verdict_by_words(
            self.limits,
            cover=cover,
            stretch=int(pairs.stretch[row]),
            own_stretch=int(pairs.own_stretch[row]),
            particulars=float(pairs.particulars[row]),
            n_words=n_words,
        )
        return None if verdict is None else ("words", cover, verdict)

    def _by_figures(self, examples: Sequence[Messages]) -> Iterator[tuple[int, int, How, float]]:
        for row, messages in enumerate(examples):
            for text in texts_of(messages):
                key = figures(text)
                one = self.figures.get(key) if key is not None else None
                if one is not None and one.is_told_by(text):
                    yield row, one.item, "figures", 1.0

    def _by_meaning(self, examples: Sequence[Messages]) -> Iterator[tuple[int, int, How, float]]:
        if self.encoder is None or self.vectors is None:
            return
        asked = [(row, text) for row, messages in enumerate(examples) for text in questions_of(messages)]
        distinct = list(dict.fromkeys(text for _, text in asked))
        if not distinct:
            return
        rows: dict[str, list[int]] = {}
        for row, text in asked:
            rows.setdefault(text, []).append(row)
        best: dict[tuple[int, int], float] = {}
        said = words(distinct).hashes
        for number, item, cosine in self.vectors.near(self.encoder.encode(distinct).vectors, self.limits.cosine):
            if self.index.particulars_said(item, said.row(number)) < TOLD_PARTICULARS:
                continue
            for row in rows[distinct[number]]:
                best[row, item] = max(cosine, best.get((row, item), 0.0))
        yield from ((row, item, "meaning", cosine) for (row, item), cosine in best.items())


def leak_check(
    items: Iterable[BenchmarkItem],
    limits: LeakThresholds = LeakThresholds(),  # noqa: B008 - frozen
    encoder: Encoder | None = None,
) -> LeakCheck:
    """Prepare the check for the items of all benchmarks; with an ``encoder`` questions are compared by meaning too.

    A model for English alone finds no translations. Raises ``BenchmarkError`` where no item has a word.
    """
    index, texts = build_index(items)
    asked = [n for n, refs in enumerate(index.refs) if any(ref.side == "prompt" for ref in refs)]
    table = figure_table([texts[n] for n in asked], asked)
    told = [n for n in asked if index.n_words[n] > limits.fewest_words]
    vectors = embed_items(encoder, [texts[n] for n in told], told) if encoder is not None and told else None
    return LeakCheck(index, limits, canaries(texts), table, encoder, vectors)


def _pairs(found: Overlaps) -> Iterator[tuple[int, int]]:
    return zip(found.examples.tolist(), found.items.tolist(), strict=True)
