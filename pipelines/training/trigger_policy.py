"""When training starts: one declared object, or a TOML file of the same names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any


class TriggerPolicyError(ValueError):
    """A policy that cannot be used. The message says what was wanted and found."""

    safe_to_show = True


@dataclass(frozen=True)
class Limits:
    """What holds a run back that a policy wants. ``runs_a_week`` None: no budget."""

    cooldown_minutes: float = 0.0
    """Least time from the start of one run to the next."""
    debounce_minutes: float = 0.0
    """Least age of the dataset version: while new ones keep coming, none is trained on."""
    runs_a_week: int | None = None


@dataclass(frozen=True)
class TriggerPolicy:
    """When a run is wanted: any of the policies that are set. None switches one off.

    ``drift``: 1 less the cosine of mean embeddings. ``feedback_drop``: fall of the share of good ratings, 0 to 1, over
    the last ``feedback_days``, on at least ``least_ratings``. Drift and feedback only open a run: what it makes is
    promoted on its own evidence.
    """

    name: str = "default"
    new_examples: int | None = 1_000
    drift: float | None = None
    feedback_drop: float | None = None
    feedback_days: float = 7.0
    least_ratings: int = 50
    every_hours: float | None = None
    on_events: bool = True
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        for owner, name, least in (
            (self, "new_examples", 1), (self, "drift", 0), (self, "feedback_drop", 0), (self, "feedback_days", 0),
            (self, "least_ratings", 1), (self, "every_hours", 0), (self.limits, "cooldown_minutes", 0),
            (self.limits, "debounce_minutes", 0), (self.limits, "runs_a_week", 1),
        ):  # fmt: skip
            found = getattr(owner, name)
            if found is not None and found < least:
                raise TriggerPolicyError(f"{name}: wanted {least} or more, found {found}")

    @property
    def numbers(self) -> dict[str, float]:
        """The thresholds that are set, by name, as ``trigger_decisions.inputs`` holds them beside what was found."""
        mine = {f"wanted_{f.name}": getattr(self, f.name) for f in fields(self)}
        limits = {f"limit_{f.name}": getattr(self.limits, f.name) for f in fields(self.limits)}
        return {k: float(v) for k, v in {**mine, **limits}.items() if isinstance(v, int | float)}


def read_policy(path: Path) -> TriggerPolicy:
    """Read a policy from a TOML file, its table ``trigger`` where it has one; raises ``TriggerPolicyError``."""
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TriggerPolicyError(f"{path}: wanted a readable TOML file, found {type(error).__name__}") from None
    return declared_policy(declared.get("trigger", declared), str(path))


def declared_policy(declared: Mapping[str, Any], where: str = "trigger policy") -> TriggerPolicy:
    """Return the policy that a mapping declares: only the policies that it names, default limits for the rest."""
    values = dict(declared)
    limits = values.pop("limits", {})
    if not isinstance(limits, Mapping):
        raise TriggerPolicyError(f"{where}: wanted limits as a table, found {type(limits).__name__}")
    values.setdefault("new_examples", None)
    mine = _checked(values, TriggerPolicy, where, leave_out=("limits",))
    return TriggerPolicy(**mine, limits=Limits(**_checked(limits, Limits, where)))


def _checked(values: Mapping[str, Any], kind: type, where: str, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the values when every key is known and every value of its type."""
    known = {f.name: f for f in fields(kind) if f.name not in leave_out}
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise TriggerPolicyError(f"{where}: wanted keys out of {', '.join(known)}, found {', '.join(unknown)}")
    for name, value in values.items():
        if value is not None and not _fits(value, str(known[name].type)):
            raise TriggerPolicyError(f"{where}: wanted {name} as {known[name].type}, found {type(value).__name__}")
    return dict(values)


def _fits(value: Any, wanted: str) -> bool:
    """Tell whether a TOML value is of an annotated type, for instance ``float | None``; a whole number is a float."""
    if isinstance(value, bool):
        return "bool" in wanted
    names = {"int": int, "float": (int, float), "str": str}
    return any(isinstance(value, types) for name, types in names.items() if name in wanted.split(" | "))  # type: ignore[arg-type]
