"""Whether the fenced code of a text parses; code is parsed, never run.

Python by its own grammar, JSON and TOML by their parsers; of other languages nothing is said.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
import warnings
from collections.abc import Callable

import orjson

VALID, INVALID, UNKNOWN = "valid", "invalid", "unknown"

MAX_CHARS = 20_000
MAX_LINE = 1_000
"""Blocks beyond are not parsed: deep nesting costs the parser memory and stack."""
MAX_BLOCKS = 20

_BLOCK = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*([\w+#.-]*)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_SESSION = re.compile(r"^(?:>>>|\.\.\.|In \[\d|[%!$?]|\$ )", re.MULTILINE)
_LEFT_OUT = re.compile(r"\.\.\.|\u2026|^\s*(?://|#|/\*)|<[\w -]+>", re.MULTILINE)
_NO_BODY = "expected an indented block"
"""A body of comments alone: the reader is to fill it in."""
_OLD_PRINT = re.compile(r"^\s*(?:print|exec) +[^\s(=]", re.MULTILINE)


def code_validity(text: str) -> str | None:
    """Return ``valid``, ``invalid`` or ``unknown`` for the fenced code of a text; None where there is none.

    One block that does not parse makes it ``invalid``; ``valid`` needs one that does. Shell sessions, Python 2, blocks
    with parts left out and languages without a parser here are ``unknown``.
    """
    if "```" not in text and "~~~" not in text:
        return None
    found = [
        _verdict(block[2].lower(), block[3]) for block, _ in zip(_BLOCK.finditer(text), range(MAX_BLOCKS), strict=False)
    ]
    if not found:
        return None
    return INVALID if INVALID in found else VALID if VALID in found else UNKNOWN


def _verdict(language: str, source: str) -> str:
    judge = _JUDGES.get(language)
    if judge is None or len(source) > MAX_CHARS or max(map(len, source.split("\n"))) > MAX_LINE:
        return UNKNOWN
    return judge(source) if source.strip() else UNKNOWN


def _python(source: str) -> str:
    if _SESSION.search(source) or "\0" in source:
        return UNKNOWN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(textwrap.dedent(source))
        except SyntaxError as error:
            is_sketch = str(error).startswith(_NO_BODY) or "\u2026" in source
            return UNKNOWN if is_sketch or _OLD_PRINT.search(source) else INVALID
        except (RecursionError, MemoryError, ValueError):
            return UNKNOWN
    return VALID


def _json(source: str) -> str:
    try:
        orjson.loads(source)
    except orjson.JSONDecodeError:
        return UNKNOWN if _LEFT_OUT.search(source) else INVALID
    return VALID


def _toml(source: str) -> str:
    try:
        tomllib.loads(source)
    except tomllib.TOMLDecodeError:
        return UNKNOWN if _LEFT_OUT.search(source) else INVALID
    except RecursionError:
        return UNKNOWN
    return VALID


def _json_lines(source: str) -> str:
    found = [_json(line) for line in source.split("\n") if line.strip()]
    return INVALID if INVALID in found else UNKNOWN if UNKNOWN in found else VALID


_JUDGES: dict[str, Callable[[str], str]] = {
    "python": _python,
    "py": _python,
    "python3": _python,
    "json": _json,
    "jsonl": _json_lines,
    "toml": _toml,
}
