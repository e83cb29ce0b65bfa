"""Curation policies by name or from a TOML file that says what differs from a preset."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

from pipelines.datasets.policy import (
    LIKELY,
    LIMITS,
    Bound,
    Caps,
    CurationPolicy,
    NearDuplicates,
    Place,
    PolicyError,
    Topics,
)

SFT_LENIENT = CurationPolicy()
"""Whatever can be learned from: broken talks, repeats, floods and talks with injected instructions go, all else stays.
"""

SFT_STRICT = CurationPolicy(
    name="sft-strict",
    bounds=(
        *SFT_LENIENT.bounds,
        Bound("answer", "gibberish_share", at_least=LIKELY),
        Bound("answer", "refusal_score", at_least=LIKELY),
        Bound("answer", "prompt_quote_score", at_least=LIKELY),
        Bound("answer", "toxicity_score", at_least=LIKELY),
        Bound("answer", "is_unfinished", at_least=1),
        Bound("answer", "code_validity", any_of=("invalid",)),
        Bound("prompt", "jailbreak_score", at_least=LIKELY),
        Bound("conversation", "feedback.thumbs_down", above=0),
        Bound("conversation", "signals.assistant_repeats", above=0),
        Bound("conversation", "signals.unanswered_calls", above=0),
        Bound("conversation", "signals.orphan_results", above=0),
    ),
    near_duplicates=NearDuplicates(threshold=0.7),
    caps=Caps(user=50),
    topics=Topics(max_share=0.2),
)
"""Fewer and better answers. No refusal, no talk that its user disliked or that broke on the way, a wider meaning of
alike (near the 0.75 that FineWeb aims at, arXiv 2406.17557), balance of topics. No limits of repetition beside the
filter's: of 24 public chat answers beyond Gopher's (arXiv 2112.11446, table A1) 3 were loops, the others songs, lists,
code and questions. No bound on the language of answers: all of nine public ones in another than the user's had been
asked for ("in Italian, please")."""

CONVERSATIONS = CurationPolicy(name="conversations", kind="conversation")
"""The answers of ``sft-lenient``, those of one talk in one example: what is read once is cheaper to learn from."""

PREFERENCE = CurationPolicy(name="preference", kind="preference", caps=Caps(user=50))
"""Pairs of answers to one prompt. A refusal or a bad answer may be the rejected side, so no bound on its quality."""

UNPAIRED = CurationPolicy(name="unpaired", kind="unpaired", caps=Caps(user=50))
"""Answers with a thumb up or down; a bad answer may be a disliked one."""

PRESETS: Mapping[str, CurationPolicy] = {
    policy.name: policy for policy in (SFT_LENIENT, SFT_STRICT, CONVERSATIONS, PREFERENCE, UNPAIRED)
}

_PLACES: tuple[Place, ...] = get_args(Place)
_FIXED = ("rules_version", "bounds")
_EXTRA = ("preset", "signals")
_LIFTED_BY_FALSE = (*(cap.name for cap in fields(Caps)), "semantic_threshold")


def find_policy(name_or_file: str) -> CurationPolicy:
    """Return a preset by its name, or the policy of a TOML file; raises ``PolicyError``."""
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
    return declared_policy(declared, name=path.stem, where=str(path))


def declared_policy(declared: Mapping[str, Any], *, name: str, where: str = "policy") -> CurationPolicy:
    """Return the policy that a mapping declares, starting from its ``preset`` (``sft-lenient``).

    A table ``signals.answer``, ``signals.prompt`` or ``signals.conversation`` has one key a signal: a table with
    ``above``, ``at_least``, ``below`` or ``any_of``; ``true`` for a signal that must not be true; ``false`` to lift a
    bound of the preset. A cap and ``semantic_threshold`` are lifted by ``false`` too.
    Raises ``PolicyError``, with the known keys where one is unknown.
    """
    preset = declared.get("preset", SFT_LENIENT.name)
    if preset not in PRESETS:
        raise PolicyError(f"{where}: wanted preset as one of {', '.join(PRESETS)}, found {preset!r}")
    start = PRESETS[preset]
    own = {key: value for key, value in declared.items() if key not in _EXTRA}
    try:
        policy = _overlaid(replace(start, name=name), own, "", (*_FIXED,), _EXTRA)
        return replace(policy, bounds=_bounds(start, declared.get("signals", {})))
    except PolicyError as error:
        raise PolicyError(f"{where}: {error}") from None


def _overlaid(
    start: Any, declared: Any, within: str, fixed: tuple[str, ...] = (), also_known: tuple[str, ...] = ()
) -> Any:
    """Return the dataclass ``start`` with what ``declared`` says otherwise, tables inside it likewise."""
    if not isinstance(declared, Mapping):
        raise PolicyError(f"{within.rstrip('.')}: wanted a table, found {_kind(declared)}")
    known = [f.name for f in fields(start) if f.name not in fixed]
    unknown = sorted(set(declared) - set(known))
    if unknown:
        told = ", ".join(f"{within}{key}" for key in unknown)
        raise PolicyError(f"wanted keys out of {', '.join((*known, *also_known))}, found {told}")
    changed: dict[str, Any] = {}
    for key, value in declared.items():
        old = getattr(start, key)
        if value is False and key in _LIFTED_BY_FALSE:
            changed[key] = None
        elif is_dataclass(old):
            changed[key] = _overlaid(old, value, f"{within}{key}.")
        else:
            changed[key] = _of_kind(old, value, f"{within}{key}")
    return replace(start, **changed)


def _of_kind(old: Any, found: Any, where: str) -> Any:
    """Return ``found`` as a value of the kind of ``old``."""
    if isinstance(old, tuple):
        if isinstance(found, list) and all(isinstance(item, str) for item in found):
            return tuple(found)
        raise PolicyError(f"{where}: wanted a list of texts, found {_kind(found)}")
    if isinstance(old, str):
        wanted: type = str
    else:
        wanted = float if isinstance(old, float) else int
    if wanted is float and type(found) is int:
        return float(found)
    if type(found) is not wanted:
        told = {str: "a text", int: "a whole number", float: "a number"}[wanted]
        raise PolicyError(f"{where}: wanted {told}, found {_kind(found)}")
    return found


def _bounds(start: CurationPolicy, declared: Any) -> tuple[Bound, ...]:
    if not isinstance(declared, Mapping) or set(declared) - set(_PLACES):
        raise PolicyError(f"signals: wanted tables out of {', '.join(_PLACES)}, found others")
    bounds = {bound.name: bound for bound in start.bounds}
    for place in _PLACES:
        for signal, said in _flat(declared.get(place, {}), f"signals.{place}"):
            if said is False:
                bounds.pop(f"{place}.{signal}", None)
            else:
                bounds[f"{place}.{signal}"] = _bound(place, signal, said)
    return tuple(bounds.values())


def _flat(declared: Any, where: str) -> list[tuple[str, Any]]:
    """Return signals and what is said of them; ``feedback.edits`` in TOML is a table inside a table."""
    if not isinstance(declared, Mapping):
        raise PolicyError(f"{where}: wanted a table, found {_kind(declared)}")
    pairs = []
    for key, value in declared.items():
        if isinstance(value, Mapping) and value and not set(value) & set(LIMITS):
            pairs += [(f"{key}.{inner}", said) for inner, said in value.items()]
        else:
            pairs.append((key, value))
    return pairs


def _bound(place: Place, signal: str, said: Any) -> Bound:
    if said is True:
        return Bound(place, signal, at_least=1.0)
    if not isinstance(said, Mapping) or not all(_is_limit(name, value) for name, value in said.items()):
        raise PolicyError(
            f"signals.{place}.{signal}: wanted true, false, above, at_least or below with a number, "
            "or any_of with a list of words"
        )
    limits: dict[str, Any] = {k: tuple(v) if k == "any_of" else float(v) for k, v in said.items()}
    return Bound(place, signal, **limits)


def _is_limit(name: str, value: Any) -> bool:
    if name == "any_of":
        return isinstance(value, list) and all(isinstance(word, str) for word in value)
    return name in LIMITS and type(value) in (int, float)


def _kind(found: Any) -> str:
    kinds = {str: "a text", bool: "a truth value", int: "a whole number", float: "a number", list: "a list"}
    return kinds.get(type(found), "a table" if isinstance(found, Mapping) else "something else")
