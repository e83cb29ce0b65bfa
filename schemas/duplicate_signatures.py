"""What is kept of accepted texts to find their duplicates later."""

import pyarrow as pa

from schemas.shared_columns import TENANT
from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, at_least, not_null

DUPLICATE_SIGNATURES = Table(
    name="duplicate_signatures",
    doc="One row per accepted subject: hashes of its text by which later texts that nearly repeat it are found.",
    key=("tenant", "subject_id"),
    columns=(
        TENANT,
        Column("subject_id", pa.string(), "turn_id, conversation_id or example_id of the text.", (not_null,), "t1"),
        Column(
            "at",
            UTC_MICROSECONDS,
            "When it was said, UTC; of two equal texts the earlier one stays.",
            (not_null,),
            EXAMPLE_TIME,
        ),
        Column("text_hash", pa.string(), "SHA-256 of the text, hex.", (not_null,), "0" * 64),
        Column(
            "sketch_version", pa.int32(), "Version of the hashes; those of two versions do not compare.", (not_null,), 1
        ),
        Column("band_rows", pa.int32(), "Places of the signature in one band.", (not_null, at_least(1)), 5),
        Column("exact", pa.int64(), "Hash of the text with runs of white space as one space.", (not_null,), 0),
        Column(
            "n_words",
            pa.int64(),
            "Words of the text, repeats counted; without spaces two characters are one.",
            (not_null, at_least(0)),
            0,
        ),
        Column("negations", pa.int64(), 'Words like "not" among them.', (not_null, at_least(0)), 0),
        Column(
            "band_keys",
            pa.list_(pa.int32()),
            "Hash of each band of the signature, and of all words in order.",
            (not_null,),
            [],
        ),
        Column("signature", pa.binary(), "Last byte of each place of the MinHash signature.", (not_null,), b""),
        Column(
            "words",
            pa.list_(pa.int32()),
            "Hashes of the distinct words, ascending as unsigned numbers.",
            (not_null,),
            [],
        ),
        Column(
            "pairs",
            pa.list_(pa.int32()),
            "Hashes of the distinct pairs of neighbouring words, likewise.",
            (not_null,),
            [],
        ),
        Column("marks", pa.list_(pa.int32()), "Hashes of numbers and signs, in order.", (not_null,), []),
        Column(
            "names", pa.list_(pa.int32()), "Hashes of words in upper case inside a sentence, in order.", (not_null,), []
        ),
        Column(
            "spelled",
            pa.list_(pa.int64()),
            "Which pairs of letters each word of a short text has, as bits.",
            (not_null,),
            [],
        ),
    ),
    statistics=("tenant", "subject_id", "at"),
    holds_text=False,
)
