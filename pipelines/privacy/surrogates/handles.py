"""User names, social handles and the local parts of addresses: names inside them become the person's surrogate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.name_parts import initial_surrogate, part_surrogate, read_part
from pipelines.privacy.surrogates.name_pools import SURNAME, bare, known_names

_RUN = re.compile(r"[^\W\d_]+|\d+")
_ROLES = """
info support sales admin office contact hello help team service billing invoice hr jobs press marketing noreply
no reply webmaster postmaster abuse security newsletter news mail user the mr mrs dr official real
"""
ROLES = frozenset(_ROLES.split())
"""Words of handles that stand for no person; they stay."""
_MIN_NAME = 4
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


def username(text: str, canonical: str, draws: Draws) -> str | None:
    """Return another handle of the same form: separators, case, count of digits; None where nothing would change.

    Letters between separators are read as names (``anna.weber``, ``annaweber``, ``aweber``), each keyed by itself as
    in ``persons``; digits are keyed by the whole handle.
    """
    pieces: list[str] = []
    done = 0
    for found in _RUN.finditer(text):
        run = found[0]
        if run.isdigit():
            drawn = draws.digits(len(run), "USERNAME", canonical, str(found.start()))
        else:
            drawn = run if bare(run) in ROLES else in_case_of(run, "".join(_renamed(bare(run), draws)))
        pieces += (text[done : found.start()], drawn)
        done = found.end()
    pieces.append(text[done:])
    other = "".join(pieces)
    return other if other.lower() != text.lower() else None


def _renamed(run: str, draws: Draws) -> list[str]:
    if len(run) == 1:
        return [initial_surrogate(run, draws)]
    return [plain_part(name, draws) if len(name) > 1 else initial_surrogate(name, draws) for name in _names_in(run)]


def _names_in(run: str) -> tuple[str, ...]:
    """Split a run of letters into the names that it is written from, where lists know one of them."""
    known = known_names()
    if run in known or len(run) <= _MIN_NAME:
        return (run,)
    for size in range(len(run) - 1, _MIN_NAME - 1, -1):
        head, rest = run[:size], run[size:]
        if head in known and known[head].role != SURNAME and len(rest) != 2:
            return head, rest
    if run[1:] in known and known[run[1:]].role == SURNAME:
        return run[0], run[1:]
    return (run,)


def plain_part(name: str, draws: Draws) -> str:
    """Return the surrogate of a part of a name as handles write it: a-z alone."""
    drawn = part_surrogate(read_part(name), draws)
    return _NOT_PLAIN.sub("", bare(drawn)) if drawn else f"user{draws.digits(4, 'USERNAME', name)}"


def in_case_of(text: str, drawn: str) -> str:
    """Return ``drawn`` in capitals or with one where ``text`` is."""
    if text.isupper() and len(text) > 1:
        return drawn.upper()
    return drawn.title() if text[:1].isupper() else drawn


def handle_of(handle: str, persons: tuple[str, ...], draws: Draws) -> tuple[str, str] | None:
    """Return (canonical name, surrogate handle) where a handle is made of one person's name; None for none or several.

    ``persons`` are canonical names. Known forms: first and last name or their initials in either order (``jmarwick``,
    ``jonathan.m``), with digits after them.
    """
    bare_handle = bare(handle.lstrip("@"))
    stem = bare_handle.rstrip("0123456789")
    found = _handles_of(persons).get(stem, ())
    if len(found) != 1:
        return None
    name, (first, joint, last) = found[0]
    digits = bare_handle[len(stem) :]
    drawn = joint.join(
        plain_part(part, draws) if len(part) > 1 else initial_surrogate(part, draws) for part in (first, last)
    )
    drawn += draws.digits(len(digits), "USERNAME", name, bare_handle) if digits else ""
    at = "@" if handle.startswith("@") else ""
    return name, at + (drawn.upper() if handle.lstrip("@").isupper() else drawn)


_Form = tuple[str, str, str]
"""First part, joint, last part."""


@lru_cache(maxsize=64)
def _handles_of(persons: tuple[str, ...]) -> dict[str, list[tuple[str, _Form]]]:
    """Return by handle whose name it is made of, and how."""
    handles: dict[str, list[tuple[str, _Form]]] = {}
    for name in persons:
        forms: dict[str, _Form] = {}
        for form in _forms(name):
            forms.setdefault("".join(form), form)
        for handle, form in forms.items():
            handles.setdefault(handle, []).append((name, form))
    return handles


def _forms(name: str) -> Iterator[_Form]:
    parts = [part for part in name.split() if len(part) > 1]
    if len(parts) < 2:
        return
    first, last = parts[0], parts[-1]
    for joint, (one, other) in product(("", ".", "_", "-"), ((first, last), (last, first))):
        for a, b in ((one, other), (one[0], other), (one, other[0])):
            yield a, joint, b
