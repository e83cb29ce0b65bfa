"""What is written in the place of a value: the policy's action, carried out under the key of one epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.privacy.linked_persons import linked
from pipelines.privacy.policy import Action, Policy, Scope
from pipelines.privacy.pseudonyms import Pseudonyms
from pipelines.privacy.safe_harbor import generalised
from pipelines.privacy.scan import PERSON, USERNAME
from pipelines.privacy.surrogates.by_type import surrogate
from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.handles import handle_of

MakeSurrogate = Callable[[str, str, str, Draws], str | None]


class Whose(NamedTuple):
    """Keyed references of whose text a row is, as far as the log tells."""

    user: str | None = None
    conversation: str | None = None


NOBODY = Whose()


@dataclass(frozen=True, slots=True)
class Replacements:
    """Replacements for one row; ``links`` lead from a name to the one full name of the row that it stands for."""

    policy: Policy
    draws: Draws
    links: Mapping[str, str]
    persons: tuple[str, ...]
    make: MakeSurrogate = surrogate

    def of(self, kind: str, text: str, canonical: str) -> tuple[str, str]:
        """Return (type, replacement) for a folded value; a handle that is a person's gets the person's."""
        action = self.policy.action(kind)
        handle = handle_of(text, self.persons, self.draws) if kind == USERNAME and self.persons else None
        if action is Action.SURROGATE:
            drawn = handle[1] if handle else self.make(kind, text, canonical, self.draws)
            return kind, self._token(kind, canonical) if drawn is None else drawn
        if handle and action is self.policy.action(PERSON):
            kind, canonical = PERSON, handle[0]
        if action is Action.TOKEN:
            return kind, self._token(kind, canonical)
        if action is Action.HASH:
            name = self.links.get(canonical, canonical) if kind == PERSON else canonical
            return kind, self.draws.pseudonyms.hash(self.draws.tenant, kind, name, self.draws.scope)
        if action is Action.GENERALISE:
            return kind, generalised(kind, text, self.policy.oldest_birth_year)
        return kind, "" if action is Action.REMOVE else f"[{kind}]"

    def _token(self, kind: str, canonical: str) -> str:
        name = self.links.get(canonical, canonical) if kind == PERSON else canonical
        return self.draws.pseudonyms.token(self.draws.tenant, kind, name, self.draws.scope)


def replacements(
    policy: Policy,
    pseudonyms: Pseudonyms,
    tenant: str,
    whose: Whose,
    persons: Iterable[str],
    make: MakeSurrogate = surrogate,
) -> Replacements:
    """Return the replacements of one row in which these persons, as canonical names, were found.

    ``make`` is ``surrogate``, or remembers what that gave.
    """
    draws = Draws(pseudonyms, tenant, scope_of(policy, whose), _subject(whose), policy.month_first)
    links = linked(persons)
    return Replacements(policy, draws, links, tuple(sorted(set(links.values()))), make)


def scope_of(policy: Policy, whose: Whose) -> tuple[str, ...]:
    """Return what bounds consistency; a row that does not tell its user falls back on its conversation, and so on."""
    if policy.scope is Scope.TENANT:
        return ()
    names = ("user", "conversation") if policy.scope is Scope.USER else ("conversation", "user")
    told = next((name for name in names if getattr(whose, name)), None)
    return () if told is None else (told, getattr(whose, told))


def _subject(whose: Whose) -> str:
    return whose.user or whose.conversation or ""
