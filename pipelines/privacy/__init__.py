"""Personal values out of texts before anything is stored: keys, detectors, policies, surrogates, edits, their proof."""

from __future__ import annotations

import importlib
from typing import Any

_LAZY = {
    "anonymize": "pipelines.privacy.columns",
    "ColumnAnonymizer": "pipelines.privacy.columns",
    "HeldBackText": "pipelines.privacy.streaming",
    "Policy": "pipelines.privacy.policy",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use: most modules of this package need few of the others."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)
