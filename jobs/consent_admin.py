"""``turnmill consent withdraw|list|show``: users and conversations that are not for training any more."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import IO, Any

import click
from rich.table import Table as RichTable

from jobs.options import Exit, Settings, UserError, existing_lake, turnmill_command
from jobs.streaming import one_driver
from pipelines.adapters import delta
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.intake.identity import IdentityKey
from pipelines.intake.ownership import DEFAULT_TENANT
from pipelines.privacy.keys import KeyFolder, KeyFolderError
from schemas import CONSENT_WITHDRAWALS
from schemas.consent_withdrawals import SUBJECT_KINDS

JOB = "consent"
LEFT = "analytics"
"""What a withdrawn subject's rows may still be used for: all but training."""

REF_COLUMN = {"user": "user_ref", "conversation": "conversation_ref"}
KNOWN = "SELECT DISTINCT {ref} FROM turns WHERE tenant = ? AND {ref} IN (SELECT unnest(?))"
HELD_BY = """
SELECT dataset_version, count(DISTINCT example_id) AS examples
FROM (SELECT dataset_version, example_id, unnest(turn_ids) AS turn_id FROM training_examples WHERE tenant = $1)
SEMI JOIN (SELECT turn_id FROM turns WHERE tenant = $1 AND {ref} = $2) USING (turn_id)
GROUP BY dataset_version
"""
STANDING = """
SELECT dataset_version, examples, created_at, withdrawn_at
FROM ({held}) JOIN dataset_versions USING (dataset_version) ORDER BY created_at, dataset_version
"""


@dataclass(frozen=True)
class Subject:
    """A user or conversation of a tenant under its keyed reference; the logged id is not kept."""

    tenant: str
    kind: str
    ref: str

    @property
    def key(self) -> dict[str, str]:
        """The key of ``consent_withdrawals``."""
        return {"tenant": self.tenant, "subject_kind": self.kind, "subject_ref": self.ref}


def subject_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name subjects by their logged ids."""
    options = [
        click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose users and conversations."),
        *(
            option
            for kind in SUBJECT_KINDS
            for option in (
                click.option(f"--{kind}", f"{kind}_ids", multiple=True, metavar="ID",
                             help=f"A {kind} by the id in the logs; may be given again."),
                click.option(f"--{kind}s-from", f"{kind}_file", type=click.File(encoding="utf-8"), metavar="FILE",
                             help=f"A file of {kind} ids, one a line; - reads standard input."),
            )
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@turnmill_command("withdraw", help="Keep users or conversations out of every later dataset version.")
@subject_options
def withdraw(settings: Settings, tenant: str, **named: Any) -> None:
    """Store keyed references of what is named; one that is withdrawn already stays as it is."""
    lake = existing_lake(settings)
    subjects = named_subjects(settings, tenant, **named)
    with one_driver(lake, JOB):
        new = store(lake, subjects)
    unknown = [subject for subject in subjects if subject not in known_here(lake, tenant, subjects)]
    figures = {"tenant": tenant, "withdrawn": len(new), "withdrawn_before": len(subjects) - len(new)}
    if settings.json:
        settings.emit({**figures, "without_turns": len(unknown)})
        return
    settings.console.print(
        f"{len(new):,} withdrawn from training in tenant {tenant}, {len(subjects) - len(new):,} before. "
        "Later dataset versions leave them out; `turnmill consent show` names the versions that hold them."
    )
    if unknown:
        settings.console.print(f"{len(unknown):,} have no turns here: check ids and tenant. They count if logs come.")


@turnmill_command("list", help="Count what is withdrawn, by tenant and kind; --json tells every reference.")
def list_withdrawals(settings: Settings) -> None:
    """Show one row a tenant and kind."""
    cursor = connect(existing_lake(settings)).execute("FROM consent_withdrawals ORDER BY ALL")
    rows = _rows(cursor)
    if settings.json:
        settings.emit({"withdrawals": rows})
        return
    shown = RichTable("tenant", "kind", "withdrawn", "first", "last")
    groups: dict[tuple[str, str], list[dt.datetime]] = {}
    for row in rows:
        groups.setdefault((row["tenant"], row["subject_kind"]), []).append(row["withdrawn_at"])
    for (tenant, kind), times in groups.items():
        shown.add_row(tenant, kind, f"{len(times):,}", *(f"{at:%Y-%m-%d %H:%M}" for at in (min(times), max(times))))
    settings.console.print(shown if groups else "Nobody has withdrawn.")


@turnmill_command("show", help="Tell since when users or conversations are withdrawn, and what still holds them.")
@subject_options
def show(settings: Settings, tenant: str, **named: Any) -> None:
    """Show one row a subject and dataset version that has examples of it."""
    stories = [story(existing_lake(settings), one) for one in named_subjects(settings, tenant, **named)]
    if settings.json:
        settings.emit({"subjects": stories})
        return
    shown = RichTable("kind", "reference", "withdrawn", "dataset version", "examples")
    for told in stories:
        at = f"{told['withdrawn_at']:%Y-%m-%d %H:%M}" if told["withdrawn_at"] else "no"
        for held in told["dataset_versions"] or [{"dataset_version": "none", "examples": 0}]:
            version, examples = held["dataset_version"], f"{held['examples']:,}"
            shown.add_row(told["subject_kind"], told["subject_ref"], at, version, examples)
    settings.console.print(shown)


def named_subjects(
    settings: Settings,
    tenant: str,
    user_ids: Iterable[str],
    conversation_ids: Iterable[str],
    user_file: IO[str] | None,
    conversation_file: IO[str] | None,
) -> list[Subject]:
    """Return what options name, each once, under keyed references. Raises ``UserError`` where nothing is named."""
    try:
        identity = IdentityKey(KeyFolder(settings.keys).open().identity)
    except KeyFolderError as error:
        raise UserError(str(error)) from error
    users = [identity.user_ref(tenant, one) for one in (*user_ids, *listed(user_file))]
    talks = [identity.conversation_ref(tenant, one) for one in (*conversation_ids, *listed(conversation_file))]
    if not users and not talks:
        wanted = " or ".join(f"--{kind}, --{kind}s-from" for kind in SUBJECT_KINDS)
        raise UserError(f"wanted ids by {wanted}, found none", Exit.WRONG_USE)
    return [
        Subject(tenant, kind, ref)
        for kind, refs in zip(SUBJECT_KINDS, (users, talks), strict=True)
        for ref in dict.fromkeys(refs)
    ]


def listed(file: IO[str] | None) -> list[str]:
    """Return the ids of a file, one a line as the logs have them; empty lines are passed over.

    Raises ``UserError`` for a file that is not UTF-8, without telling what it holds.
    """
    try:
        lines = [line.rstrip("\r\n") for line in file or ()]
    except UnicodeDecodeError:
        raise UserError("wanted a file of ids in UTF-8, found another encoding", Exit.WRONG_USE) from None
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    return [line for line in lines if line.strip()]


def store(lake: Lake, subjects: list[Subject]) -> list[Subject]:
    """Append the subjects that are not withdrawn yet and return them; the caller holds the lease."""
    rows = _rows(connect(lake).execute("SELECT tenant, subject_kind, subject_ref FROM consent_withdrawals"))
    before = {Subject(row["tenant"], row["subject_kind"], row["subject_ref"]) for row in rows}
    new = [subject for subject in subjects if subject not in before]
    if new:
        at = dt.datetime.now(dt.UTC)
        number = delta.last_transaction(lake, CONSENT_WITHDRAWALS.name, JOB) + 1
        stored = [{**subject.key, "consent": LEFT, "withdrawn_at": at} for subject in new]
        delta.append_rows(stored, lake, CONSENT_WITHDRAWALS, txn=(JOB, number))
    return new


def known_here(lake: Lake, tenant: str, subjects: list[Subject]) -> set[Subject]:
    """Return the subjects that have turns in the lake."""
    connection = connect(lake)
    found: set[Subject] = set()
    for kind, ref in REF_COLUMN.items():
        asked = [subject.ref for subject in subjects if subject.kind == kind]
        if asked:
            rows = connection.execute(KNOWN.format(ref=ref), [tenant, asked]).fetchall()
            found |= {Subject(tenant, kind, row[0]) for row in rows}
    return found


def story(lake: Lake, subject: Subject) -> dict[str, Any]:
    """Return since when a subject is withdrawn (None: it is not), and the dataset versions that have examples of it."""
    connection = connect(lake)
    at = connection.execute(
        "SELECT min(withdrawn_at) FROM consent_withdrawals WHERE tenant = ? AND subject_kind = ? AND subject_ref = ?",
        list(subject.key.values()),
    ).fetchone()
    held = STANDING.format(held=HELD_BY.format(ref=REF_COLUMN[subject.kind]))
    versions = _rows(connection.execute(held, [subject.tenant, subject.ref]))
    return {**subject.key, "withdrawn_at": at[0] if at else None, "dataset_versions": versions}


def _rows(cursor: Any) -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


command = click.Group(
    "consent",
    commands=[withdraw, list_withdrawals, show],
    help="Keep users and conversations out of training from now on, and tell what still holds them.",
)
