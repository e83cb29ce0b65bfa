"""Cut a stream of JSON text into its log entries, as the bytes that they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK_BYTES = 1 << 20

_OUTSIDE = re.compile(rb'["{}\[\]]')
_IN_LIST = re.compile(rb'["{}\[\],]')
_IN_STRING = re.compile(rb'["\\]')
_SPACE = b" \t\r\n"


@dataclass(frozen=True)
class TooLong:
    """Stands for an entry above the limit of bytes: what it would have been is not kept."""

    size: int


class _Entry:
    """Bytes of the entry at hand, kept up to a limit and counted above it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
        self.parts: list[bytes] = []

    def add(self, part: bytes) -> None:
        self.size += len(part)
        if self.size <= self.limit:
            self.parts.append(part)
        else:
            self.parts.clear()

    def take(self) -> bytes | TooLong | None:
        """Give the entry without outer white space, None when nothing is left of it; begin a new one."""
        value, size = b"".join(self.parts).strip(_SPACE), self.size
        too_long = size > self.limit
        self.parts, self.size = [], 0
        return TooLong(size) if too_long else value or None


def lines_of(stream: BinaryIO, limit: int, *, blank: bool = False) -> Iterator[bytes | TooLong]:
    r"""Yield each line that holds more than white space, split on the byte ``\n`` alone and otherwise untouched.

    A line of more than ``limit`` bytes comes as ``TooLong``; memory stays within ``limit`` and a chunk. With ``blank``
    the others come too, so that a caller can count lines.
    """
    rest: list[bytes] = []
    size = 0
    while chunk := stream.read(CHUNK_BYTES):
        *ended, last = chunk.split(b"\n")
        for line in ended:
            if size:
                size += len(line)
                yield from _line(b"".join((*rest, line)) if size <= limit else TooLong(size), blank)
                rest, size = [], 0
            else:
                yield from _line(line if len(line) <= limit else TooLong(len(line)), blank)
        size += len(last)
        if size > limit:
            rest.clear()
        elif last:
            rest.append(last)
    if size:
        yield from _line(b"".join(rest) if size <= limit else TooLong(size), blank)


def _line(line: bytes | TooLong, blank: bool) -> Iterator[bytes | TooLong]:
    if blank or isinstance(line, TooLong) or line.strip(_SPACE):
        yield line


def values_of(stream: BinaryIO, limit: int) -> Iterator[bytes | TooLong]:
    """Yield the top-level values of a JSON text, one after the other; of an array at the top, its elements.

    Only brackets, commas and strings are looked at, and the bytes of a value are given as they are, so that a value
    that is no JSON still comes out and can be dead-lettered; a text that breaks off gives its last piece as it is.
    A value of more than ``limit`` bytes comes as ``TooLong``.
    """
    scanner = _Scanner(limit)
    while chunk := stream.read(CHUNK_BYTES):
        yield from scanner.feed(chunk)
    yield from scanner.end()


class _Scanner:
    def __init__(self, limit: int) -> None:
        self.entry = _Entry(limit)
        self.depth = 0
        self.in_list = False
        self.in_string = False
        self.skip_next = False

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLong]:
        start = position = 0
        if self.skip_next:
            position, self.skip_next = 1, False
        while found := self._pattern().search(chunk, position):
            position = found.end()
            mark = found[0]
            if self.in_string:
                self._string_mark(mark)
                if self.skip_next and position < len(chunk):
                    position, self.skip_next = position + 1, False
                continue
            if mark == b'"':
                self.in_string = True
                continue
            # What is cut off is the mark itself at the edge of a list, and nothing at the edge of a value.
            cut = self._structure_mark(mark, chunk[start : found.start()])
            if cut is None:
                continue
            self.entry.add(chunk[start : position if cut else found.start()])
            start = position
            if (value := self.entry.take()) is not None:
                yield value
        rest = chunk[start:]
        self.entry.add(rest if self.entry.size else rest.lstrip(_SPACE))

    def end(self) -> Iterator[bytes | TooLong]:
        if (value := self.entry.take()) is not None:
            yield value

    def _pattern(self) -> re.Pattern[bytes]:
        if self.in_string:
            return _IN_STRING
        return _IN_LIST if self.in_list and self.depth == 1 else _OUTSIDE

    def _string_mark(self, mark: bytes) -> None:
        if mark == b'"':
            self.in_string = False
        else:
            self.skip_next = True

    def _structure_mark(self, mark: bytes, before: bytes) -> bool | None:
        """Follow the nesting; tell whether an entry ends with the mark (True), before it (False), or not (None)."""
        if mark in b"{[":
            opens_list = mark == b"[" and self.depth == 0 and not self.in_list
            opens_list = opens_list and not before.strip(_SPACE) and not self.entry.size
            self.in_list = self.in_list or opens_list
            self.depth += 1
            return False if opens_list else None
        if mark == b",":
            return False
        if mark == b"}" and self.in_list and self.depth == 1:
            return None
        self.depth = max(self.depth - 1, 0)
        if self.in_list and self.depth == 0:
            self.in_list = False
            return False
        return True if self.depth == 0 else None
