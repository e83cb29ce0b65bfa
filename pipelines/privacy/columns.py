"""Anonymising from Python: one text, or a column of pandas, Polars, Arrow, DuckDB or Spark."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pyarrow as pa

from pipelines.privacy.anonymizer import Anonymized, Anonymizer, Row
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.policy import Policy, find_policy
from pipelines.privacy.second_tier import span_source

DEFAULT_TENANT = "default"
_ROWS_AT_ONCE = 1024


class ColumnAnonymizer:
    """Anonymises columns of text under the keys of a folder; the first use makes the folder.

    ``policy`` is a preset's name, a TOML file or a ``Policy``. Pickles without keys, so that Spark can send it to its
    workers. One row that cannot be anonymised fails the call: nothing half done comes back.
    """

    def __init__(
        self, keys: str | os.PathLike[str], policy: str | Policy = "training", tenant: str = DEFAULT_TENANT
    ) -> None:
        chosen = find_policy(policy) if isinstance(policy, str) else policy
        self.tenant = tenant
        self.anonymizer = Anonymizer(KeyFolder(keys).open_or_create(), chosen, source=span_source(chosen))

    def text(self, text: str) -> Anonymized:
        """Return one text without its personal values, with the places of the replacements."""
        return self.anonymizer.text(self.tenant, text)

    def values(self, texts: Iterable[str | None]) -> list[str | None]:
        """Return the texts without their personal values; what is no text stays as it is (None, NaN)."""
        column = list(texts)
        for start in range(0, len(column), _ROWS_AT_ONCE):
            places = [i for i in range(start, min(start + _ROWS_AT_ONCE, len(column))) if isinstance(column[i], str)]
            rows = [Row(self.tenant, {"": str(column[i])}) for i in places]
            for place, clean in zip(places, self.anonymizer.batch(rows), strict=True):
                if isinstance(clean, Exception):
                    raise clean
                column[place] = clean[""].text
        return column

    def arrow(self, column: pa.Array) -> pa.Array:
        """Return an Arrow column of strings, plain or chunked, without their personal values; nulls stay."""
        return pa.array(self.values(column.to_pylist()), pa.string())


def anonymize(
    text: str, *, keys: str | os.PathLike[str], policy: str | Policy = "training", tenant: str = DEFAULT_TENANT
) -> Anonymized:
    """Return one text without its personal values; for many texts make a ``ColumnAnonymizer`` once."""
    return ColumnAnonymizer(keys, policy, tenant).text(text)
