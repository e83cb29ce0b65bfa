"""What was measured about a candidate, as numbers by name: all that the rule of promotion looks at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.promotion.paired_bootstrap import Interval


@dataclass(frozen=True)
class CanaryFigures:
    """Canaries planted once: how many, how many came out word for word, and their mean exposure in bits."""

    planted: int = 0
    extracted: int = 0
    exposure_bits: float = 0.0
    repeated_planted: int = 0
    repeated_extracted: int = 0
    """Those planted more than once: measured, not judged."""


@dataclass(frozen=True)
class Evidence:
    """Differences are candidate less reference, on the same rows. Objectives are lower when better.

    ``objective_base`` and ``objective_champion``: of the held-out cut: nats a completion token for supervised rows,
    chosen less rejected for preferences, signed by the label for unpaired rows. ``prompt_gain``: nats a token that the
    candidate loses when each answer is given another row's prompt; ``prompt_gain_base``: that, less the base's.
    ``regression``: relative rise of the loss on the fixed set. ``tasks``: by check, differences of scores from 0 to 1.
    """

    objective_base: Interval
    objective_champion: Interval | None = None
    prompt_gain: Interval | None = None
    prompt_gain_base: Interval | None = None
    regression: Interval | None = None
    tasks: Mapping[str, Interval] = field(default_factory=dict)
    judged: Interval | None = None
    """Wins less losses against the reference, as a judge model sees them, from -1 to 1."""
    canaries: CanaryFigures = CanaryFigures()
    levels: Mapping[str, float] = field(default_factory=dict)
    """Single figures: losses and scores of each model."""

    @property
    def numbers(self) -> dict[str, float]:
        """All figures by name, as ``model_versions.evaluation`` holds them; an interval is three, finite ones only."""
        single = {name: found for name, found in vars(self).items() if isinstance(found, Interval)}
        single |= {f"task_{name}": found for name, found in self.tasks.items()}
        told = dict(self.levels)
        for name, found in single.items():
            told |= {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high, f"{name}_n": found.n}
        told |= {f"canaries_{name}": float(value) for name, value in vars(self.canaries).items()}
        return {name: float(value) for name, value in told.items() if math.isfinite(value)}
