"""What counts as personal and what takes its place: one declared object, four presets, or a TOML file."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from pipelines.privacy.scan import TYPES
from pipelines.privacy.second_look import LookAt, SecondLook


class Action(StrEnum):
    """What becomes of a detected value."""

    SURROGATE = "surrogate"
    """A value of the same kind that belongs to nobody; a token where the type has none to give."""
    TOKEN = "token"  # noqa: S105 - the name of an action
    """``<TYPE_…>`` with 128 keyed bits."""
    MASK = "mask"
    """``[TYPE]``, the same for all values."""
    HASH = "hash"
    """128 keyed bits in hex."""
    GENERALISE = "generalise"
    """What Safe Harbor lets stand: the year of a date, 90+ for an age, three digits of a ZIP code; else a mask."""
    REMOVE = "remove"
    KEEP = "keep"
    """The type is not looked for."""


class Scope(StrEnum):
    """How far equal values get equal replacements."""

    TENANT = "tenant"
    USER = "user"
    CONVERSATION = "conversation"


DEFAULT_REGIONS = ("US", "GB", "DE", "FR", "NL", "IT", "ES", "BE", "CH", "AT", "PL", "PT", "SE", "DK", "IE")
OTHER_REGIONS = (
    "AU", "NZ", "ZA", "IN", "JP", "KR", "TR", "SA", "AE", "EG", "IL", "BR", "MX", "AR", "CN", "UA", "RU", "GR",
)  # fmt: skip

Actions = tuple[tuple[str, Action], ...]

_REALISTIC = (
    "PERSON", "ADDRESS", "EMAIL", "PHONE", "DATE_OF_BIRTH", "DATE", "USERNAME", "URL", "IP_ADDRESS", "MAC_ADDRESS",
)  # fmt: skip
_OFF_BY_DEFAULT = (("ORGANISATION", Action.KEEP), ("PLACE", Action.KEEP))
_TRAINING: Actions = (*((kind, Action.SURROGATE) for kind in _REALISTIC), *_OFF_BY_DEFAULT)
_SAFE_HARBOR: Actions = tuple((kind, Action.GENERALISE) for kind in ("DATE", "DATE_OF_BIRTH", "AGE", "ADDRESS"))


class PolicyError(ValueError):
    """A policy that cannot be used. The message says what was wanted and found."""

    safe_to_show = True


@dataclass(frozen=True)
class Policy:
    """What counts as personal and what replaces it; each row keeps its ``name``. Hashable; ``Policy()`` is `training`.

    ``actions`` are (type, action), ``other_types`` counts for the rest; ``types`` are looked for, less those kept.
    ``scope`` bounds consistency. ``documentation_ranges`` also replaces addresses that documents may use freely (RFC
    2606, 5737, 3849), which reach nobody. ``default_regions`` (ISO 3166) are tried in order for phone numbers without
    a country code. ``month_first`` reads 03/04/1987 as the 4th of March. ``clinical`` asks for all dates, ages and
    record numbers. ``oldest_birth_year``: a birth year up to it is never shown where dates are generalised, since it
    tells an age over 89 (1940 does from 2030 on). ``second_look`` names a larger model beside the tagger.
    """

    name: str = "training"
    documentation_ranges: bool = False
    default_regions: tuple[str, ...] = DEFAULT_REGIONS + OTHER_REGIONS
    types: frozenset[str] = frozenset(TYPES)
    actions: Actions = _TRAINING
    other_types: Action = Action.TOKEN
    scope: Scope = Scope.TENANT
    month_first: bool = True
    clinical: bool = False
    oldest_birth_year: int = 1940
    second_look: SecondLook | None = None

    def __post_init__(self) -> None:
        unknown = sorted(self.types - set(TYPES))
        if unknown:
            raise PolicyError(f"wanted types out of {', '.join(TYPES)}, found {', '.join(unknown)}")
        wanted = frozenset(kind for kind in self.types if self.action(kind) is not Action.KEEP)
        object.__setattr__(self, "types", wanted)

    @cached_property
    def _actions(self) -> Mapping[str, Action]:
        return dict(self.actions)

    def action(self, kind: str) -> Action:
        """Return what becomes of values of a type."""
        return self._actions.get(kind, self.other_types)


TRAINING = Policy()
"""Text stays natural for a model: values that prose is full of become others of their kind, dates move by a fixed
offset a person. Secrets, cards, accounts and ids become tokens: a realistic one teaches a model to recite such numbers.
"""
ANALYTICS = Policy("analytics", actions=_OFF_BY_DEFAULT)
"""Typed tokens everywhere: join keys that a second run leaves alone."""
CLINICAL_SAFE_HARBOR = Policy(
    "clinical-safe-harbor", actions=_SAFE_HARBOR, other_types=Action.MASK, clinical=True, documentation_ranges=True
)
"""45 CFR 164.514(b)(2): years at most, 90+, three-digit ZIP codes, and masks for the rest: no keyed code, since one is
derived from the person. Organisations and places go too, as employers and as parts of a state.
"""
SECRETS_ONLY = Policy("secrets-only", actions=(("SECRET", Action.TOKEN),), other_types=Action.KEEP)
"""Credentials go, everything else stays: for text without persons, such as code."""

PRESETS: Mapping[str, Policy] = {p.name: p for p in (TRAINING, ANALYTICS, CLINICAL_SAFE_HARBOR, SECRETS_ONLY)}

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_SWITCHES = ("documentation_ranges", "month_first", "clinical")
_TABLES = ("actions", "second_look")
_KEYS = ("name", "preset", "scope", "other_types", "default_regions", "oldest_birth_year", *_TABLES, *_SWITCHES)


def find_policy(name_or_file: str) -> Policy:
    """Return a preset by its name or the policy of a TOML file; raises ``PolicyError``.

    The policy of a file is named ``name@`` and 12 hex digits of a digest of what it says.
    """
    if name_or_file in PRESETS:
        return PRESETS[name_or_file]
    path = Path(name_or_file)
    if path.suffix != ".toml" and not path.is_file():
        raise PolicyError(f"wanted {', '.join(PRESETS)} or a TOML file, found no such policy: {name_or_file}")
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{path}: wanted a readable file, found: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: wanted TOML, found: {error}") from None
    return declared_policy(declared, str(path))


def declared_policy(declared: Mapping[str, Any], where: str = "policy") -> Policy:
    """Return the policy that a mapping declares, starting from its ``preset``; raises ``PolicyError``."""
    unknown = sorted(set(declared) - set(_KEYS))
    if unknown:
        raise PolicyError(f"{where}: wanted keys out of {', '.join(_KEYS)}, found {', '.join(unknown)}")
    name = declared.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in PRESETS:
        raise PolicyError(f"{where}: wanted a name of a-z, 0-9 and hyphens that no preset has, found {name!r}")
    preset = _one_of(PRESETS, declared.get("preset", TRAINING.name), f"{where}: preset")
    start = PRESETS[preset]
    policy = replace(
        start,
        types=frozenset(TYPES),
        actions=_declared_actions(declared.get("actions", {}), start, where),
        other_types=Action(_one_of(Action, declared.get("other_types", start.other_types), f"{where}: other_types")),
        scope=Scope(_one_of(Scope, declared.get("scope", start.scope), f"{where}: scope")),
        default_regions=_regions(declared.get("default_regions", start.default_regions), where),
        oldest_birth_year=_checked(declared, start, "oldest_birth_year", int, where),
        second_look=_second_look(declared.get("second_look"), f"{where}: second_look"),
        **{switch: _checked(declared, start, switch, bool, where) for switch in _SWITCHES},
    )
    return replace(policy, name=f"{name}@{_digest(policy)}", types=frozenset(TYPES))


def _declared_actions(declared: Any, start: Policy, where: str) -> Actions:
    if not isinstance(declared, dict):
        raise PolicyError(f"{where}: wanted a table of actions, found {type(declared).__name__}")
    unknown = sorted(set(declared) - set(TYPES))
    if unknown:
        raise PolicyError(f"{where}: wanted actions for {', '.join(TYPES)}, found {', '.join(unknown)}")
    chosen = {kind: Action(_one_of(Action, action, f"{where}: {kind}")) for kind, action in declared.items()}
    return tuple(sorted({**dict(start.actions), **chosen}.items()))


def _second_look(declared: Any, where: str) -> SecondLook | None:
    if declared is None:
        return None
    known = ("model", "texts", "labels")
    if not isinstance(declared, dict) or not isinstance(declared.get("model"), str) or set(declared) - set(known):
        raise PolicyError(f"{where}: wanted a table with model (name or folder), texts and labels, found {declared!r}")
    labels = declared.get("labels", {})
    if not isinstance(labels, dict):
        raise PolicyError(f"{where}: wanted a table of labels, found {labels!r}")
    pairs = tuple(sorted((str(label), _one_of(TYPES, kind, f"{where}: {label}")) for label, kind in labels.items()))
    texts = LookAt(_one_of(LookAt, declared.get("texts", LookAt.DOUBTED), f"{where}: texts"))
    return SecondLook(declared["model"], texts, pairs)


def _one_of(choices: Any, found: Any, where: str) -> str:
    known = [str(choice) for choice in choices]
    if found not in known:
        raise PolicyError(f"{where}: wanted one of {', '.join(known)}, found {found!r}")
    return str(found)


def _regions(found: Any, where: str) -> tuple[str, ...]:
    if not isinstance(found, list | tuple) or not all(re.fullmatch("[A-Z]{2}", str(region)) for region in found):
        raise PolicyError(f"{where}: wanted default_regions as a list of ISO 3166 codes, found {found!r}")
    return tuple(found)


def _checked(declared: Mapping[str, Any], start: Policy, key: str, kind: type, where: str) -> Any:
    found = declared.get(key, getattr(start, key))
    if type(found) is not kind:
        raise PolicyError(f"{where}: wanted {key} as {kind.__name__}, found {found!r}")
    return found


def _digest(policy: Policy) -> str:
    said = [(f.name, getattr(policy, f.name)) for f in fields(policy) if f.name not in ("name", "types")]
    said = [(name, value) for name, value in said if value is not None]
    return hashlib.sha256(repr([(name, str(value)) for name, value in said]).encode()).hexdigest()[:12]
