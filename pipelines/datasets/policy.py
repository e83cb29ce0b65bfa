"""What a dataset version takes in: every rule, bound and cap of a cut as one declared object."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, get_args

import orjson
import pyarrow as pa

from pipelines.datasets.rules import BARRING_FLAGS, CUT_FINISHES
from pipelines.duplicates.semantic import THRESHOLD as SEMANTIC_THRESHOLD
from schemas import CONVERSATIONS, TURN_SIGNALS
from schemas.training_examples import EVIDENCE

Kind = Literal["sft", "conversation", "preference", "unpaired"]
Place = Literal["answer", "prompt", "conversation"]
ContaminationAction = Literal["drop", "flag"]

RULES_VERSION = 3
"""Goes up when the meaning of a rule or of normalisation changes: the same policy then cuts another version."""


LIKELY = 0.5
"""Score of the filter from which a refusal, an injection and the like are likely."""


PAIR_EVIDENCE = tuple(one for one in EVIDENCE if one != "thumb")
LIMITS = ("above", "at_least", "below", "any_of")
NO_MEASURES = ("keep", "rule_version", "text_sketch")


class PolicyError(ValueError):
    """A policy that cannot be used. The message says what was wanted and found."""

    safe_to_show = True


@dataclass(frozen=True)
class Bound:
    """What one signal may not be. A missing signal breaks no bound; true counts as 1.

    Broken above ``above``, from ``at_least`` on, below ``below``, or, for a signal of words, by one of ``any_of``.
    ``place`` says whose signal: the answer's own, the worst of the turns before it, or that of the conversation.
    """

    place: Place
    signal: str
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    any_of: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        said = [name for name in LIMITS if getattr(self, name) is not None]
        if len(said) != 1:
            raise PolicyError(f"{self.name}: wanted one of {', '.join(LIMITS)}, found {' and '.join(said) or 'none'}")
        known = known_words(self.place) if self.any_of is not None else known_signals(self.place)
        if self.signal not in known:
            kind = "words" if self.any_of is not None else "numbers"
            raise PolicyError(f"{self.name}: wanted a signal of {kind} out of {', '.join(known) or 'none'}")

    @property
    def name(self) -> str:
        """Place and signal, as the drop's rule has them."""
        return f"{self.place}.{self.signal}"

    @property
    def limit(self) -> tuple[str, float]:
        """Which limit it is, and its number; for words whether one of them is there, as 1."""
        if self.any_of is not None:
            return "at_least", 1.0
        return next((name, float(getattr(self, name))) for name in LIMITS if getattr(self, name) is not None)


def known_signals(place: Place) -> tuple[str, ...]:
    """Return the numbers and truths that a bound may use: of ``turn_signals``, or of a conversation's structs."""
    return tuple(name for name, kind in _columns(place) if _is_measure(kind) and name not in NO_MEASURES)


def known_words(place: Place) -> tuple[str, ...]:
    """Return the names of signals that are one of a few words, as a language."""
    if place == "conversation":
        return ()
    listed = {c.name for c in TURN_SIGNALS.columns if any(check.kind == "one_of" for check in c.checks)}
    return tuple(name for name, _ in _columns(place) if name in {"lang", *listed})


def _columns(place: Place) -> list[tuple[str, pa.DataType]]:
    if place != "conversation":
        return [(c.name, c.type) for c in TURN_SIGNALS.columns]
    structs = [c for c in CONVERSATIONS.columns if pa.types.is_struct(c.type)]
    return [(f"{c.name}.{inner.name}", inner.type) for c in structs for inner in c.type]


def _is_measure(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)


@dataclass(frozen=True)
class NearDuplicates:
    """How alike two exchanges may be. An exchange is the last message of the user and the answer.

    ``semantic_threshold`` None compares words alone.
    """

    threshold: float = 0.8
    """Similarity from which two are one: that of Lee et al. (arXiv 2107.06499)."""
    semantic_threshold: float | None = SEMANTIC_THRESHOLD
    """Cosine from which question and answer both say the same in other words; looked at where they have vectors."""
    semantic_languages: tuple[str, ...] = ("en",)
    """Languages of conversations that are looked at so; none for all. An encoder lays close together what is in a
    language that it did not learn: by the default one, of ten public exchanges from 0.95 on, the four in English were
    alike and none of the six in Russian, Chinese and Japanese."""
    max_per_cluster: int = 1
    """Examples that stay of those that are like one of them; the earliest are first."""
    min_chars: int = 60
    """A shorter exchange ("Thanks!", "You are welcome.") means what the talk before makes it mean: only equal ones
    count, by the rule for exact duplicates."""

    def __post_init__(self) -> None:
        _within("near_duplicates.threshold", self.threshold, 0.5, 1)
        if self.semantic_threshold is not None:
            _within("near_duplicates.semantic_threshold", self.semantic_threshold, 0.5, 1)
        _within("near_duplicates.max_per_cluster", self.max_per_cluster, 1, None)
        _within("near_duplicates.min_chars", self.min_chars, 0, None)


@dataclass(frozen=True)
class Contamination:
    """What becomes of an example that holds an item of a benchmark; a mere likeness is told and never dropped."""

    action: ContaminationAction = "drop"
    model: str = ""
    """Embedding model, by name, that finds items told in other words, for review alone; empty for none."""

    def __post_init__(self) -> None:
        if self.action not in get_args(ContaminationAction):
            raise PolicyError(f"contamination.action: wanted drop or flag, found {self.action!r}")


@dataclass(frozen=True)
class Caps:
    """How many examples one origin may give, as absolute numbers; None for no cap.

    Some 250 poisoned documents suffice from 600M to 13B parameters, whatever the size of the set (Souly et al., arXiv
    2510.07192), so that a share protects from nothing.
    """

    user: int | None = 200
    """Below the 250 of the source above."""
    source: int | None = None
    tenant: int | None = None

    def __post_init__(self) -> None:
        for name in ("user", "source", "tenant"):
            if getattr(self, name) is not None:
                _within(f"caps.{name}", getattr(self, name), 1, None)


@dataclass(frozen=True)
class Topics:
    """Balance of topics: clusters of the vectors of the users' questions, none of which may fill the version."""

    max_share: float = 1.0
    """Share of the examples that one topic may have, counted before the cap; 1 looks for no topics."""
    count: int = 50
    """Clusters to look for; fewer where there are fewer than 20 questions for each."""
    sample: int = 20_000
    """Questions of a tenant that the clusters are found on; all are then assigned."""

    def __post_init__(self) -> None:
        _within("topics.max_share", self.max_share, 0.001, 1)
        _within("topics.count", self.count, 2, 1_000)
        _within("topics.sample", self.sample, 100, 1_000_000)

    @property
    def wanted(self) -> bool:
        """Whether topics are looked for at all."""
        return self.max_share < 1


@dataclass(frozen=True)
class GateLimits:
    """What a version may be like as a whole; the gate holds one that is not.

    Drift is how much of the shares of languages, log formats or lengths moved since the last version, from 0 to 1
    (total variation distance). The limits are wide: they stop a broken feed and a flood, not a busy week.
    """

    min_examples: int = 1
    min_label_share: float = 0.02
    """Share of the rarer label among unpaired examples: one class alone teaches nothing."""
    max_duplicate_share: float = 0.95
    """Share of compared rows that repeated another one and were dropped: above it the log is mostly one text."""
    max_unknown_language: float = 0.9
    """Share of examples without a certain language."""
    max_language_drift: float = 0.5
    max_source_drift: float = 0.75
    max_length_drift: float = 0.5
    drift_examples: int = 200
    """Drift is looked at only when both versions have as many: shares of fewer jump by chance."""
    rescan_examples: int = 1_000
    """Examples, the first by their hashed ids, whose stored turns all detectors read again; 0 for none. A patterned
    value outside of recorded redactions holds the version."""
    max_name_suspects: float = 0.15
    """Share of those turns where the tagger may find a name or address: beside surrogates it finds others than in the
    text that was logged (3.8 % of public texts, measured), so that none is too much to ask."""

    def __post_init__(self) -> None:
        for name in ("min_examples", "drift_examples", "rescan_examples"):
            _within(f"gate.{name}", getattr(self, name), 0, None)
        for name in (f.name for f in fields(self) if f.name.endswith(("_share", "_drift", "_language", "_suspects"))):
            _within(f"gate.{name}", getattr(self, name), 0, 1)


@dataclass(frozen=True)
class CurationPolicy:
    """Settings of one cut, written with their hash into the manifest. ``CurationPolicy()`` is ``sft-lenient``.

    Raises ``PolicyError`` for a value that makes no sense, and for a signal that no table has.
    """

    name: str = "sft-lenient"
    kind: Kind = "sft"
    validation_percent: int = 10
    """Split buckets, of 100, that go to validation."""
    barring_flags: tuple[str, ...] = BARRING_FLAGS
    cut_finishes: tuple[str, ...] = CUT_FINISHES
    bounds: tuple[Bound, ...] = (Bound("prompt", "injection_score", at_least=LIKELY),)
    near_duplicates: NearDuplicates = field(default_factory=NearDuplicates)
    contamination: Contamination = field(default_factory=Contamination)
    caps: Caps = field(default_factory=Caps)
    topics: Topics = field(default_factory=Topics)
    evidence: tuple[str, ...] = ("edit", "regeneration", "vote")
    """What a pair may rest on. Likes and dislikes of answers to near-equal prompts are weak: ``near_equal_prompts``."""
    gate: GateLimits = field(default_factory=GateLimits)
    licence: str = ""
    """What the examples may be used for, as the manifest and the exports tell it."""
    consent_note: str = ""
    """On what the consent of the users rests, for the manifest."""
    seed: int = 0
    """Which examples stay under a cap: those whose hash of seed and id is lowest, whatever their order of arrival."""
    rules_version: int = RULES_VERSION

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise PolicyError(f"kind: wanted one of {', '.join(get_args(Kind))}, found {self.kind!r}")
        _within("validation_percent", self.validation_percent, 0, 100)
        unknown = sorted(set(self.evidence) - set(PAIR_EVIDENCE))
        if unknown:
            raise PolicyError(f"evidence: wanted some of {', '.join(PAIR_EVIDENCE)}, found {', '.join(unknown)}")
        names = [bound.name for bound in self.bounds]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise PolicyError(f"bounds: wanted one a signal, found several for {', '.join(twice)}")
        # The first that is broken names the drop, so their order must not depend on how they were written.
        object.__setattr__(self, "bounds", tuple(sorted(self.bounds, key=lambda bound: bound.name)))

    @cached_property
    def hash(self) -> str:
        """SHA-256, hex, over all settings but the name: equal for policies that cut alike."""
        said = {key: value for key, value in asdict(self).items() if key != "name"}
        return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()

    @property
    def reads_embeddings(self) -> bool:
        """Whether a cut looks at the table of vectors, where there is one."""
        return self.topics.wanted or self.near_duplicates.semantic_threshold is not None

    def declared(self) -> dict[str, Any]:
        """Return all settings as plain values, for the manifest."""
        return asdict(self)

    def split(self, bucket: int) -> str:
        """Return the split of a bucket from 0 to 99."""
        return "validation" if bucket < self.validation_percent else "train"


def _within(name: str, found: float, least: float, most: float | None) -> None:
    if found < least or (most is not None and found > most):
        wanted = f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
        raise PolicyError(f"{name}: wanted {wanted}, found {found:g}")
