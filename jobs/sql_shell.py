"""Queries one after the other: a prompt with history, completion of names, and a few commands that begin with a dot."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import duckdb
import platformdirs
import pyarrow as pa
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from jobs.options import UserError
from jobs.sql_query import query_rows
from jobs.sql_rows import form_of, show_rows, write_rows
from pipelines.reading.ready_views import CATALOGUE, READY_VIEWS
from schemas import TABLES
from schemas.table import type_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PROMPT, MORE = "turnmill> ", "     ...> "
HISTORY_LINES = 2000
COMMANDS = {
    ".tables": "Tables and views, with what a row is.",
    ".schema": "Columns of NAME with type and meaning; of all tables without one.",
    ".out": "Write all rows of the next query to FILE: .csv, .jsonl or .parquet.",
    ".help": "This list.",
    ".quit": "Leave; so does Ctrl-D.",
}
BEFORE_A_TABLE = re.compile(r"\b(?:from|join|describe|summarize)\s+$", re.IGNORECASE)


class Completer:
    """Completes names of tables, views and columns, SQL's words, and the commands of the prompt."""

    def __init__(self, columns: dict[str, list[str]], keywords: list[str]) -> None:
        self.columns = columns
        self.words = [*columns, *sorted({name for names in columns.values() for name in names}), *keywords]

    def candidates(self, before: str, word: str) -> list[str]:
        """Return what may stand for ``word``, the text right before the cursor, after ``before`` in its line."""
        if not before.strip() and word.startswith("."):
            return _starting(list(COMMANDS), word)
        table, dot, _ = word.rpartition(".")
        if dot:
            return _starting([f"{table}.{name}" for name in self.columns.get(table.lower(), ())], word)
        if BEFORE_A_TABLE.search(before) or before.strip().startswith(".schema"):
            return _starting(list(self.columns), word)
        return _starting(self.words, word)


def completer(connection: DuckDBPyConnection) -> Completer:
    """Return the completer for what ``connection`` knows."""
    reserved = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved' ORDER BY ALL"
    columns = {name: list(connection.view(name).columns) for name in CATALOGUE}
    return Completer(columns, [word for (word,) in connection.execute(reserved).fetchall()])


class Shell:
    """The state of a prompt: what is half written, and where the next rows go."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self.connection = connection
        self.console = Console()
        self.pending: list[str] = []
        self.out: Path | None = None

    @property
    def prompt(self) -> str:
        """What to show before the next line."""
        return MORE if self.pending else PROMPT

    def take(self, line: str) -> bool:
        """Act on one line that was typed; False when it asks to leave. Faults are told, and asking goes on."""
        try:
            if not self.pending and line.strip().startswith("."):
                return self._obey(*line.split(maxsplit=1))
            self.pending.append(line)
            self._run_if_whole("\n".join(self.pending))
        except UserError as error:
            click.echo(f"Error: {error.message}", err=True)
        except (duckdb.Error, pa.ArrowException) as error:
            click.echo(f"Error: the query failed while its rows were read ({type(error).__name__}).", err=True)
        return True

    def drop_pending(self) -> None:
        """Forget the lines that are half written."""
        self.pending.clear()

    def _run_if_whole(self, query: str) -> None:
        if not query.strip():
            self.pending.clear()
        if not query.rstrip().endswith(";") or self._ends_in_a_string(query):
            return
        self.pending.clear()
        out, self.out = self.out, None
        rows = query_rows(self.connection, query)
        if out is None:
            show_rows(rows)
            return
        click.echo(f"{write_rows(rows, form_of(out), out):,} rows in {out}", err=True)

    def _ends_in_a_string(self, query: str) -> bool:
        try:
            self.connection.extract_statements(query)
        except duckdb.ParserException as error:
            return "unterminated" in str(error)
        return False

    def _obey(self, name: str, argument: str = "") -> bool:
        argument = argument.strip().rstrip(";")
        match name.rstrip(";"):
            case ".quit" | ".exit" | ".q":
                return False
            case ".tables":
                self._show(("name", "what a row is"), list(CATALOGUE.items()))
            case ".schema":
                self._show_schema(argument)
            case ".out" if argument:
                form_of(Path(argument))
                self.out = Path(argument)
            case ".help":
                self._show(("command", "what it does"), list(COMMANDS.items()))
                self.console.print("Anything else is SQL and ends with ;", markup=False)
            case unknown:
                raise UserError(f"no command {unknown} like that; .help lists them.")
        return True

    def _show_schema(self, name: str) -> None:
        tables = [table for table in TABLES if name in ("", table.name)]
        for table in tables:
            self.console.print(f"{table.name}: {table.doc} Key: {', '.join(table.key)}.", markup=False)
            self._show(("column", "type", "meaning"), [(c.name, type_name(c.type), c.doc) for c in table.columns])
        view = next((view for view in READY_VIEWS if view.name == name), None)
        if view is not None:
            relation = self.connection.view(name)
            self.console.print(f"{view.name}: {view.doc}", markup=False)
            self._show(("column", "type"), list(zip(relation.columns, map(str, relation.types), strict=True)))
        if not tables and view is None:
            raise UserError(f"no table or view {name}; .tables lists them.")

    def _show(self, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
        shown = RichTable(*head)
        for row in rows:
            shown.add_row(*map(Text, row))
        self.console.print(shown)


def run_shell(connection: DuckDBPyConnection, ask: Callable[[str], str] = input) -> None:
    """Take lines until the end; ``ask`` shows a prompt and returns a line, or raises ``EOFError``."""
    shell = Shell(connection)
    keep = _line_editing(completer(connection))
    click.echo("SQL ends with ; and .help tells more.", err=True)
    try:
        while True:
            try:
                if not shell.take(ask(shell.prompt)):
                    return
            except KeyboardInterrupt:
                shell.drop_pending()
                click.echo("", err=True)
    except EOFError:
        click.echo("", err=True)
    finally:
        keep()


def _line_editing(completer: Completer) -> Callable[[], None]:
    """Turn on history and completion where the platform has readline; return what keeps the history."""
    try:
        import readline
    except ImportError:
        return lambda: None
    history = _history_file()
    if history is not None:
        readline.read_history_file(history)
    readline.set_history_length(HISTORY_LINES)
    readline.set_completer_delims(" \t\n,;()=<>+-*/'")
    readline.set_completer(_completed_by(readline, completer))
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    return lambda: readline.write_history_file(history) if history is not None else None


def _history_file() -> Path | None:
    """Return the file of earlier lines, for this user's eyes only; None where the home cannot be written."""
    path = Path(platformdirs.user_state_dir("turnmill")) / "sql_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.chmod(0o600)
    except OSError:
        return None
    return path


def _completed_by(readline: Any, completer: Completer) -> Callable[[str, int], str | None]:
    def complete(word: str, nth: int) -> str | None:
        found = completer.candidates(readline.get_line_buffer()[: readline.get_begidx()], word)
        return found[nth] if nth < len(found) else None

    return complete


def _starting(names: list[str], word: str) -> list[str]:
    return [name for name in names if name.lower().startswith(word.lower())]
