"""What the data is: one Table object a table, and the record contract of the Kafka topics."""

from schemas.batch_log import BATCH_LOG
from schemas.consent_withdrawals import CONSENT_WITHDRAWALS
from schemas.conversations import CONVERSATIONS
from schemas.dataset_versions import DATASET_VERSIONS
from schemas.dead_letters import DEAD_LETTERS
from schemas.drops import DROPS
from schemas.duplicate_signatures import DUPLICATE_SIGNATURES
from schemas.embedding_failures import EMBEDDING_FAILURES
from schemas.embeddings import EMBEDDINGS
from schemas.erasures import ERASURES
from schemas.feedback import FEEDBACK
from schemas.landing import LANDING
from schemas.model_versions import MODEL_VERSIONS
from schemas.table import Check, Column, Table
from schemas.training_examples import TRAINING_EXAMPLES
from schemas.training_runs import TRAINING_RUNS
from schemas.trigger_decisions import TRIGGER_DECISIONS
from schemas.turn_signals import TURN_SIGNALS
from schemas.turns import TURNS

TABLES: tuple[Table, ...] = (
    LANDING,
    TURNS,
    FEEDBACK,
    DEAD_LETTERS,
    TURN_SIGNALS,
    CONVERSATIONS,
    CONSENT_WITHDRAWALS,
    EMBEDDINGS,
    EMBEDDING_FAILURES,
    DUPLICATE_SIGNATURES,
    DROPS,
    TRAINING_EXAMPLES,
    DATASET_VERSIONS,
    TRIGGER_DECISIONS,
    TRAINING_RUNS,
    MODEL_VERSIONS,
    ERASURES,
    BATCH_LOG,
)

__all__ = [
    "BATCH_LOG",
    "CONSENT_WITHDRAWALS",
    "CONVERSATIONS",
    "DATASET_VERSIONS",
    "DEAD_LETTERS",
    "DROPS",
    "DUPLICATE_SIGNATURES",
    "EMBEDDINGS",
    "EMBEDDING_FAILURES",
    "ERASURES",
    "FEEDBACK",
    "LANDING",
    "MODEL_VERSIONS",
    "TABLES",
    "TRAINING_EXAMPLES",
    "TRAINING_RUNS",
    "TRIGGER_DECISIONS",
    "TURNS",
    "TURN_SIGNALS",
    "Check",
    "Column",
    "Table",
]
