"""Runs scenarios of the worker on one process or several, forked from one that has imported all there is to import.

    python tests/unit/rank_scenarios.py FOLDER

``FOLDER/scenarios.json`` lists them; each leaves ``FOLDER/NAME/rank-R.json`` and the gradients of its first steps.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from torch.distributed.tensor import DTensor  # noqa: E402
from transformers import AutoModelForCausalLM, TrainerCallback  # noqa: E402

from pipelines.training import worker  # noqa: E402
from pipelines.training.distributed.global_steps import GlobalSteps  # noqa: E402
from pipelines.training.distributed.sharded_model import load_base  # noqa: E402
from pipelines.training.pinned_inputs import pinned_inputs  # noqa: E402
from pipelines.training.process_group import joined_processes  # noqa: E402
from pipelines.training.run_spec import RunSpec  # noqa: E402

STEPS_KEPT = 3


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return all of a tensor that may be spread over processes."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


class KeptGradients(TrainerCallback):
    """Writes the gradients of the first steps, as the optimizer sees them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        if state.global_step >= STEPS_KEPT:
            return
        kept = {n: whole(p.grad.detach()).clone() for n, p in model.named_parameters() if p.grad is not None}
        if args.process_index == 0:
            save_file(kept, self.folder / f"gradients-{state.global_step}.safetensors")


def one_rank(scenario: dict[str, Any], folder: Path, rank: int, port: int) -> None:
    """Run the worker's ``train`` as one rank of the scenario and write what it saw."""
    world = scenario["world"]
    torch.set_num_threads(1)
    if world > 1:
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "MASTER_PORT": port}
        os.environ |= {name: str(value) for name, value in place.items()}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": "test"}
    spec = RunSpec(**scenario["spec"])
    seen: list[list[int]] = []
    sent = [0]
    part_of, reduce_all, made = GlobalSteps.part, dist.all_reduce, worker.build_trainer

    def recorded(steps: GlobalSteps, epoch: int, step: int) -> Any:
        if scenario.get("shares"):
            steps.shares.counts = list(scenario["shares"])
        part = part_of(steps, epoch, step)
        seen.append([row for rows in part.micro for row in rows])
        return part

    def counted(tensor: torch.Tensor, *args: Any, **named: Any) -> Any:
        sent[0] += tensor.numel() * tensor.element_size()
        return reduce_all(tensor, *args, **named)

    def built(*args: Any) -> Any:
        trainer = made(*args)
        trainer.add_callback(KeptGradients(folder))
        slow = scenario.get("slow_seconds", [0.0] * world)[rank]
        if slow:
            trainer.model.register_forward_pre_hook(
                lambda _, __, named: time.sleep(slow * len(named["input_ids"])), with_kwargs=True
            )
        return trainer

    GlobalSteps.part, dist.all_reduce, worker.build_trainer = recorded, counted, built
    with joined_processes(pinned_inputs(spec), 60) as group:
        if spec.parallel == "tensor" and group.device.type == "cpu":
            spread_gradients(spec, folder, group)
            return
        result = worker.train(spec, folder, group)
    told = {"rows": seen, "loss_after": result.loss_after, "train_loss": result.train_loss, "steps": result.steps,
            "metrics": result.metrics, "all_reduced": sent[0]}  # fmt: skip
    (folder / f"rank-{rank}.json").write_text(json.dumps(told))


def spread_gradients(spec: RunSpec, folder: Path, group: Any) -> None:
    """Write the gradients of a base that lies in parts on all ranks beside those of a whole one, and their losses."""
    ids = torch.randint(0, 200, (4, 12), generator=torch.Generator().manual_seed(1))
    told = {}
    for name, model in (("spread", load_base(spec, group)), ("whole", AutoModelForCausalLM.from_pretrained(spec.base))):
        loss = model.train()(input_ids=ids, labels=ids).loss
        loss.backward()
        told[name] = float(loss.detach())
        kept = {n: whole(p.grad).clone() for n, p in model.named_parameters()}
        save_file(kept, folder / f"{name}-{group.rank}.safetensors")
        told[f"{name}_elements"] = sum(_local(p).numel() for p in model.parameters())
    (folder / f"rank-{group.rank}.json").write_text(json.dumps(told))


def _local(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def _guarded(scenario: dict[str, Any], folder: Path, rank: int, port: int) -> None:
    with (folder / f"rank-{rank}.log").open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            one_rank(scenario, folder, rank, port)
        except BaseException:
            traceback.print_exc()
            raise


def main(folder: Path) -> int:
    """Run all scenarios, one after the other; the status is the number of ranks that ended badly."""
    forked, bad = multiprocessing.get_context("fork"), 0
    for scenario in json.loads((folder / "scenarios.json").read_text()):
        place = folder / scenario["name"]
        place.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        begun = time.monotonic()
        ranks = [forked.Process(target=_guarded, args=(scenario, place, r, port)) for r in range(scenario["world"])]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join(120)
            if rank.is_alive():
                rank.kill()
        bad += sum(rank.exitcode != 0 for rank in ranks)
        print(scenario["name"], round(time.monotonic() - begun, 1), [rank.exitcode for rank in ranks], flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
