"""Precision and recall of the decontamination, and its speed, with leaks planted into public chat sets.

    uv run python tests/benchmarks/decontamination.py [--data ../shared/data] [--embed]

Benchmark: the prompts of Arena-Hard v0.1 and v2.0 and of MT-Bench with its reference answers. Training data: Open
Assistant, hh-rlhf, Schema-Guided Dialogue and Taskmaster, in which none of them is expected. Into a copy of it items
are planted, each in one form: as they are, in upper case, with other white space, with each 12th word changed, in a
JSON tool result, in the middle of a longer message, six tenths of it; items of their own in another language, with
numbers and (STS-B) without, and in other words (STS-B). Near misses are planted too: items of one template with other
numbers and names.

Peers are the rules that are common elsewhere, written down here: any run of 13 (GPT-3) or 8 words of an item, and runs
of 8 words that hold more than half of an item's words (Tulu 3); without weights. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipelines.adapters.benchmark_files import read_benchmark
from pipelines.decontamination.check import LeakCheck, leak_check
from pipelines.decontamination.items import BenchmarkItem
from pipelines.embedding.encoder import SentenceTransformerEncoder

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
BENCHMARKS = ("arena-hard/arena-hard-v0.1", "arena-hard/arena-hard-v2.0", "fastchat/mt_bench")
BATCH = 5_000
A_FORM = 100
TRANSLATED = 60

Message = dict[str, Any]


def message(text: str, role: str = "user") -> Message:
    return {"role": role, "text": text, "tool_calls": []}


def json_lines(path: Path) -> list[Any]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in raw.split(b"\n") if line.strip()]


def training_texts(data: Path) -> list[str]:
    """Return the distinct messages of the training sets."""
    found: dict[str, None] = {}

    def tree(node: Any) -> None:
        found[node["text"]] = None
        for reply in node.get("replies", ()):
            tree(reply)

    for record in json_lines(data / "oasst/en_100_tree.jsonl"):
        tree(record["prompt"])
    for record in json_lines(data / "hh-rlhf/harmless-base/test.jsonl.gz"):
        for side in ("chosen", "rejected"):
            found.update(dict.fromkeys(re.split(r"\n\n(?:Human|Assistant): ?", record[side])))
    for path in sorted(data.glob("sgd/*/dialogues_*.json.gz")):
        for talk in json.loads(gzip.decompress(path.read_bytes())):
            found.update((turn["utterance"], None) for turn in talk["turns"])
    for path in sorted(data.glob("taskmaster/TM-4-2024/data/*.json.gz")):
        for talk in json.loads(gzip.decompress(path.read_bytes())):
            found.update((turn["text"], None) for turn in talk["utterances"] if turn.get("text"))
    return [text for text in found if text.strip()]


def edited(text: str, chance: random.Random) -> str:
    """Change each twelfth word that is no number and in lower case."""
    words = text.split(" ")
    for place in range(chance.randrange(6, 12), len(words), 12):
        if words[place].islower() and words[place].isalpha():
            words[place] = chance.choice(("rather", "thing", "various", "often", "simple"))
    return " ".join(words)


def half(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    return " ".join(words[: max(len(words) * 6 // 10, 1)])


def inside(text: str, chance: random.Random) -> str:
    return f"Somebody asked me this in an interview yesterday: {text}\n\nHow would you go about it, step by step?"


FORMS: dict[str, Callable[[str, random.Random], Message]] = {
    "verbatim": lambda text, chance: message(text),
    "cased": lambda text, chance: message(text.upper()),
    "spaced": lambda text, chance: message(re.sub(r"\s", "\n  ", text)),
    "edited": lambda text, chance: message(edited(text, chance)),
    "tool_result": lambda text, chance: message(json.dumps({"hits": [{"n": 1, "body": text}]}), "tool"),
    "inside": lambda text, chance: message(inside(text, chance)),
    "six_tenths": lambda text, chance: message(half(text, chance)),
}


def near_misses(chance: random.Random) -> tuple[list[str], list[str]]:
    """Return items made from templates, and for each another of the same template with other values."""
    names = ("Mara", "Ivo", "Selma", "Tariq", "Bela", "Noor", "Pavel", "Greta")
    things = ("crates of plums", "bags of cement", "boxes of chalk", "rolls of tape", "jars of honey")
    templates: tuple[Callable[[], str], ...] = (
        lambda: (
            f"Construct a complete truth table for the following argument. Then, using the truth table, determine "
            f"whether the argument is valid or invalid: {chance.choice('PQRS')} v {chance.choice('KLMN')} / ~"
            f"{chance.choice('TUVW')} // {chance.choice('ABCD')}"
        ),
        lambda: (
            f"{chance.choice(names)} buys {chance.randrange(11, 99)} {chance.choice(things)} at "
            f"{chance.randrange(11, 99)} dollars each and sells them for {chance.randrange(2000, 9999)} dollars. "
            "How large is the profit in dollars?"
        ),
        lambda: (
            f"Write a Python function that takes a list of integers and returns the sum of all elements that are "
            f"divisible by {chance.randrange(13, 97)} but not by {chance.randrange(101, 997)}."
        ),
        lambda: (
            f"Translate the following sentence from English into French and explain each choice that you make: "
            f"'{chance.choice(names)} lost {chance.randrange(11, 99)} {chance.choice(things)} in "
            f"{chance.choice(names)}town.'"
        ),
    )
    made = [(template(), template()) for template in templates for _ in range(A_FORM // len(templates))]
    pairs = [(item, other) for item, other in dict.fromkeys(made) if item != other]
    return [item for item, _ in pairs], [other for _, other in pairs]


def translations(data: Path) -> tuple[list[str], list[str]]:
    """Return English captions, and for each its German, Spanish or Chinese translation."""
    languages = ("de", "es", "zh")
    rows = {name: captions(data, name) for name in ("en", *languages)}
    taken = list(range(0, len(rows["en"]), 5))[:TRANSLATED]
    return [rows["en"][n][0] for n in taken], [rows[languages[n % 3]][n][0] for n in taken]


def paraphrases(data: Path) -> tuple[list[str], list[str], list[str]]:
    """Return English captions, and of those what was rated the same (4.5 or more), and only alike (1 to 3)."""
    rows = captions(data, "en")
    same = [row for row in rows if float(row[2]) >= 4.5 and row[0] != row[1]]
    alike = [row for row in rows if 1 <= float(row[2]) <= 3]
    return [row[0] for row in (*same, *alike)], [row[1] for row in same], [row[1] for row in alike]


def captions(data: Path, language: str) -> list[list[str]]:
    """Return the rows of STS-B's test captions: two sentences and how alike they are, 0 to 5."""
    path = data / f"vectors/stsb-multi-mt/stsb-{language}-test.captions.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


TRANSLATIONS = {
    "If a lorry needs 36 litres for 450 kilometres, how far does it get with 20 litres?": (
        "Wenn ein Lastwagen für 450 Kilometer 36 Liter braucht, wie weit kommt er mit 20 Litern?",
        "Si un camion consomme 36 litres pour 450 kilomètres, quelle distance parcourt-il avec 20 litres ?",
        "如果一辆卡车行驶450公里需要36升油，那么20升油能行驶多远？",
    ),
    "A shop sells 125 notebooks at 2.40 each and 60 pens at 1.15 each. What does it take in?": (
        "Ein Laden verkauft 125 Hefte zu je 2,40 und 60 Stifte zu je 1,15. Wie viel nimmt er ein?",
        "Una tienda vende 125 cuadernos a 2,40 cada uno y 60 bolígrafos a 1,15 cada uno. ¿Cuánto ingresa?",
        "Un magasin vend 125 cahiers à 2,40 pièce et 60 stylos à 1,15 pièce. Combien encaisse-t-il ?",
    ),
    "The village had 1,840 inhabitants in 1950 and 2,300 in 1990. By how many per cent did it grow?": (
        "Das Dorf hatte 1950 1.840 Einwohner und 1990 2.300. Um wie viel Prozent ist es gewachsen?",
        "El pueblo tenía 1.840 habitantes en 1950 y 2.300 en 1990. ¿En qué porcentaje creció?",
        "该村1950年有1840名居民，1990年有2300名。增长了百分之多少？",
    ),
    "Two pipes fill a tank in 45 and 36 minutes. How long do they need together?": (
        "Zwei Rohre füllen einen Tank in 45 und 36 Minuten. Wie lange brauchen sie zusammen?",
        "Deux tuyaux remplissent un réservoir en 45 et 36 minutes. Combien de temps leur faut-il ensemble ?",
        "Две трубы наполняют бак за 45 и 36 минут. Сколько времени им нужно вместе?",
    ),
}
"""Word problems and their translations, written for this benchmark."""


def half_covered(items: list[BenchmarkItem]) -> Callable[[str], set[str]]:
    """Return the peer: tells of which items more than half of the words lie in runs of 8 that a text has too."""
    texts = {f"{one.benchmark}/{one.item_id}/{one.side}": one for one in items}
    index: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for name, one in texts.items():
        for place, run in enumerate(_runs(one.text, 8)):
            index.setdefault(run, []).append((name, place))
    sizes = {name: len(re.findall(r"\w+", one.text)) for name, one in texts.items()}

    def found(text: str) -> set[str]:
        held: dict[str, set[int]] = {}
        for run in _runs(text, 8):
            for name, place in index.get(run, ()):
                held.setdefault(name, set()).update(range(place, place + 8))
        return {name.rpartition("/")[0] for name, words in held.items() if len(words) > sizes[name] / 2}

    return found


def any_run(items: list[BenchmarkItem], size: int) -> Callable[[str], set[str]]:
    """Return the peer: tells which items share any run of ``size`` words with a text."""
    index: dict[tuple[str, ...], set[str]] = {}
    for one in items:
        for run in _runs(one.text, size):
            index.setdefault(run, set()).add(f"{one.benchmark}/{one.item_id}")
    return lambda text: {item for run in _runs(text, size) for item in index.get(run, ())}


def _runs(text: str, size: int) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return [tuple(words[n : n + size]) for n in range(len(words) - size + 1)]


def found_by(check: LeakCheck, rows: list[Message]) -> tuple[list[dict[str, str]], float]:
    """Return for each row the items found in it with their verdicts, and the seconds."""
    found: list[dict[str, str]] = [{} for _ in rows]
    begun = time.process_time()
    for start in range(0, len(rows), BATCH):
        for leak in check.check([[row] for row in rows[start : start + BATCH]]):
            name = f"{leak.ref.benchmark}/{leak.ref.item_id}"
            found[start + leak.example][name] = f"{leak.verdict}:{leak.how}"
    return found, time.process_time() - begun


def measure(flags: argparse.Namespace) -> dict[str, Any]:
    chance = random.Random(7)
    data = flags.data / "conversations"
    files = [read_benchmark(data / name / "question.jsonl") for name in BENCHMARKS]
    files.append(read_benchmark(data / "fastchat/mt_bench/reference_answer/gpt-4.jsonl", "mt-bench-reference"))
    public = [item for file in files for item in file.items]
    templated, others = near_misses(chance)
    english, foreign = translations(flags.data)
    made = [BenchmarkItem("templated", str(n), "prompt", text) for n, text in enumerate(templated)]
    told, same, alike = paraphrases(flags.data)
    spoken = [BenchmarkItem("captions", str(n), "prompt", text) for n, text in enumerate([*english, *told])]
    problems = [BenchmarkItem("word-problems", str(n), "prompt", text) for n, text in enumerate(TRANSLATIONS)]
    items = [*public, *made, *spoken, *problems]
    check = leak_check(items)
    by_meaning = leak_check(items, encoder=SentenceTransformerEncoder()) if flags.embed else check

    long_enough = [one for one in public if one.side == "prompt" and len(one.text.split()) >= 8]
    chosen = chance.sample(long_enough, A_FORM * len(FORMS))
    planted = [(form, chosen[n * A_FORM + k]) for n, form in enumerate(FORMS) for k in range(A_FORM)]
    truth = [f"{one.benchmark}/{one.item_id}" for _, one in planted]
    leaks = [FORMS[form](one.text, chance) for form, one in planted]
    clean = [message(text) for text in training_texts(data)]
    groups = {"clean": clean, "near_miss": [message(t) for t in others], "translated": [message(t) for t in foreign]}
    groups["translated_with_numbers"] = [message(text) for ways in TRANSLATIONS.values() for text in ways]
    groups |= {"paraphrased": [message(text) for text in same], "merely_alike": [message(text) for text in alike]}
    groups["clean_sample"] = chance.sample(clean, 500)

    found, _ = found_by(check, leaks)
    report: dict[str, Any] = {
        "items": len(items),
        "too_short_for_runs": len(check.index.too_short()),
        "known": [file.known.name for file in files if file.known],
        "list_sha256": check.index.digest,
        "recall": _recall(planted, truth, found),
    }
    for name, rows in groups.items():
        found, seconds = found_by(check if name == "clean" else by_meaning, rows)
        report[name] = {"rows": len(rows), **Counter(verdict for row in found for verdict in set(row.values()))}
        if name == "clean":
            report["rows_a_second"] = round(len(rows) / seconds)
            report["megabytes_a_second"] = round(sum(len(r["text"]) for r in rows) / seconds / 1e6, 1)
        if flags.show:
            _show(name, rows, found, {f"{i.benchmark}/{i.item_id}": i.text for i in items})
    peers = {
        "any_8_words": any_run(items, 8),
        "any_13_words": any_run(items, 13),
        "half_in_runs_of_8": half_covered(items),
    }
    report["peers"] = {name: _peer(peer, planted, truth, leaks, groups) for name, peer in peers.items()}
    return report


def _recall(planted: list[tuple[str, Any]], truth: list[str], found: list[dict[str, str]]) -> dict[str, Any]:
    told: dict[str, Counter[str]] = {form: Counter() for form in FORMS}
    for (form, _), item, row in zip(planted, truth, found, strict=True):
        told[form][row[item].split(":")[0] if item in row else "missed"] += 1
        told[form]["other_items"] += len(row.keys() - {item})
    return {form: dict(counts) for form, counts in told.items()}


def _peer(peer: Callable[[str], set[str]], planted: Any, truth: Any, leaks: Any, groups: Any) -> dict[str, Any]:
    hits = Counter(
        form for (form, _), item, row in zip(planted, truth, leaks, strict=True) if item in peer(row["text"])
    )
    false = {name: sum(bool(peer(row["text"])) for row in rows) for name, rows in groups.items()}
    return {"recall": {form: hits[form] for form in FORMS}, "rows_flagged": false}


def _show(name: str, rows: list[Message], told: list[dict[str, str]], texts: dict[str, str]) -> None:
    import sys

    for row, found in zip(rows, told, strict=True):
        for item, verdict in found.items():
            sys.stderr.write(f"--- {name} {verdict} {item}\n{row['text'][:300]}\n   = {texts[item][:300]}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=SHARED / "data")
    parser.add_argument("--embed", action="store_true", help="compare questions by meaning too")
    parser.add_argument("--show", action="store_true", help="write what was found among clean rows to standard error")
    print(json.dumps(measure(parser.parse_args())))
