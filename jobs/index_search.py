"""``turnmill search``: find turns by meaning, by shared words or by both, inside one tenant."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, cast

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from jobs.embedding_model import named_encoder
from jobs.index_choice import searched_index
from jobs.options import Exit, Settings, UserError, turnmill_command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.embedding.encoder import Encoder
from pipelines.index.answers import Answer, Mode, Question, find_answers
from pipelines.index.as_of import answers_as_of, versions_as_of
from pipelines.index.errors import FingerprintMismatchError, IndexUnreadableError
from pipelines.index.filters import All, equals, parse_filter
from schemas.shared_columns import ROLES

SHOWN_CHARACTERS = 300


def search_turns(
    settings: Settings, question: str, *, k: int = 10, tenant: str = "default", role: str | None = None,
    where: str = "", mode: Mode = "vector", as_of: str | None = None, encoder: Encoder | None = None,
) -> list[Answer]:  # fmt: skip
    """Return the ``k`` best turns of the tenant, best first.

    ``where`` is a filter (``pipelines.index.filters``); ``as_of`` a version of ``turns`` or a time. Refuses where the
    model at hand is not the one that the index was made with.
    """
    return search_batch(settings, [question], k=k, tenant=tenant, role=role, where=where, mode=mode, as_of=as_of,
                        encoder=encoder)[0]  # fmt: skip


def search_batch(
    settings: Settings, questions: list[str], *, k: int = 10, tenant: str = "default", role: str | None = None,
    where: str = "", mode: Mode = "vector", as_of: str | None = None, encoder: Encoder | None = None,
) -> list[list[Answer]]:  # fmt: skip
    """Return the answers of each question, in their order; the model and the index are opened once."""
    lake = Lake(settings.lake)
    predicate = All((equals(role=role), parse_filter(where)))
    index = searched_index(lake.index, encoder.fingerprint if encoder else None)
    standing = index.standing()
    if standing is None:
        raise IndexUnreadableError(f"no readable index in {index.folder}; build it: turnmill index --available-now")
    encoder = encoder or named_encoder(standing.model)
    if encoder.fingerprint != standing.model_fingerprint:
        raise FingerprintMismatchError(standing.model, standing.model_fingerprint, encoder.fingerprint)
    asked = [Question(text, encoder.encode_query(text), k, tenant, predicate, mode) for text in questions]
    versions = versions_as_of(lake.table, as_of) if as_of else standing.versions
    if versions == standing.versions:
        return [find_answers(index, partial(connect, lake), one) for one in asked]
    at = partial(_connect_at, lake)
    model = {"model": standing.model, "fingerprint": standing.model_fingerprint}
    return [answers_as_of(at, versions, one, **model) for one in asked]


def _connect_at(lake: Lake, versions: Any) -> Any:
    return connect(lake, versions=versions)


@turnmill_command("search", help="Find turns by meaning: QUESTION in any words.")
@click.argument("question")
@click.option("--k", type=click.IntRange(1, 10_000), default=10, show_default=True, help="How many turns.")
@click.option("--tenant", default="default", show_default=True, help="Whose turns; no search crosses tenants.")
@click.option("--role", type=click.Choice(ROLES), default=None, help="Only what this role said.")
@click.option("--filter", "where", default="", metavar="FILTER",
              help="Only turns that fit, for instance \"lang='de' and created > '2026-01-01'\".")  # fmt: skip
@click.option("--hybrid", "mode", flag_value="hybrid", help="Fuse the nearest by meaning with those that share words.")
@click.option("--text", "mode", flag_value="text", help="Rank by shared words alone (BM25).")
@click.option("--as-of", default=None, metavar="VERSION|TIME", help="Answer as the tables stood then.")
@click.option("--model", default=None, metavar="NAME", help="Model of the question.  [default: the index's]")
def command(
    settings: Settings, question: str, k: int, tenant: str, role: str | None, where: str, mode: str | None,
    as_of: str | None, model: str | None,
) -> None:  # fmt: skip
    """Search and show the answers."""
    if not question.strip():
        raise UserError("the question is empty.", Exit.WRONG_USE)
    encoder = named_encoder(model) if model else None
    how = {"role": role, "where": where, "mode": cast(Mode, mode or "vector"), "as_of": as_of}
    answers = search_turns(settings, question, k=k, tenant=tenant, encoder=encoder, **how)  # type: ignore[arg-type]
    if settings.json:
        for answer in answers:
            settings.emit(dataclasses.asdict(answer))
        return
    if not answers:
        settings.console.print(f"No turns of tenant {tenant} fit.", markup=False)
        return
    _show(settings, answers)


def _show(settings: Settings, answers: list[Answer]) -> None:
    shown = RichTable("score", "role", "text", "conversation", "turn", show_lines=True)
    for answer in answers:
        text = answer.text if len(answer.text) <= SHOWN_CHARACTERS else f"{answer.text[:SHOWN_CHARACTERS]}…"
        conversation = (answer.conversation_ref or "-")[:16]
        shown.add_row(f"{answer.score:.3f}", answer.role, Text(text), Text(conversation), Text(answer.turn_id[:16]))
    Console().print(shown)
    versions = ", ".join(f"{name} {version}" for name, version in answers[0].version.items())
    settings.console.print(f"stands at versions: {versions}; search: {answers[0].plan}", markup=False)


if __name__ == "__main__":
    command()
