"""``turnmill search``: find turns by meaning, inside one tenant."""

from __future__ import annotations

import dataclasses
from functools import partial

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from jobs.options import Exit, Settings, UserError, turnmill_command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.embedding.encoder import Encoder, SentenceTransformerEncoder
from pipelines.index.answers import Answer, find_answers
from pipelines.index.lance import LanceIndex
from schemas.shared_columns import ROLES

SHOWN_CHARACTERS = 300


def search_turns(
    settings: Settings, question: str, *, k: int = 10, tenant: str = "default", role: str | None = None,
    encoder: Encoder | None = None,
) -> list[Answer]:  # fmt: skip
    """Return the ``k`` turns of the tenant that are nearest to the question, best first.

    Refuses where the model at hand is not the one that the index was made with.
    """
    lake = Lake(settings.lake)
    index = LanceIndex(lake.index)
    standing = index.standing()
    if standing is None:
        raise UserError(f"wanted an index in {lake.index}, found none; build it: turnmill index --available-now")
    encoder = encoder or SentenceTransformerEncoder(standing.model)
    if encoder.fingerprint != standing.model_fingerprint:
        raise UserError(
            f"the index was made with {standing.model}, fingerprint {standing.model_fingerprint[:12]}; "
            f"the model here has {encoder.fingerprint[:12]}. "
            "Embed and index again with this model, or search with that one."
        )
    return find_answers(index, partial(connect, lake), encoder.encode_query(question), k, tenant, role=role)


@turnmill_command("search", help="Find turns by meaning: QUESTION in any words.")
@click.argument("question")
@click.option("--k", type=click.IntRange(1, 10_000), default=10, show_default=True, help="How many turns.")
@click.option("--tenant", default="default", show_default=True, help="Whose turns; no search crosses tenants.")
@click.option("--role", type=click.Choice(ROLES), default=None, help="Only what this role said.")
@click.option("--model", default=None, metavar="NAME", help="Model of the question.  [default: the index's]")
def command(settings: Settings, question: str, k: int, tenant: str, role: str | None, model: str | None) -> None:
    """Search and show the answers."""
    if not question.strip():
        raise UserError("the question is empty.", Exit.WRONG_USE)
    encoder = SentenceTransformerEncoder(model) if model else None
    answers = search_turns(settings, question, k=k, tenant=tenant, role=role, encoder=encoder)
    if settings.json:
        for answer in answers:
            settings.emit(dataclasses.asdict(answer))
        return
    if not answers:
        settings.console.print(f"No turns of tenant {tenant} are indexed.", markup=False)
        return
    shown = RichTable("score", "role", "text", "conversation", "turn", show_lines=True)
    for answer in answers:
        text = answer.text if len(answer.text) <= SHOWN_CHARACTERS else f"{answer.text[:SHOWN_CHARACTERS]}…"
        conversation = (answer.conversation_ref or "-")[:16]
        shown.add_row(f"{answer.score:.3f}", answer.role, Text(text), Text(conversation), Text(answer.turn_id[:16]))
    Console().print(shown)
    versions = ", ".join(f"{name} {version}" for name, version in answers[0].version.items())
    settings.console.print(f"index stands at versions: {versions}", markup=False)


if __name__ == "__main__":
    command()
