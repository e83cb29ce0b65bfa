"""Examples of dataset versions."""

import pyarrow as pa

from schemas.shared_columns import MESSAGES, TENANT
from schemas.table import Column, Table, not_null, one_of

TRAINING_EXAMPLES = Table(
    name="training_examples",
    doc="One row per example of a dataset version.",
    key=("dataset_version", "example_id"),
    columns=(
        Column("dataset_version", pa.string(), "Immutable dataset version.", (not_null,), "ds-1"),
        Column("example_id", pa.string(), "Hash of kind, tenant and target turn.", (not_null,), "e1"),
        TENANT,
        Column("kind", pa.string(), "Use of the example.", (not_null, one_of("sft", "preference", "unpaired")), "sft"),
        Column(
            "prompt", MESSAGES, "Messages before the target, oldest first, personal data replaced.", (not_null,), []
        ),
        Column("completion", MESSAGES, "The target; loss is taken on it alone.", (not_null,), []),
        Column("turn_ids", pa.list_(pa.string()), "Turns of prompt and completion, in order.", (not_null,), ["t1"]),
        Column("conversation_id", pa.string(), "Conversation that it was cut from.", (not_null,), "c1"),
        Column("user_ref", pa.string(), "Keyed reference of the user, for caps, splits and erasure."),
        Column("language", pa.string(), "Language of the conversation.", (not_null,), "en"),
        Column("source", pa.string(), "Adapter that read the target.", (not_null,), "openai_chat"),
        Column("model", pa.string(), "Model that wrote the target, as logged."),
        Column(
            "split",
            pa.string(),
            "Fixed by tenant and user (or conversation).",
            (not_null, one_of("train", "validation")),
            "train",
        ),
        Column("trust", pa.int32(), "Trust level of the evidence, 1 is best; null for SFT."),
    ),
    statistics=("dataset_version", "example_id", "tenant", "kind", "split"),
)
