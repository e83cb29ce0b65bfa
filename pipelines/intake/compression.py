"""gzip and zstd values, decompressed in small steps under a limit of bytes and of ratio."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import zstandard

from pipelines.intake.decode import Undecodable
from schemas.records import DeadReason

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

MAX_RATIO = 1_000
"""Bytes of output to one of input, once the output exceeds ``FREE_BYTES``. Chat logs compress 3 to 20 times, text that
repeats one phrase about 200 times; only runs of one byte come near deflate's own limit of 1,032."""

FREE_BYTES = 1024 * 1024
"""Output that no ratio is asked of: it costs nothing, and a few hundred equal log lines are an honest record."""

MAX_FRAMES = 10_000
"""gzip members or zstd frames of one value. Each sets up a decompressor, so that empty ones would cost seconds."""

STEP_BYTES = 512
"""Input a step: a zstd block of 4 bytes may stand for 128 KiB, so that a step gives 16 MiB at most."""

GZIP_STEP_BYTES = 16 * 1024
_GZIP_WINDOW = 31
"""zlib's name for gzip framing with the largest window."""


def decompress_gzip(value: bytes, limit: int) -> bytes:
    """Return the content of all gzip members (RFC 1952).

    Raises Undecodable: ``bad_compression`` when it is cut, damaged or followed by other bytes; ``decompression_bomb``
    beyond the ratio; ``too_large`` above ``limit`` bytes.
    """
    output = _Output(len(value), limit)
    position = 0
    try:
        for _ in range(MAX_FRAMES):
            position = _gzip_member(value, position, output)
            if position == len(value):
                return output.content()
            if not value.startswith(GZIP_MAGIC, position):
                raise _damaged("gzip", "other bytes follow")
    except zlib.error:
        raise _damaged("gzip", "it does not decompress") from None
    raise _damaged("gzip", f"it has more than {MAX_FRAMES} members")


def decompress_zstd(value: bytes, limit: int) -> bytes:
    """Return the content of all zstd frames (RFC 8878); raises as ``decompress_gzip``."""
    output = _Output(len(value), limit)
    position = 0
    try:
        for _ in range(MAX_FRAMES):
            position = _zstd_frame(value, position, output)
            if position == len(value):
                return output.content()
            if not value.startswith(ZSTD_MAGIC, position):
                raise _damaged("zstd", "other bytes follow")
    except zstandard.ZstdError:
        raise _damaged("zstd", "it does not decompress") from None
    raise _damaged("zstd", f"it has more than {MAX_FRAMES} frames")


class _Output:
    """What has come out so far, refused as soon as it is too much."""

    def __init__(self, compressed: int, limit: int) -> None:
        self.compressed, self.limit = compressed, limit
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, part: bytes) -> None:
        self.parts.append(part)
        self.size += len(part)
        if self.size > FREE_BYTES and self.size > MAX_RATIO * self.compressed:
            raise Undecodable(
                DeadReason.DECOMPRESSION_BOMB, f"{self.compressed} bytes grow more than {MAX_RATIO} times"
            )
        if self.size > self.limit:
            detail = f"{self.compressed} bytes grow to more than the {self.limit} that are read"
            raise Undecodable(DeadReason.TOO_LARGE, detail)

    def content(self) -> bytes:
        return b"".join(self.parts)


def _gzip_member(value: bytes, position: int, output: _Output) -> int:
    """Decompress the member at ``position`` and return where it ends."""
    member = zlib.decompressobj(_GZIP_WINDOW)
    while position < len(value) and not member.eof:
        step = value[position : position + GZIP_STEP_BYTES]
        position += len(step)
        while step:
            output.add(member.decompress(step, FREE_BYTES))
            step = member.unconsumed_tail
    if not member.eof:
        raise _damaged("gzip", "it is cut off")
    return position - len(member.unused_data)


def _zstd_frame(value: bytes, position: int, output: _Output) -> int:
    """Decompress the frame at ``position`` and return where it ends."""
    frame = zstandard.ZstdDecompressor().decompressobj()
    while position < len(value) and not frame.eof:
        step = value[position : position + STEP_BYTES]
        position += len(step)
        output.add(frame.decompress(step))
    if not frame.eof:
        raise _damaged("zstd", "it is cut off")
    return position - len(frame.unused_data)


def _damaged(form: str, why: str) -> Undecodable:
    return Undecodable(DeadReason.BAD_COMPRESSION, f"the value begins as {form}, but {why}")


Decompress = Callable[[bytes, int], bytes]
DECOMPRESSORS: tuple[tuple[bytes, Decompress], ...] = (
    (GZIP_MAGIC, decompress_gzip),
    (ZSTD_MAGIC, decompress_zstd),
)
