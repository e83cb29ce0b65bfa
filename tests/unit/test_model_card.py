"""A card says what the model was made from and how it was judged, and says it in equal bytes."""

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from pipelines.promotion.model_card import CardFacts, licence_of, model_card
from pipelines.training.run_spec import RunSpec

SPEC = RunSpec("run-1", "ds-1", "/d", "/b", "base@12", dataset_hash="ab" * 32)
MANIFEST = {
    "tenant": "acme",
    "split_counts": {"train": 1200, "validation": 90},
    "drop_counts": {"exact_duplicate": 7},
    "gate": {"verdict": "passed"},
    "key_epochs": [1],
    "policy": {"name": "sft-strict"},
}
FACTS = CardFacts(
    "model-1",
    {**dataclasses.asdict(SPEC), "digest": SPEC.digest},
    MANIFEST,
    "promote",
    {"loss": 1.25, "loss_base": 2.5, "canaries_planted": 4.0, "canaries_extracted": 0.0},
    ({"verdict": "promote", "sentence": "Held-out loss against the base: kept."},),
    base_licence="apache-2.0",
)


def test_a_card_tells_data_policy_figures_verdict_licence_and_lineage():
    card = model_card(FACTS)
    for words in (
        "license: apache-2.0", "ds-1", "ab" * 32, "sft-strict", "train 1,200", "exact_duplicate 7", "run-1",
        SPEC.digest,
        "| held-out loss | 1.25 | 2.5 |", "4 secrets planted once, 0 came out", "## Verdict: promote",
        "Held-out loss against the base: kept.",
    ):  # fmt: skip
        assert words in card
    assert card == model_card(FACTS)


def test_what_is_not_known_is_said_to_be_not_known():
    card = model_card(CardFacts("model-1", FACTS.spec, {}, "hold", {}))
    assert "Nothing was measured." in card
    assert "no trial was held" in card
    assert "Base: not stated." in card


@given(st.text(max_size=40))
def test_no_value_breaks_out_of_its_line(text):
    card = model_card(dataclasses.replace(FACTS, manifest={**MANIFEST, "tenant": text}))
    assert len(card.split("\n")) == len(model_card(FACTS).split("\n"))


def test_a_licence_is_read_from_configuration_or_card():
    assert licence_of({"license": "mit"}) == "mit"
    assert licence_of({}, "---\nlanguage: en\nlicense: apache-2.0\n---\n# Card\n") == "apache-2.0"
    assert licence_of({}, "# Card\nlicense: none of that\n") is None
