"""What one language offers to the chat set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChatLanguage:
    """Names, addresses and sentences of one language; gaps of sentences are written ``[[kind]]``.

    ``#`` in ``phones`` and ``postcodes`` is any digit. ``dates`` are forms for ``date.strftime``; ``@`` in them is
    the name of the month out of ``months``. ``national_id`` is a key of the generator of national ids.
    """

    code: str
    told: tuple[str, ...]
    replies: tuple[str, ...]
    neutral: tuple[tuple[str, str], ...]
    phones: tuple[str, ...]
    national_id: str
    dates: tuple[str, ...]
    months: tuple[str, ...]
    given: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    streets: tuple[str, ...] = ()
    cities: tuple[str, ...] = ()
    postcodes: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    at_and_dot: tuple[str, str] = ("at", "dot")


def joined(starts: str, ends: str) -> tuple[str, ...]:
    """Return every start with every end, both given as words: invented names of the right make."""
    return tuple(start + end for start in starts.split() for end in ends.split())


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


def months(text: str) -> tuple[str, ...]:
    """Return twelve names of months."""
    names = words(text)
    if len(names) != 12:
        raise ValueError(f"wanted 12 months, found {len(names)}")
    return names
