"""Charts of what training sees and does: dataset versions, what rules drop from them, loss of the runs."""

from __future__ import annotations

import re
from typing import Any

from pipelines.datasets.rules import meaning
from pipelines.reporting.chart import (
    COLOURS,
    LEGEND,
    LEGEND_BELOW,
    Chart,
    largest,
    lying_bar,
    lying_bars,
    name,
    words_of,
)
from pipelines.reporting.figures import Figures, Row, entries
from pipelines.training.distributed.rank_lines import RANK_FIGURES

MOST_VERSIONS = 20
COMPARED_VERSIONS = 3
MOST_RULES = 12
MOST_RUNS = 7


def versions_chart(figures: Figures) -> Chart:
    """Return the examples of each dataset version by split, in the order in which they were cut."""
    shown = figures.versions[-MOST_VERSIONS:]
    names = [name(_version(row)) for row in shown]
    traces = [
        {
            "type": "bar",
            "name": split,
            "x": names,
            "y": [row[column] for row in shown],
            "width": min(0.5, 0.12 * len(shown)),
            "marker": {"color": colour},
            "customdata": [[name(row["policy"]), f"{row['created_at']:%Y-%m-%d %H:%M} UTC"] for row in shown],
            "hovertemplate": (
                "%{x}<br>%{y:,} examples<br>%{customdata[0]}<br>%{customdata[1]}<extra>%{fullData.name}</extra>"
            ),
        }
        for split, column, colour in (("train", "n_train", COLOURS[0]), ("validation", "n_validation", COLOURS[4]))
    ]
    layout = {
        "barmode": "stack",
        "bargap": 0.5,
        "xaxis": {"type": "category", "automargin": True},
        "yaxis": {"title": {"text": "examples"}, "rangemode": "tozero"},
        "legend": LEGEND,
    }
    rows = [
        (_version(row), row["created_at"], row["policy"], row["gate"], row["n_train"], row["n_validation"])
        for row in figures.versions
    ]
    return Chart(
        "versions",
        "Dataset versions",
        f"The newest {MOST_VERSIONS} at most, the newest on the right; a held one did not pass its gate.",
        NO_VERSION,
        traces if shown else (), layout, ("version", "cut (UTC)", "policy", "gate", "train", "validation"), rows,
    )  # fmt: skip


def rules_chart(figures: Figures) -> Chart:
    """Return the dropped rows of the newest versions by rule."""
    compared = [(row, entries(row["drop_counts"])) for row in figures.versions[-COMPARED_VERSIONS:]]
    sums: dict[str, int] = {}
    for _, counts in compared:
        for rule, count in counts.items():
            sums[rule] = sums.get(rule, 0) + count
    rules = [rule for rule, _ in largest(sums, MOST_RULES)[:MOST_RULES]]
    traces = [
        lying_bar(name(_version(row)), [name(words_of(rule)) for rule in rules],
                  [counts.get(rule, 0) for rule in rules], COLOURS[nth])
        for nth, (row, counts) in enumerate(compared)
    ]  # fmt: skip
    layout = lying_bars(len(rules) * max(len(compared) - 1, 1), "dropped rows") | {"barmode": "group"}
    rows = [
        (_version(row), rule, count, meaning(rule))
        for row, counts in compared
        for rule, count in largest(counts, len(counts))
    ]
    return Chart(
        "rules",
        "Dropped by rule",
        f"Turns, conversations, pairs and ratings kept out of the newest {COMPARED_VERSIONS} versions; "
        "one row may break several rules.",
        NO_VERSION,
        traces if rules else (), layout, ("version", "rule", "dropped rows", "meaning"), rows,
    )  # fmt: skip


def losses_chart(figures: Figures) -> Chart:
    """Return the loss of the newest runs over their steps, with that on held-out rows before and after."""
    shown = [row for row in figures.runs if _measured(row, figures)][-MOST_RUNS:]
    traces = [trace for nth, run in enumerate(shown) for trace in _run_traces(run, figures, COLOURS[nth])]
    layout = {
        "xaxis": {"title": {"text": "step"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "loss (mean over tokens)"}},
        "legend": LEGEND_BELOW,
        "hovermode": "closest",
    }
    rows = [
        (run["run_id"], run["method"], run["dataset_version"], run["state"], *_before_and_after(run))
        for run in figures.runs
    ]
    columns = ("run", "method", "dataset version", "state", "held out, before", "held out, after")
    return Chart(
        "losses",
        "Loss of training runs",
        f"The line is the loss on training rows, the two diamonds that on held-out rows before and after; the newest "
        f"{MOST_RUNS} runs at most. Losses of different methods do not compare.",
        "No run has been measured yet: turnmill trigger, then turnmill train.",
        traces, layout, columns, rows,
    )  # fmt: skip


def processes_chart(figures: Figures) -> Chart:
    """Return the scores of the processes of each run of several, the newest runs on the right."""
    runs = [(run, _rank_figures(entries(run["metrics"]))) for run in figures.runs]
    several = [(run, ranks) for run, ranks in runs if len(ranks) > 1][-MOST_RUNS:]
    world = max((len(ranks) for _, ranks in several), default=0)
    traces = [
        {
            "type": "bar",
            "name": f"rank {rank}",
            "x": [name(run["run_id"]) for run, ranks in several if rank in ranks],
            "y": [ranks[rank].get("relative") for _, ranks in several if rank in ranks],
            "customdata": [ranks[rank].get("share") for _, ranks in several if rank in ranks],
            "marker": {"color": COLOURS[rank % len(COLOURS)]},
            "hovertemplate": "%{x}<br>score %{y:.2f}<br>%{customdata} rows a step<extra>%{fullData.name}</extra>",
        }
        for rank in range(world)
    ]
    layout = {
        "barmode": "group",
        "xaxis": {"type": "category", "automargin": True},
        "yaxis": {"title": {"text": "speed, of the fastest"}, "range": [0, 1.05]},
        "legend": LEGEND,
    }
    rows = [
        (run["run_id"], rank, *(told.get(key) for key in RANK_FIGURES))
        for run, ranks in runs
        for rank, told in sorted(ranks.items())
    ]
    columns = ("run", "rank", "rows a step", "relative score", "individual score", "rows a second")
    return Chart(
        "processes",
        "Processes of training runs",
        f"Speed of each process over that of the fastest one at the end of a run; the newest {MOST_RUNS} runs of "
        "several processes at most.",
        "No run of several processes yet: turnmill train --nproc 2.",
        traces, layout, columns, rows,
    )  # fmt: skip


_RANK_FIGURE = re.compile(rf"rank(\d+)_({'|'.join(RANK_FIGURES)})")


def _rank_figures(metrics: dict[str, Any]) -> dict[int, dict[str, float]]:
    """Return the figures of each process that are among the metrics of a run."""
    ranks: dict[int, dict[str, float]] = {}
    for key, value in metrics.items():
        if found := _RANK_FIGURE.fullmatch(key):
            ranks.setdefault(int(found[1]), {})[found[2]] = value
    return ranks


NO_VERSION = "No dataset version yet: turnmill curate."


def _version(row: Row) -> str:
    held = " (held)" if row["gate"] == "held" else ""
    return f"{row['dataset_version']}{held}{' (withdrawn)' if row['is_withdrawn'] else ''}"


def _steps(run: Row, figures: Figures) -> list[Row]:
    told = [step for step in figures.losses.get(run["run_id"], ()) if isinstance(step.get("loss"), int | float)]
    # Between two measurements each step repeats the last one.
    return [step for nth, step in enumerate(told) if not nth or step["loss"] != told[nth - 1]["loss"]]


def _before_and_after(run: Row) -> tuple[float | None, float | None]:
    metrics = entries(run["metrics"])
    return metrics.get("loss_before"), metrics.get("loss_after")


def _measured(run: Row, figures: Figures) -> bool:
    return bool(_steps(run, figures)) or None not in _before_and_after(run)


def _run_traces(run: Row, figures: Figures, colour: str) -> list[dict[str, Any]]:
    steps, held_out = _steps(run, figures), _before_and_after(run)
    told = f"{name(run['run_id'])} ({name(run['method'])})"
    traces: list[dict[str, Any]] = []
    if steps:
        traces.append(
            {
                "type": "scatter", "mode": "lines+markers", "name": told, "legendgroup": told,
                "x": [step["step"] for step in steps], "y": [step["loss"] for step in steps],
                "line": {"color": colour}, "marker": {"color": colour, "size": 5},
                "hovertemplate": "step %{x}<br>loss %{y:.3f}<extra>%{fullData.name}</extra>",
            }
        )  # fmt: skip
    if None not in held_out:
        last = entries(run["metrics"]).get("steps") or max((step["step"] for step in steps), default=1)
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": f"{told}, held out", "legendgroup": told,
                "x": [0, last], "y": list(held_out), "showlegend": not steps,
                "marker": {"color": colour, "symbol": "diamond", "size": 11, "line": {"width": 1}},
                "hovertemplate": "step %{x}<br>held out: %{y:.3f}<extra>%{fullData.name}</extra>",
            }
        )  # fmt: skip
    return traces
