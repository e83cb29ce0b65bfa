"""Arrow columns as searchable bytes: the leaves of nested columns, their values joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
_WHOLE_NUMBERS = (pa.types.is_int64, pa.types.is_uint64)


def leaves(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield (name, array) for each leaf of a column that can hold a value: text, bytes, 64-bit whole numbers.

    The name of a nested leaf is its path, for instance ``tool_calls.arguments``; dictionaries yield their entries.
    """
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        yield from leaves(name, column.storage)
    elif pa.types.is_dictionary(kind):
        yield from leaves(name, column.dictionary)
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from leaves(f"{name}.{kind.field(place).name}", column.field(place))
    elif pa.types.is_map(kind):
        yield from leaves(f"{name}.key", column.keys)
        yield from leaves(f"{name}.value", column.items)
    elif any(test(kind) for test in _LISTS):
        yield from leaves(name, column.flatten())
    elif any(test(kind) for test in (*_TEXTS, *_BYTES, *_WHOLE_NUMBERS)):
        yield name, column


def joined(leaf: pa.Array) -> bytes:
    """Return the values of a leaf as bytes with two NUL between them, so that no match can span two rows."""
    if any(test(leaf.type) for test in _WHOLE_NUMBERS):
        leaf = pc.cast(leaf, pa.string())
    values = pc.drop_null(_as_binary(leaf))
    whole = pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)
    return pc.binary_join(whole, pa.scalar(b"\x00\x00", pa.large_binary()))[0].as_py() or b""


def values_that_start_with(leaf: pa.Array, magics: Sequence[bytes]) -> list[bytes]:
    """Return the values of a binary leaf that start as one of ``magics``; none of other leaves."""
    if not any(test(leaf.type) for test in _BYTES):
        return []
    values = pc.drop_null(_as_binary(leaf))
    return [one for magic in magics for one in values.filter(pc.starts_with(values, pattern=magic)).to_pylist()]


def _as_binary(leaf: pa.Array) -> pa.Array:
    plain = pc.cast(leaf, pa.binary()) if pa.types.is_fixed_size_binary(leaf.type) else leaf
    return pc.cast(plain, pa.large_binary())
