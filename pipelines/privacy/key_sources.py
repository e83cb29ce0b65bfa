"""Keys that live in a key service: the hook by which a key folder names another place for its keys."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from typing import Protocol

ENTRY_POINT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class KeySource(Protocol):
    """Where keys come from: names are ``identity``, ``signing``, ``surrogate-<epoch>`` and ``payload-<epoch>``.

    Asked in each process that needs a key, once a name. An error stops the process: there is no fallback.
    """

    def names(self) -> Iterable[str]:
        """Return the names of all keys that there are."""
        ...

    def load(self, name: str) -> bytes:
        """Return the 32 bytes of a key."""
        ...

    def make(self, name: str) -> None:
        """Make a new key of 32 random bytes; leave one that is there already."""
        ...


def source_of(entry_point: str) -> KeySource:
    """Return what a function without arguments makes, named as ``module:function``; ValueError for another form."""
    if not ENTRY_POINT.fullmatch(entry_point):
        raise ValueError("not module:function")
    module, _, function = entry_point.partition(":")
    source: KeySource = getattr(importlib.import_module(module), function)()
    return source
