"""The pieces of streamed answers among the entries of one record, put together by the answer that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.intake.items import Entry
from pipelines.intake.stream_formats import STREAM_FORMATS, StreamFormat, stream_format_of


@dataclass(slots=True)
class PieceGroup:
    """The pieces of one answer: where they stand in the record, in logged order, and what joins them.

    ``key`` is that of the whole stream where a piece names it, else of the first piece that has one; None without any.
    ``is_whole`` says that nothing more comes.
    """

    stream_format: StreamFormat
    key: str | None = None
    indices: list[int] = field(default_factory=list)
    pieces: list[Entry] = field(default_factory=list)
    is_whole: bool = False
    is_named: bool = False

    def add(self, index: int, piece: Entry) -> None:
        """Add the piece that stands at ``index`` of the record."""
        self.indices.append(index)
        self.pieces.append(piece)


def group_pieces(entries: Sequence[Entry | None], *, is_closed: bool = False) -> list[PieceGroup]:
    """Return the answers whose pieces are among the decoded entries of one record, by their first piece.

    None stands for an entry that is no object. A piece that does not name its answer belongs to the answer that its key
    is known of, else to the last one of its format before it. A log entry that carries the whole of an answer is the
    last of its group. ``is_closed`` says that the record was server-sent events with their end mark. Entries that are
    in no group are log entries, or unknown. Never raises.
    """
    groups: list[PieceGroup] = []
    known: dict[tuple[str, str | None], PieceGroup] = {}
    current: dict[str, PieceGroup] = {}
    others: list[tuple[int, Entry]] = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            continue
        stream_format = stream_format_of(entry)
        if stream_format is None:
            others.append((index, entry))
            continue
        group = _group_of(entry, stream_format, known, current)
        if not group.pieces:
            groups.append(group)
        group.add(index, entry)
    for index, entry in others if groups else ():
        if (closed := _closed_by(entry, known, current)) is not None:
            closed.add(index, entry)
    for group in groups:
        ended = is_closed and group.stream_format.ENDS_WITH_DONE
        group.is_whole = ended or group.stream_format.is_whole(group.pieces)
    return groups


def _group_of(
    entry: Entry,
    stream_format: StreamFormat,
    known: dict[tuple[str, str | None], PieceGroup],
    current: dict[str, PieceGroup],
) -> PieceGroup:
    name = stream_format.NAME
    key, is_named = stream_format.key(entry), stream_format.names_stream(entry)
    group = known.get((name, key)) if key is not None or is_named else None
    if group is None:
        group = current.get(name)
        if group is None or (is_named and (group.is_named or stream_format.OPENS_WITH_NAME)):
            group = PieceGroup(stream_format)
    if is_named or group.key is None:
        group.key, group.is_named = key, is_named
    if key is not None or is_named:
        known[name, key] = group
    current[name] = group
    return group


def _closed_by(
    entry: Entry, known: dict[tuple[str, str | None], PieceGroup], current: dict[str, PieceGroup]
) -> PieceGroup | None:
    """Return the answer that a log entry is the whole of: by its keys, else the one whose pieces do not name theirs."""
    for stream_format in STREAM_FORMATS:
        if keys := stream_format.keys_closed_by(entry):
            for key in keys:
                if (stream_format.NAME, key) in known:
                    return known[stream_format.NAME, key]
            last = current.get(stream_format.NAME)
            return None if last is None or last.is_named else last
    return None
