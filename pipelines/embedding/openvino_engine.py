"""Run a sentence-transformers model on a CPU through OpenVINO, converted here from its safetensors.

The whole model is converted, pooling and dense layers too, so an export cannot pool otherwise than the model does.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipelines.embedding.model_cache import made_once

Precision = Literal["float32", "bfloat16", "int8"]
"""Of the matrix products. ``int8`` keeps weights and, inside a product, activations in 8 bits."""

_CONVERSION = "v1"
"""Goes up whenever the conversion below gives other numbers."""

_LEAST_WEIGHTS = 4096
_HINTS = {"float32": "f32", "bfloat16": "bf16", "int8": "f32"}


class EngineMissingError(ImportError):
    """The backend's package is not installed."""

    safe_to_show = True


def converted_forward(
    model: Any, fingerprint: str, precision: str, threads: int | None, cache: str | None = None
) -> Callable[[Mapping[str, Any]], npt.NDArray[np.float32]]:
    """Return a function from the model's features to its sentence vectors [n, d]; convert the model the first time.

    ``model`` is a loaded SentenceTransformer; ``fingerprint`` names it in the cache. ``threads`` None takes all cores.
    """
    openvino = _without_telemetry()
    weights = "int8" if precision == "int8" else "float32"
    folder = made_once(
        f"openvino-{openvino.__version__.split('-')[0]}-{_CONVERSION}-{weights}-{fingerprint[:32]}",
        lambda draft: _convert(model, draft, weights),
        cache,
    )
    core = openvino.Core()
    settings: dict[str, Any] = {
        "INFERENCE_PRECISION_HINT": _HINTS[precision],
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
    }
    if threads is not None:
        settings["INFERENCE_NUM_THREADS"] = threads
    request = core.compile_model(core.read_model(folder / "model.xml"), "CPU", settings).create_infer_request()
    names = [port.any_name for port in request.model_inputs]

    def forward(features: Mapping[str, Any]) -> npt.NDArray[np.float32]:
        result = request.infer({name: features[name].numpy() for name in names})
        vectors: npt.NDArray[np.float32] = np.array(next(iter(result.values())), dtype=np.float32)
        return vectors

    return forward


def is_installed() -> bool:
    """Tell whether the engine is there; imports nothing."""
    return importlib.util.find_spec("openvino") is not None


def _without_telemetry() -> Any:
    # Its converter reports every use to its maker unless it cannot import this, and asks nobody before.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    try:
        import openvino
    except ImportError:
        raise EngineMissingError(
            "wanted the package openvino for this backend, found none; pip install 'turnmill[openvino]', or use "
            "the backend torch"
        ) from None
    return openvino


def _convert(model: Any, folder: Path, weights: str) -> None:
    import torch

    openvino = _without_telemetry()

    class SentenceVectors(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model({"input_ids": input_ids, "attention_mask": attention_mask})["sentence_embedding"]

    example = dict.fromkeys(("input_ids", "attention_mask"), torch.ones(2, 8, dtype=torch.int64))
    with torch.inference_mode():
        converted = openvino.convert_model(SentenceVectors().eval(), example_input=example)
    if weights == "int8":
        _weights_in_int8(converted)
    openvino.save_model(converted, folder / "model.xml", compress_to_fp16=False)


def _weights_in_int8(model: Any) -> None:
    """Replace each weight matrix of a product by int8 values with one scale a row; OpenVINO then multiplies in int8."""
    from openvino import opset13 as ops

    for product in model.get_ops():
        if product.get_type_name() != "MatMul" or not product.get_attributes()["transpose_b"]:
            continue
        port = product.input(1)
        source = port.get_source_output().get_node()
        if source.get_type_name() != "Constant" or source.data.size < _LEAST_WEIGHTS:
            continue
        matrix = np.asarray(source.data, dtype=np.float32)
        scales = np.maximum(np.abs(matrix).max(axis=1, keepdims=True) / 127, np.finfo(np.float32).tiny)
        rounded = np.rint(matrix / scales).astype(np.int8)
        values = ops.convert(ops.constant(rounded), "f32")
        port.replace_source_output(ops.multiply(values, ops.constant(scales.astype(np.float32))).output(0))
