"""Which names of a row are one person: a given name or initials alone, and the full name that they are part of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def linked(names: Iterable[str]) -> dict[str, str]:
    """Return for each canonical name the full name of the row that it stands for, or itself.

    ``anna``, ``a w`` and ``anna w`` stand for ``anna weber`` where no other name of the row would do as well: a
    doubtful link stays two people.
    """
    known = sorted(set(names))
    if len(known) < 2:
        return {name: name for name in known}
    split = {name: name.split() for name in known}
    by_part: dict[str, list[str]] = {}
    for name, parts in split.items():
        for key in {*parts, *(part[0] for part in parts)}:
            by_part.setdefault(key, []).append(name)
    return {name: _full(name, by_part, split) for name in known}


def _full(name: str, by_part: dict[str, list[str]], split: dict[str, list[str]]) -> str:
    # What a name is a part of has each of its parts, so that the rarest one tells all that need a look.
    near = min((by_part[part] for part in split[name]), key=len, default=list(split))
    fuller = [other for other in near if other != name and _is_part(split[name], split[other])]
    # Of Anna, Anna Weber and Anna B. Weber the last names them all; two full names that differ name nobody.
    top = [one for one in fuller if not any(_is_part(split[one], split[other]) for other in fuller if other != one)]
    return top[0] if len(top) == 1 else name


def _is_part(short: Sequence[str], full: Sequence[str]) -> bool:
    """Tell whether the parts of ``short`` stand in ``full`` in order, a letter for a part that begins with it."""
    size = sum(map(len, short))
    if len(short) > len(full) or size >= sum(map(len, full)):
        return False
    place = 0
    for part in short:
        while place < len(full) and not (full[place] == part or (len(part) == 1 and full[place].startswith(part))):
            place += 1
        if place == len(full):
            return False
        place += 1
    return True
