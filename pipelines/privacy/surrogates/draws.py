"""Keyed choices: the same question gets the same answer inside a tenant, scope and epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pipelines.privacy.pseudonyms import Pseudonyms

T = TypeVar("T")

MAX_WEEKS = 52
"""How far dates move at most, either way."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Choices for the values of one subject.

    ``scope`` bounds their consistency as in ``Pseudonyms``; ``subject`` is the keyed reference of the person or talk
    whose dates move together. ``attempt`` rises when a surrogate has to be drawn again.
    """

    pseudonyms: Pseudonyms
    tenant: str
    scope: tuple[str, ...] = ()
    subject: str = ""
    month_first: bool = True
    attempt: int = 0

    def again(self) -> Draws:
        """Return the choices of the next attempt."""
        return replace(self, attempt=self.attempt + 1)

    def below(self, size: int, kind: str, *fields: str) -> int:
        """Return a number from 0 to ``size`` - 1 for a value of type ``kind``."""
        attempt = (str(self.attempt),) if self.attempt else ()
        return self.pseudonyms.number(self.tenant, kind, self.scope, *fields, *attempt) % size

    def one_of(self, options: Sequence[T], kind: str, *fields: str) -> T:
        """Return one of ``options``."""
        return options[self.below(len(options), kind, *fields)]

    def digits(self, count: int, kind: str, *fields: str) -> str:
        """Return ``count`` digits."""
        return str(self.below(10**count, kind, *fields)).zfill(count)

    def weeks(self) -> int:
        """Return how many whole weeks the subject's dates move: 1 to 52 either way, never 0 (weekdays stay)."""
        drawn = self.pseudonyms.number(self.tenant, "DATE", (), "weeks", self.subject) % (2 * MAX_WEEKS)
        return drawn - MAX_WEEKS if drawn < MAX_WEEKS else drawn - MAX_WEEKS + 1
