"""Examples of dataset versions."""

import pyarrow as pa

from schemas.shared_columns import MESSAGES, TENANT
from schemas.table import Column, Table, at_least, at_most, not_null, one_of

KINDS = ("sft", "conversation", "preference", "unpaired")
EVIDENCE = ("edit", "regeneration", "vote", "near_equal_prompts", "thumb")
"""What a judged example rests on, most trusted first; the trust level is the place in this list, from 1."""

TRAINING_EXAMPLES = Table(
    name="training_examples",
    doc="One row per example of a dataset version.",
    key=("dataset_version", "example_id"),
    columns=(
        Column("dataset_version", pa.string(), "Immutable dataset version.", (not_null,), "ds-1"),
        Column("example_id", pa.string(), "Hash of kind, tenant and subject.", (not_null,), "e1"),
        TENANT,
        Column(
            "kind",
            pa.string(),
            "Use: sft (one answer), conversation (all its answers), preference (a pair), unpaired (one judged answer).",
            (not_null, one_of(*KINDS)),
            "sft",
        ),
        Column(
            "prompt", MESSAGES, "Messages before the target, oldest first, personal data replaced.", (not_null,), []
        ),
        Column("completion", MESSAGES, "The target; loss is taken on it alone. Null for a pair.", (), []),
        Column(
            "loss_mask",
            pa.list_(pa.bool_()),
            "For a conversation: which messages of the completion are targets. Null where all are.",
        ),
        Column("chosen", MESSAGES, "The preferred side of a pair, without the prompt."),
        Column("rejected", MESSAGES, "The other side, without the prompt."),
        Column("label", pa.bool_(), "Whether an unpaired answer was liked."),
        Column(
            "tools",
            pa.string(),
            "Functions that the target's request offered, a JSON list in OpenAI's form, anonymised; null without any.",
        ),
        Column(
            "turn_ids",
            pa.list_(pa.string()),
            "Turns of prompt, rejected side and target, in this order; the last is the target, for an edit its draft.",
            (not_null,),
            ["t1"],
        ),
        Column("conversation_id", pa.string(), "Conversation that it was cut from.", (not_null,), "c1"),
        Column("user_ref", pa.string(), "Keyed reference of the user, for caps, splits and erasure."),
        Column("language", pa.string(), "Language of the conversation.", (not_null,), "en"),
        Column("source", pa.string(), "Adapter that read the target.", (not_null,), "openai_chat"),
        Column("model", pa.string(), "Model that wrote the target, as logged; null where a person did."),
        Column("rejected_model", pa.string(), "Model that wrote the rejected side, as logged."),
        Column(
            "split",
            pa.string(),
            "Fixed by tenant and user (or conversation).",
            (not_null, one_of("train", "validation")),
            "train",
        ),
        Column(
            "trust",
            pa.int32(),
            "Trust level of the evidence, 1 is best; null where nobody judged.",
            (at_least(1), at_most(len(EVIDENCE))),
        ),
        Column("evidence", pa.string(), "What the judgement rests on.", (one_of(*EVIDENCE),)),
        Column("feedback_ids", pa.list_(pa.string()), "Feedback that it rests on, in order; empty without any."),
    ),
    statistics=("dataset_version", "example_id", "tenant", "kind", "split"),
)
