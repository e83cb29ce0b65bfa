"""How much of names and addresses the tagger leaves, how much else it takes, and how fast it is on one core.

    uv run python tests/benchmarks/names_addresses.py [--data DIR] [--sources DIR] [--model FILE]

Leak is the share of characters of a kind, white space aside, that no span covers; over is the share of characters
outside of all labelled values that a span covers; touched is the share of texts with any such character. Rates are
texts a second of processor time. Prints one line of JSON.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import orjson
from privacy_sets import meddocan, presidio_research
from privacy_sets.labelled import DataMissing, Gold, LabelledSet, Sample

from pipelines.privacy.tagger.tag import MODEL, Found, Tagger
from pipelines.synthetic.languages import LANGUAGES

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "privacy"
KINDS = ("PERSON", "ADDRESS")
BATCHES = (1, 10, 100, 1000)
LABELS = {1: "PERSON", 2: "ADDRESS", 3: "OTHER"}


def scores(samples: Sequence[Sample], spans: Sequence[Sequence[Found]]) -> dict[str, float]:
    """Return leak by kind (of characters and of values), over and touched, in percent."""
    sizes: Counter[str] = Counter()
    for sample, found in zip(samples, spans, strict=True):
        covered, labelled = np.zeros(len(sample.text), bool), np.zeros(len(sample.text), bool)
        seen = np.array([not c.isspace() for c in sample.text], bool)
        for start, end, _ in found:
            covered[start:end] = True
        for one in sample.gold:
            labelled[one.start : one.end] = True
            if one.kind in KINDS:
                left = int((seen & ~covered)[one.start : one.end].sum())
                alone = " alone" if one.kind == "PERSON" and " " not in sample.text[one.start : one.end] else ""
                for name in {one.kind, one.kind + alone}:
                    sizes[name] += int(seen[one.start : one.end].sum())
                    sizes[f"{name} left"] += left
                sizes[f"{one.kind} values"] += 1
                sizes[f"{one.kind} values left"] += left > 0
        clean = seen & ~labelled
        sizes["clean"] += int(clean.sum())
        sizes["clean left"] += int((clean & covered).sum())
        sizes["texts"] += 1
        sizes["texts left"] += bool((clean & covered).any())
    names = {"clean": "over", "texts": "touched"}
    shares = [name for name in sizes if f"{name} left" in sizes]
    return {
        names.get(name, f"{name} leak"): round(100 * sizes[f"{name} left"] / max(1, sizes[name]), 2)
        for name in sorted(shares)
    }


def public_sets(data: Path) -> list[LabelledSet]:
    """Return the sets that are there."""
    readers: list[Callable[[], LabelledSet]] = [
        lambda name=name: presidio_research.read(data, name) for name in presidio_research.FILES
    ]  # type: ignore[misc]
    sets = []
    for read in (*readers, lambda: meddocan.read(data)):
        try:
            sets.append(read())
        except DataMissing:
            continue
    return sets


def held_out(sources: Path, texts: int) -> list[LabelledSet]:
    """Return a set a language of templates, names and sentences that training never saw. Needs Faker."""
    from pipelines.privacy.tagger.training_text import LANGUAGE_WEIGHTS, Writer, read_sources

    census = sources / "census"
    extra = sorted(sources.glob("english/*.txt"))
    read = read_sources(sources / "common-voice", census if census.is_dir() else None, extra, seed=1)
    sets = []
    for code in LANGUAGE_WEIGHTS:
        writer = Writer(read, code, seed=99, held_out=True)
        labelled = [writer.text() for _ in range(texts)]
        samples = tuple(
            Sample(one.text, tuple(Gold(start, end, LABELS[label]) for start, end, label in one.spans), language=code)
            for one in labelled
            if one.text
        )
        sets.append(LabelledSet(f"held-out-{code}", samples))
    return sets


def over_redaction(tagger: Tagger, sources: Path, texts: int) -> dict[str, float]:
    """Return by language the percent of characters that are taken out of real sentences which training never saw.

    Those are all languages of the folder, trained on or not; the few names that stand in them count as over-redaction.
    """
    from pipelines.privacy.tagger.training_text import spoken_sentences

    shares = {}
    for folder in sorted(path for path in (sources / "common-voice").iterdir() if path.is_dir()):
        sentences = spoken_sentences(folder)[::15]
        random.Random(1).shuffle(sentences)  # noqa: S311 - reproducible, not secret
        samples = [Sample(text, (), language=folder.name) for text in sentences[:texts]]
        if samples:
            found = tagger.tag([sample.text for sample in samples])
            shares[folder.name] = scores(samples, found)["over"]
    return shares


def chat_turns(count: int) -> list[str]:
    """Return chat turns of about 290 characters out of the generator's sentences, in all languages."""
    choice = random.Random(1)  # noqa: S311 - reproducible, not secret
    turns = []
    for place in range(count):
        language = LANGUAGES[place % len(LANGUAGES)]
        task, steps = choice.choice(language.tasks)
        pieces = [
            choice.choice(language.openers),
            choice.choice(language.task_questions).format(task=task),
            *steps,
            choice.choice(language.thanks),
            *choice.choice(language.tasks)[1],
        ]
        turns.append(" ".join(pieces)[:291])
    return turns


def rates(tagger: Tagger, texts: Sequence[str]) -> dict[str, int]:
    """Return texts a second by batch size."""
    tagger.tag(texts)
    result = {}
    for size in BATCHES:
        part = texts[: min(len(texts), 2000 * size)]
        begun = time.process_time()
        for start in range(0, len(part), size):
            tagger.tag(part[start : start + size])
        result[str(size)] = round(len(part) / (time.process_time() - begun))
    return result


def main() -> None:
    """Print the figures of all sets that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the labelled sets")
    parser.add_argument("--sources", type=Path, help="folder of the training sources, for the held-out set")
    parser.add_argument("--model", type=Path, default=MODEL, help="file of the weights")
    parser.add_argument("--texts", type=int, default=1000, help="held-out texts a language")
    args = parser.parse_args()
    tagger = Tagger(args.model)
    sets = public_sets(args.data) + (held_out(args.sources, args.texts) if args.sources else [])
    report = {
        "quality": {one.name: scores(one.samples, tagger.tag([sample.text for sample in one.samples])) for one in sets},
        "over_on_sentences": over_redaction(tagger, args.sources, args.texts) if args.sources else {},
        "texts_per_second": rates(tagger, chat_turns(20_000)),
    }
    print(orjson.dumps(report).decode())


if __name__ == "__main__":
    main()
