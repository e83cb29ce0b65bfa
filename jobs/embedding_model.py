"""The encoder that a command names, with what is made of its model kept in the cache of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.adapters.jars import cache_folder

if TYPE_CHECKING:
    from pipelines.embedding.encoder import SentenceTransformerEncoder


def named_encoder(name: str | None = None) -> SentenceTransformerEncoder:
    """Return the encoder of ``MODEL`` or ``MODEL@BACKEND``, the default model without a name."""
    from pipelines.embedding.encoder import SentenceTransformerEncoder
    from pipelines.embedding.models import DEFAULT_MODEL

    return SentenceTransformerEncoder(name or DEFAULT_MODEL, cache=str(cache_folder()))
