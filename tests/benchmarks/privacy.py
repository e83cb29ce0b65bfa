"""What anonymisation leaves, takes too much of, keeps and costs, ours and its peers', in one run.

    uv run --group peers python tests/benchmarks/privacy.py [--table] [--texts 500] [--systems turnmill presidio]

Sets: presidio-research (two files), MEDDOCAN train, the open cases, notes of 50 kB, a chat set and hard negatives that
are generated here. Every system runs in a process of its own, on one core and one thread, over the same texts. Peers
whose packages clash with the project's run from an environment of their own: ``--peers-python PATH``. A peer or a set
that is not there is named in the report. Prints one line of JSON, or with ``--table`` Markdown.

Leaks are shares of the labelled characters (white space apart) that no replacement covers; over-redaction the same
outside of all labels. Which label a system gives does not count, only what it replaces. A run over everything takes
about a quarter of an hour, nearly all of it the peers'; ``--texts`` thins every set at even steps.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from privacy_peers.process import OURS, PEERS, SystemFailed, SystemProcess
from privacy_scores.cases import failed
from privacy_scores.report import figures, unclaimed, worse_than_peers
from privacy_scores.tables import tables
from privacy_scores.utility import Utility, changed_pairs
from privacy_sets import chat, meddocan, open_cases, presidio_research
from privacy_sets.labelled import DataMissing, LabelledSet, thinned

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
SECONDS_A_SET = 10.0


def readers(flags: argparse.Namespace) -> dict[str, Callable[[], LabelledSet]]:
    """Return how each set is read, by its name."""
    research = {
        name: (lambda name=name: presidio_research.read(flags.data, name)) for name in presidio_research.FILES
    }  # fmt: skip
    return {
        **research,
        meddocan.NAME: lambda: meddocan.read(flags.data),
        open_cases.NAME: lambda: open_cases.as_set(open_cases.read(flags.cases)),
        chat.NAME: lambda: chat.chat_set(flags.conversations),
        chat.NEGATIVES: chat.hard_negatives,
        "notes-50kB": lambda: chat.long_notes(flags.notes),
    }


def read_sets(flags: argparse.Namespace) -> tuple[dict[str, LabelledSet], dict[str, str]]:
    """Read the wanted sets; return those that are there, and why others are not."""
    found, missing = dict[str, LabelledSet](), dict[str, str]()
    for name, read in readers(flags).items():
        if flags.sets and name not in flags.sets:
            continue
        try:
            whole = read()
        except DataMissing as error:
            missing[name] = str(error)
            continue
        is_whole = not flags.texts or name == open_cases.NAME
        found[name] = whole if is_whole else thinned(whole, flags.texts)
    return found, missing


def measure(flags: argparse.Namespace) -> dict[str, Any]:
    """Run every wanted system over every wanted set."""
    sets, missing = read_sets(flags)
    utility = Utility() if flags.utility else None
    cases = open_cases.read(flags.cases) if open_cases.NAME in sets else []
    systems = dict[str, Any]()
    results: dict[str, dict[str, Any]] = {name: {} for name in sets}
    for name in flags.systems:
        python, options = (sys.executable, {"policy": flags.policy}) if name == OURS else (flags.peers_python, {})
        with SystemProcess(name, python, options) as system:
            systems[name] = system.about
            for set_name, whole in sets.items() if not system.missing else ():
                outcomes, seconds = system.run(whole.samples, flags.repeats, SECONDS_A_SET)
                result = figures(whole, outcomes, seconds, system.about["claims"])
                if set_name == open_cases.NAME:
                    result["cases_failed"] = failed(cases, outcomes)
                if utility and set_name == chat.NAME:
                    result["utility"] = utility.cosine(changed_pairs(whole.samples, outcomes, flags.utility, chat.SEED))
                results[set_name][name] = result
    if cases:
        _count_cases(results, len(cases))
    claims = {name: about["claims"] for name, about in systems.items() if "claims" in about}
    entries = {name: _entry(whole, results[name], claims) for name, whole in sets.items()}
    return {
        "policy": flags.policy,
        "systems": systems,
        "sets": entries | {name: {"missing": reason} for name, reason in missing.items()},
    }


def _entry(whole: LabelledSet, results: dict[str, Any], claims: dict[str, Any]) -> dict[str, Any]:
    return {
        "texts": len(whole.samples),
        "megabytes": round(whole.bytes / 1e6, 3),
        "labels": dict(whole.labels),
        "unclaimed": unclaimed(results, claims),
        "worse_than_peers": worse_than_peers(results, OURS),
        "systems": results,
    }


def _count_cases(results: dict[str, dict[str, Any]], count: int) -> None:
    """Tell the share of open cases passed beside the figures of the chat set, where the last table shows it."""
    for name, result in results[open_cases.NAME].items():
        passed = f"{count - len(result['cases_failed'])} / {count}"
        result["cases_passed"] = passed
        if name in results.get(chat.NAME, {}):
            results[chat.NAME][name]["cases_passed"] = passed


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=SHARED / "data" / "privacy", help="folder of the public sets")
    parser.add_argument("--cases", type=Path, default=SHARED / "cases" / "privacy.jsonl", help="the open cases")
    parser.add_argument("--policy", default="training", help="preset or TOML file for Turnmill")
    parser.add_argument("--systems", nargs="+", choices=(OURS, *PEERS), default=(OURS, *PEERS))
    parser.add_argument("--sets", nargs="+", help="names of sets; all without it")
    parser.add_argument("--texts", type=int, default=0, help="about so many texts a set, the same for every system")
    parser.add_argument("--conversations", type=int, default=800, help="talks of the chat set")
    parser.add_argument("--notes", type=int, default=12, help="notes of 50 kB")
    parser.add_argument("--repeats", type=int, default=4, help="passes for the clock; the first warms up")
    parser.add_argument("--utility", type=int, default=200, help="texts to embed; 0 leaves utility out")
    parser.add_argument("--peers-python", default=sys.executable, help="Python of an environment with the peers")
    parser.add_argument("--table", action="store_true", help="print Markdown tables instead of JSON")
    parser.add_argument("--out", type=Path, help="also write the JSON to this file")
    return parser


def main() -> int:
    """Measure and print."""
    flags = options().parse_args()
    try:
        report = measure(flags)
    except SystemFailed as error:
        print(error, file=sys.stderr)
        return 1
    line = orjson.dumps(report).decode()
    if flags.out:
        flags.out.write_text(line + "\n")
    print(tables(report) if flags.table else line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
