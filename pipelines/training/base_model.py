"""The models that training starts from: a tiny one made on the spot, a local folder, or a name on the hub."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock

from pipelines.training.chat_format import CHATML, CONTROL_TOKENS, IM_END, PAD
from pipelines.training.polite_threads import polite_threads

TINY = "turnmill-tiny"
RECIPE_VERSION = 1
"""Bumped when the making of the tiny base changes, so that no cached one of an older recipe is taken."""
DONE_MARKER = "base.json"

Talk = Sequence[dict[str, str]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TinyRecipe:
    """Shape and pretraining of the tiny base: about 1.0M parameters, under a minute on two cores."""

    vocab_size: int = 2048
    hidden_size: int = 128
    intermediate_size: int = 352
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    max_position_embeddings: int = 1024
    steps: int = 120
    batch_size: int = 16
    sequence_length: int = 96
    learning_rate: float = 3e-3
    label_smoothing: float = 0.1
    """Keeps a model of few texts from being sure of itself on all others (Szegedy et al., arXiv 1512.00567)."""
    seed: int = 0


@dataclass(frozen=True)
class BaseModel:
    """A base model on this machine. ``fingerprint`` changes with weights, configuration and tokenizer."""

    name: str
    path: Path
    fingerprint: str

    @property
    def label(self) -> str:
        """Name with fingerprint, as tables carry it."""
        return f"{self.name}@{self.fingerprint}"


class BaseModelMissing(Exception):
    """No usable base model under the name; the message says what was wanted and where it was looked for."""

    safe_to_show = True


def resolve_base(
    name: str,
    cache: Path,
    texts: Callable[[], Iterable[Talk]],
    *,
    recipe: TinyRecipe | None = None,
    progress: Progress | None = None,
) -> BaseModel:
    """Return the base model ``name`` as a folder of this machine.

    ``turnmill-tiny`` is made from ``texts`` (talks of role and content) on first use and never touches the network;
    a path is taken as it is; any other name is asked of the hub, or of its local cache under ``HF_HUB_OFFLINE=1``.
    Only safetensors weights are accepted, and no code of a model is run. Raises ``BaseModelMissing``.
    """
    if name == TINY:
        return tiny_base(cache, texts, recipe or TinyRecipe(), progress)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = _from_hub(name)
    weights = sorted(folder.glob("*.safetensors"))
    if not weights or not (folder / "config.json").is_file():
        raise BaseModelMissing(f"base model {name}: wanted config.json and *.safetensors in its folder, found them not")
    described = [folder / "config.json", *sorted(folder.glob("tokenizer*")), *weights]
    return BaseModel(Path(name).name if Path(name).is_dir() else name, folder.resolve(), _hash_files(described))


def tiny_base(
    cache: Path, texts: Callable[[], Iterable[Talk]], recipe: TinyRecipe, progress: Progress | None = None
) -> BaseModel:
    """Return the tiny base for ``recipe`` and ``texts``, made once in ``cache`` even by two processes at a time."""
    talks = [[{"role": m["role"], "content": m["content"]} for m in talk] for talk in texts()]
    digest = hashlib.sha256(orjson.dumps([RECIPE_VERSION, CHATML, asdict(recipe)]))
    for talk in talks:
        digest.update(orjson.dumps(talk))
    fingerprint = digest.hexdigest()[:16]
    folder = cache / "bases" / f"{TINY}-{fingerprint}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / DONE_MARKER).is_file():
            shutil.rmtree(folder, ignore_errors=True)
            _make_tiny(folder, talks, recipe, fingerprint, progress)
    return BaseModel(TINY, folder, fingerprint)


def train_tokenizer(texts: Iterator[str], vocab_size: int) -> Any:
    """Train a byte-level BPE tokenizer on ``texts``; every string of UTF-8 encodes and decodes without loss."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=list(CONTROL_TOKENS), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=IM_END, pad_token=PAD, additional_special_tokens=list(CONTROL_TOKENS[:1])
    )
    fast.chat_template = CHATML
    return fast


def _make_tiny(
    folder: Path, talks: list[list[dict[str, str]]], recipe: TinyRecipe, fingerprint: str, progress: Progress | None
) -> None:
    """Train tokenizer and model, and put them in place by one rename; the marker is the last file written."""
    if not talks:
        raise BaseModelMissing(f"base model {TINY}: wanted talks to pretrain on, found none")
    tokenizer = train_tokenizer((m["content"] for talk in talks for m in talk), recipe.vocab_size)
    model, losses = _pretrain(tokenizer, talks, recipe, progress)
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        model.save_pretrained(staging, safe_serialization=True)
        tokenizer.save_pretrained(staging)
        told = {"fingerprint": fingerprint, "recipe": asdict(recipe), "first_loss": losses[0], "last_loss": losses[-1]}
        (staging / DONE_MARKER).write_bytes(orjson.dumps(told, option=orjson.OPT_SORT_KEYS))
        staging.chmod(0o755)
        staging.replace(folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _pretrain(
    tokenizer: Any, talks: list[list[dict[str, str]]], recipe: TinyRecipe, progress: Progress | None
) -> tuple[Any, list[float]]:
    """Train a small Llama on random windows of the talks; returns the model and the loss of each step."""
    import torch
    from torch.nn.functional import cross_entropy
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        config = LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=recipe.hidden_size,
            intermediate_size=recipe.intermediate_size,
            num_hidden_layers=recipe.num_hidden_layers,
            num_attention_heads=recipe.num_attention_heads,
            num_key_value_heads=recipe.num_key_value_heads,
            max_position_embeddings=recipe.max_position_embeddings,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
        model = LlamaForCausalLM(config)
        texts = [tokenizer.apply_chat_template(talk, tokenize=False) for talk in talks]
        stream = torch.tensor([i for ids in tokenizer(texts, add_special_tokens=False)["input_ids"] for i in ids])
        width = min(recipe.sequence_length, len(stream) - 1)
        optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.learning_rate, total_steps=recipe.steps)
        losses = []
        model.train()
        with polite_threads():
            for step in range(recipe.steps):
                starts = torch.randint(0, len(stream) - width, (recipe.batch_size,))
                batch = torch.stack([stream[start : start + width] for start in starts.tolist()])
                logits = model(input_ids=batch).logits[:, :-1].flatten(0, 1)
                targets = batch[:, 1:].flatten()
                loss = cross_entropy(logits, targets, label_smoothing=recipe.label_smoothing)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad(set_to_none=True)
                losses.append(loss.item())
                if progress:
                    progress(step + 1, recipe.steps)
        return model.eval(), losses


def _from_hub(name: str) -> Path:
    """Ask the hub (or its local cache) for configuration, tokenizer and safetensors of ``name``, nothing else."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.safetensors", "*.model", "*.jinja", "*.txt"]))
    except Exception as error:
        raise BaseModelMissing(
            f"base model {name}: wanted a local folder or a hub model that can be reached, found neither "
            f"({type(error).__name__}); give a folder, or {TINY}"
        ) from error


def _hash_files(paths: Iterable[Path]) -> str:
    """Return the first 16 hex digits of SHA-256 over names and contents."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
