"""The base of a run in memory: whole in each process, or its weights spread over all of them.

Plans of tensor and fully sharded parallelism are those that transformers keeps for each family of models; sharding and
its collectives are torch's (``parallelize_module``, ``fully_shard``).
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.distributed import DistributedConfig

from pipelines.training.process_group import ProcessGroup
from pipelines.training.run_spec import RunSpec


class CannotShard(ValueError):
    """The run asks for a spread of weights that its base, its method or its processes do not allow."""

    safe_to_show = True


def load_base(spec: RunSpec, group: ProcessGroup) -> Any:
    """Return the base of ``spec``, placed as ``spec.parallel`` asks; raises ``CannotShard``."""
    placed: dict[str, Any] = {}
    if spec.parallel != "data" and group.world > 1:
        wrong = refusal(spec, AutoConfig.from_pretrained(spec.base, trust_remote_code=False), group.world)
        if wrong:
            raise CannotShard(wrong)
        is_tensor = spec.parallel == "tensor"
        sizes = {"tp_size": group.world} if is_tensor else {"fsdp_size": group.world}
        placed["distributed_config"] = DistributedConfig(**sizes)
    return AutoModelForCausalLM.from_pretrained(
        spec.base,
        trust_remote_code=False,
        use_safetensors=True,
        dtype=torch.bfloat16 if torch.cuda.is_available() else torch.float32,
        **placed,
    )


def refusal(spec: RunSpec, config: Any, world: int) -> str | None:
    """Return why a base of ``config`` cannot be spread over ``world`` processes as asked; None where it can."""
    if spec.save_steps:
        # transformers keeps no optimizer of such a model: one could save, and never resume.
        return (
            f"parallel {spec.parallel}: wanted no checkpoints (save_steps 0), found one every {spec.save_steps} steps"
        )
    if spec.adaptive_shares or spec.compression != "none":
        return f"parallel {spec.parallel}: wanted equal shares and no compression, which belong to data, found others"
    if spec.method == "kto" or (spec.method == "dpo" and not spec.lora_rank):
        return (
            f"parallel {spec.parallel}: wanted sft, or dpo with an adapter, whose reference is the base itself, found "
            f"{spec.method} of {'an adapter' if spec.lora_rank else 'all weights'}"
        )
    if spec.parallel == "fsdp":
        return _fsdp_refusal(spec, config)
    if spec.lora_rank:
        return "parallel tensor: wanted all weights (lora_rank 0), found an adapter; use fsdp"
    if spec.nodes > 1:
        return "parallel tensor: wanted the processes of one machine, found several machines; use fsdp"
    heads = [getattr(config, name, None) for name in ("num_attention_heads", "num_key_value_heads")]
    if any(count and count % world for count in heads):
        return f"parallel tensor: wanted a number of processes that divides the heads {heads}, found {world}"
    if not getattr(config, "base_model_tp_plan", None):
        return f"parallel tensor: wanted a family with a plan, found {config.model_type}; use fsdp"
    return None


def _fsdp_refusal(spec: RunSpec, config: Any) -> str | None:
    # Measured with transformers 5.24: a head that shares the embeddings keeps computing with their first values.
    if not spec.lora_rank and config.tie_word_embeddings:
        return "parallel fsdp: wanted an adapter, or a base whose head has weights of its own, found all of a tied base"
    if spec.lora_rank and spec.train_embeddings:
        return "parallel fsdp: wanted an adapter alone, found one with embeddings"
    return None
