"""Filters of a search: ``lang='de' and created > '2026-01-01'`` parsed into typed tests, never pasted into a query.

    filter := either ('or' either)*          either := test ('and' test)*
    test   := 'not' test | '(' filter ')' | column op value | column ['not'] 'in' '(' value (',' value)* ')'
    op     := = == != <> < <= > >=           value  := 'text', a quote inside doubled

Times are texts in ISO 8601, UTC where they name no zone. Columns are those of ``FILTER_COLUMNS``; only times can be
compared by order. A test of a value that is not there is false, also under ``not``, as in SQL.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

TEXT_COLUMNS = ("role", "lang", "conversation_ref", "turn_id", "text_hash")
TIME_COLUMNS = ("created_at", "landed_at")
FILTER_COLUMNS = {name: name for name in (*TEXT_COLUMNS, *TIME_COLUMNS)} | {
    "created": "created_at", "landed": "landed_at", "conversation": "conversation_ref",
}  # fmt: skip
"""The name that a filter uses, and the column of the index."""

Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
OPPOSITE: dict[Comparison, Comparison] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MAX_LENGTH, MAX_DEPTH = 20_000, 50


class FilterError(ValueError):
    """The filter is not one; says where, and what would fit there. Quotes nothing of it but columns."""

    safe_to_show = True
    exit_code = 2


@dataclass(frozen=True)
class Compare:
    """A column against one value."""

    column: str
    op: Comparison
    value: str | dt.datetime


@dataclass(frozen=True)
class OneOf:
    """A column that holds one of the values, or with ``negated`` a value that is none of them."""

    column: str
    values: tuple[str | dt.datetime, ...]
    negated: bool = False


@dataclass(frozen=True)
class All:
    """Every part holds; of no parts, always."""

    parts: tuple[Predicate, ...] = ()


@dataclass(frozen=True)
class Any_:
    """At least one part holds."""

    parts: tuple[Predicate, ...]


Predicate = Compare | OneOf | All | Any_
EVERYTHING = All()


def equals(**columns: str | None) -> All:
    """Return the predicate that each column has its value; None asks nothing of a column."""
    return All(tuple(Compare(name, "=", value) for name, value in columns.items() if value is not None))


def negated(predicate: Predicate) -> Predicate:
    """Return the predicate that holds where ``predicate`` is known not to."""
    match predicate:
        case Compare(column, op, value):
            return Compare(column, OPPOSITE[op], value)
        case OneOf(column, values, is_negated):
            return OneOf(column, values, not is_negated)
        case All(parts):
            return Any_(tuple(map(negated, parts)))
        case Any_(parts):
            return All(tuple(map(negated, parts)))


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def compared(op: Comparison, left: Any, right: Any) -> Any:
    """Apply the operator, to values or to the expressions of an engine."""
    return _COMPARE[op](left, right)


def arrow_expression(predicate: Predicate) -> pc.Expression:
    """Return the predicate as an expression over Arrow columns."""
    match predicate:
        case Compare(column, op, value):
            return compared(op, pc.field(column), _scalar(value))
        case OneOf(column, values, is_negated):
            found = pc.field(column).isin(pa.array([_scalar(value) for value in values]))
            return ~found & pc.field(column).is_valid() if is_negated else found
        case All(parts):
            expression = pc.scalar(True)
            for part in parts:
                expression = expression & arrow_expression(part)
            return expression
        case Any_(parts):
            expression = pc.scalar(False)
            for part in parts:
                expression = expression | arrow_expression(part)
            return expression


def _scalar(value: str | dt.datetime) -> pa.Scalar:
    return pa.scalar(value, pa.string() if isinstance(value, str) else pa.timestamp("us", tz="UTC"))


def parse_filter(text: str) -> Predicate:
    """Parse a filter; an empty one lets everything through. Raises ``FilterError``."""
    if len(text) > MAX_LENGTH:
        raise FilterError(f"wanted a filter of at most {MAX_LENGTH} characters, found {len(text)}")
    parser = _Parser(_tokens(text))
    if parser.at_end:
        return EVERYTHING
    predicate = parser.either(0)
    if not parser.at_end:
        parser.wrong("'and', 'or' or the end")
    return predicate


@dataclass(frozen=True)
class _Token:
    kind: Literal["text", "word", "mark"]
    value: str
    place: int


_TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<word>[^\W\d]\w*)|(?P<mark>==|!=|<>|<=|>=|[=<>(),]))")


def _tokens(text: str) -> list[_Token]:
    tokens, place = [], 0
    end = len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place)
        if found is None:
            raise FilterError(
                f"filter, character {place + 1}: wanted a column, an operator or a value in single quotes"
                + (", found a quote that is never closed" if "'" in text[place:] else "")
            )
        kind = found.lastgroup
        value = found[kind or 0]
        shown = value[1:-1].replace("''", "'") if kind == "text" else value
        tokens.append(_Token(kind, shown, found.start(kind or 0)))  # type: ignore[arg-type]
        place = found.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.next = tokens, 0

    @property
    def at_end(self) -> bool:
        return self.next >= len(self.tokens)

    def wrong(self, wanted: str) -> NoReturn:
        where = "at the end" if self.at_end else f"character {self.tokens[self.next].place + 1}"
        raise FilterError(f"filter, {where}: wanted {wanted}")

    def took(self, *words: str) -> str | None:
        """Step over the next token where it is one of ``words`` or marks."""
        if self.at_end or self.tokens[self.next].kind == "text":
            return None
        value = self.tokens[self.next].value.lower()
        if value not in words:
            return None
        self.next += 1
        return value

    def must(self, mark: str) -> None:
        if self.took(mark) is None:
            self.wrong(repr(mark))

    def either(self, depth: int) -> Predicate:
        parts = [self.both(depth)]
        while self.took("or"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else Any_(tuple(parts))

    def both(self, depth: int) -> Predicate:
        parts = [self.test(depth)]
        while self.took("and"):
            parts.append(self.test(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def test(self, depth: int) -> Predicate:
        if depth > MAX_DEPTH:
            self.wrong(f"at most {MAX_DEPTH} nested tests")
        if self.took("not"):
            return negated(self.test(depth + 1))
        if self.took("("):
            inner = self.either(depth + 1)
            self.must(")")
            return inner
        return self.comparison()

    def comparison(self) -> Predicate:
        column = self.column()
        is_negated = self.took("not") is not None
        if self.took("in"):
            self.must("(")
            values = [self.value(column)]
            while self.took(","):
                values.append(self.value(column))
            self.must(")")
            return OneOf(column, tuple(values), is_negated)
        if is_negated:
            self.wrong("'in'")
        op = self.took("=", "==", "!=", "<>", "<", "<=", ">", ">=")
        if op is None:
            self.wrong("an operator (= != < <= > >= in)")
        plain: Any = {"==": "=", "<>": "!="}.get(op, op)
        if column in TEXT_COLUMNS and plain not in ("=", "!="):
            raise FilterError(f"filter: {column} is a text; compare it with =, != or in")
        return Compare(column, plain, self.value(column))

    def column(self) -> str:
        if self.at_end or self.tokens[self.next].kind != "word":
            self.wrong(f"a column: {', '.join(FILTER_COLUMNS)}")
        column = FILTER_COLUMNS.get(self.tokens[self.next].value.lower())
        if column is None:
            self.wrong(f"a column: {', '.join(FILTER_COLUMNS)}")
        self.next += 1
        return column

    def value(self, column: str) -> str | dt.datetime:
        if self.at_end or self.tokens[self.next].kind != "text":
            self.wrong("a value in single quotes")
        value = self.tokens[self.next].value
        if column in TIME_COLUMNS:
            return self.time(value)
        self.next += 1
        return value

    def time(self, value: str) -> dt.datetime:
        try:
            time = dt.datetime.fromisoformat(value)
        except ValueError:
            self.wrong("a time like '2026-01-31' or '2026-01-31T12:00:00Z'")
        self.next += 1
        try:
            return time.replace(tzinfo=dt.UTC) if time.tzinfo is None else time.astimezone(dt.UTC)
        except OverflowError:
            self.wrong("a time between the years 1 and 9999")
