"""A model version on disk: the adapter, its tokenizer, what it was made from; complete or not there at all."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from pipelines.durable_files import flush_to_disk
from pipelines.training.base_model import BaseModel

MODEL_FILE = "model.json"
ADAPTER_CONFIG = "adapter_config.json"
PICKLED = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.pickle", "*.ckpt")
PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS


def write_model(adapter: Path, target: Path, base: BaseModel, facts: Mapping[str, Any], *, with_base: bool) -> None:
    """Copy an adapter, or full weights, into ``target`` by one rename; ``model.json`` tells base and ``facts``.

    ``with_base`` puts the base's weights beside an adapter, so that a model on a base made here can be loaded anywhere.
    The adapter names its base by name and fingerprint, never by a folder of this machine. Only safetensors, JSON and
    the tokenizer's text go in: pickled files stay behind.
    """
    staging = target.with_name(f".{target.name}-{uuid.uuid4().hex}")
    try:
        shutil.copytree(adapter, staging, ignore=shutil.ignore_patterns("README.md", *PICKLED))
        is_adapter = (staging / ADAPTER_CONFIG).is_file()
        if is_adapter:
            config = orjson.loads((staging / ADAPTER_CONFIG).read_bytes())
            config["base_model_name_or_path"] = base.name
            (staging / ADAPTER_CONFIG).write_bytes(orjson.dumps(config, option=PRETTY))
        if with_base and is_adapter:
            shutil.copytree(base.path, staging / "base", ignore=shutil.ignore_patterns(*PICKLED))
        told = {
            "base": base.name,
            "base_fingerprint": base.fingerprint,
            "has_base": with_base and is_adapter,
            "is_adapter": is_adapter,
            **facts,
        }
        (staging / MODEL_FILE).write_bytes(orjson.dumps(told, option=PRETTY))
        flush_to_disk([*staging.rglob("*"), staging])
        staging.replace(target)
        flush_to_disk([target.parent])
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def load_model(folder: Path, base: Path | None = None) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a model version, an adapter merged into its base.

    ``base`` is the base's folder where the version does not hold it. An incomplete one raises ``FileNotFoundError``.
    """
    from peft import PeftModel
    from transformers import AutoTokenizer

    told = orjson.loads((folder / MODEL_FILE).read_bytes())
    if not told.get("is_adapter", True):
        return _loaded(folder), AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    weights = folder / "base" if told["has_base"] else base
    if weights is None:
        raise FileNotFoundError(f"model: wanted the folder of its base {told['base']}, found none given")
    tuned = PeftModel.from_pretrained(_loaded(weights), folder).merge_and_unload()
    return tuned, AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


def load_base(folder: Path) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a base model's folder."""
    from transformers import AutoTokenizer

    return _loaded(folder), AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


def _loaded(folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=False, use_safetensors=True)
