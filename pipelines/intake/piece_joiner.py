"""Pieces of streamed answers in the order of one file, joined in memory: what the batch does for Kafka records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pipelines.intake.decode import load_json
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Entry, Fragment, Item
from pipelines.intake.parse import CLOSED, parse_joined
from pipelines.intake.stream_formats import StreamFormat, stream_format_of


@dataclass(slots=True)
class _Answer:
    """An answer so far: where its first piece stood, and all its pieces."""

    place: int
    stream_format: StreamFormat
    pieces: list[Entry] = field(default_factory=list)


class PieceJoiner:
    """Holds pieces until their answer is whole; memory follows the answers that are under way."""

    def __init__(self, headers: Mapping[str, bytes], identity: IdentityKey) -> None:
        self.headers, self.identity = headers, identity
        self._answers: dict[str, _Answer] = {}

    def add(self, fragment: Fragment, place: int) -> list[Item]:
        """Take a piece that stood at ``place``; return the items of its answer where it was the last one."""
        piece = load_json(fragment.payload or b"null")[0]
        if piece == CLOSED:
            self._answers.pop(fragment.key, None)
            return []
        stream_format = stream_format_of(piece)
        if stream_format is None:
            return []
        answer = self._answers.setdefault(fragment.key, _Answer(place, stream_format))
        answer.pieces.append(piece)
        # First and last piece tell that an answer may be whole; asking all pieces each time would cost their square.
        if not stream_format.is_whole([answer.pieces[0], piece]) or not stream_format.is_whole(answer.pieces):
            return []
        return self._joined(self._answers.pop(fragment.key))

    def rest(self) -> Iterator[tuple[int, list[Item]]]:
        """Yield place and items of the answers that have no end; their turns are flagged ``stream_incomplete``."""
        for answer in self._answers.values():
            yield answer.place, self._joined(answer)
        self._answers.clear()

    def _joined(self, answer: _Answer) -> list[Item]:
        return parse_joined(answer.stream_format, answer.pieces, self.headers, self.identity, entry=0)
