"""What gradients cost on their way between two processes, and what is lost when they are sent in fewer bytes.

    OMP_NUM_THREADS=1 uv run python tests/benchmarks/compression.py [--steps N] [--repeats N]

A base of 1.0M random weights learns to turn lists of words round, all weights or an adapter, with the same rows in the
same order. The peer is torch's own all-reduce, ``none``, in the same run. Both processes are on this machine, where
bytes are cheap: wall time tells what a hook costs, not what it saves on a network. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any

from training_ranks import prepared, trained

KINDS: dict[str, dict[str, Any]] = {
    "full, none": {"lora_rank": 0},
    "full, fp16": {"lora_rank": 0, "compression": "fp16"},
    "full, bf16": {"lora_rank": 0, "compression": "bf16"},
    "full, powersgd r1": {"lora_rank": 0, "compression": "powersgd", "powersgd_rank": 1},
    "full, powersgd r2": {"lora_rank": 0, "compression": "powersgd", "powersgd_rank": 2},
    "lora r16, none": {"lora_rank": 16},
}


def main() -> None:
    """Measure and print."""
    flags = argparse.ArgumentParser()
    flags.add_argument("--steps", type=int, default=60)
    flags.add_argument("--repeats", type=int, default=1)
    asked = flags.parse_args()
    table: dict[str, Any] = {}
    with prepared(asked.steps * 8) as folder:
        for repeat in range(asked.repeats):
            for kind, fields in KINDS.items():
                name = f"{kind.replace(', ', '-').replace(' ', '-')}-{repeat}"
                rate = 2e-3 if fields["lora_rank"] == 0 else 5e-3
                run = trained(folder, name, max_steps=asked.steps, batch_size=4, max_length=128, learning_rate=rate,
                              **fields)  # fmt: skip
                windows = [line["seconds"] / line["steps"] for line in run["reports"]]
                told = table.setdefault(kind, {"loss": [], "seconds_a_step": []})
                told["bytes_a_step"] = int(run["gradient_bytes_a_step"])
                told["loss"].append(round(run["loss_after"], 4))
                told["loss_before"] = round(run["loss_before"], 4)
                told["seconds_a_step"].append(round(statistics.median(windows), 4))
    full = table["full, none"]
    for told in table.values():
        told["bytes_of_full"] = round(told["bytes_a_step"] / full["bytes_a_step"], 4)
        ratios = [a / b for a, b in zip(told["seconds_a_step"], full["seconds_a_step"], strict=True)]
        told["seconds_of_full"] = [round(ratio, 2) for ratio in ratios]
    print(json.dumps({"steps": asked.steps, "table": table}))


if __name__ == "__main__":
    main()
