"""One JSON object a line, whichever way a reader cuts lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

LINE_ENDS = {"\u2028": b"\\u2028", "\u2029": b"\\u2029", "\u0085": b"\\u0085"}
"""Line ends of Unicode that JSON leaves as they are; readers that split like Python's ``splitlines`` cut there."""


def json_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line with its line feed; members stay in their order."""
    line = orjson.dumps(record)
    for char, escaped in LINE_ENDS.items():
        line = line.replace(char.encode(), escaped)
    return line + b"\n"
