"""What a slow process costs a run of two, and how much of it adaptive shares give back.

    OMP_NUM_THREADS=1 uv run python tests/benchmarks/stragglers.py [--steps N] [--repeats N]

One of two processes is stopped two thirds of its time (SIGSTOP, SIGCONT), as a throttled host is. Timed: the steps
after the first with equal shares and with adaptive ones, the same rows in both. ``ideal`` is what a step would take if
both processes always ended together, from their speeds measured in the same run. ``settled`` leaves out the reports
before the shares first moved. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from training_ranks import prepared, trained

BATCH = 8


def seconds_a_step(lines: list[dict[str, Any]]) -> float:
    """Return the mean over reports."""
    return sum(line["seconds"] for line in lines) / sum(line["steps"] for line in lines)


def ideal_seconds(lines: list[dict[str, Any]]) -> float:
    """Return the rows of a step over the speeds of both processes."""
    rows = sum(rank["rows"] for line in lines for rank in line["ranks"]) / sum(line["steps"] for line in lines)
    speeds = [
        sum(line["ranks"][rank]["rows"] for line in lines)
        / sum(line["ranks"][rank]["compute_seconds"] * line["steps"] for line in lines)
        for rank in range(2)
    ]
    return rows / sum(speeds)


def main() -> None:
    """Measure and print."""
    flags = argparse.ArgumentParser()
    flags.add_argument("--steps", type=int, default=60)
    flags.add_argument("--repeats", type=int, default=3)
    asked = flags.parse_args()
    repeats = []
    with prepared(asked.steps * BATCH * 2) as folder:
        for repeat in range(asked.repeats):
            fields = {"max_steps": asked.steps, "batch_size": BATCH, "max_length": 128, "lora_rank": 0,
                      "report_steps": 5, "learning_rate": 2e-3}  # fmt: skip
            equal = trained(folder, f"equal-{repeat}", slow=1, **fields)
            adaptive = trained(folder, f"adaptive-{repeat}", slow=1, adaptive_shares=True, **fields)
            moved = [line for line in adaptive["reports"] if line["ranks"][0]["share"] != BATCH]
            seconds = {
                "equal": seconds_a_step(equal["reports"]),
                "adaptive": seconds_a_step(adaptive["reports"]),
                "settled": seconds_a_step(moved or adaptive["reports"]),
                "ideal": ideal_seconds(adaptive["reports"]),
            }
            told = {name: round(value, 4) for name, value in seconds.items()}
            told |= {f"equal_over_{name}": round(seconds["equal"] / seconds[name], 2) for name in list(seconds)[1:]}
            last = adaptive["reports"][-1]
            told["shares"] = [rank["share"] for rank in last["ranks"]]
            told["relative_of_slow"] = [round(line["ranks"][1]["relative"], 2) for line in equal["reports"]]
            told["loss"] = [round(run["loss_after"], 4) for run in (equal, adaptive)]
            repeats.append(told)
    print(json.dumps({"steps": asked.steps, "rows_a_step": 2 * BATCH, "repeats": repeats}))


if __name__ == "__main__":
    main()
