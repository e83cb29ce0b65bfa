"""Train the name and address tagger anew and write its weights: ``python -m jobs.tagger_train --common-voice DIR``.

Needs Faker beside the development group. The card of the weights tells the sources and where they come from.
"""

from __future__ import annotations

from pathlib import Path

import click

from pipelines.privacy.tagger.tag import MODEL


@click.command()
@click.option(
    "--common-voice",
    type=click.Path(path_type=Path, exists=True),
    required=True,
    help="Folder server/data of Common Voice.",
)
@click.option(
    "--census", type=click.Path(path_type=Path, exists=True), help="Folder with the name files of the 1990 census."
)
@click.option(
    "--english", type=click.Path(path_type=Path, exists=True), multiple=True, help="More English sentences, one a line."
)
@click.option("--tokens", type=int, default=56_000_000, show_default=True, help="Tokens to train on.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=MODEL, help="File of the weights.")
@click.option("--start", type=click.Path(path_type=Path, exists=True), help="Weights to go on from.")
def main(
    common_voice: Path,
    census: Path | None,
    english: tuple[Path, ...],
    tokens: int,
    seed: int,
    out: Path,
    start: Path | None,
) -> None:
    """Train the tagger on text that is generated anew."""
    from pipelines.privacy.tagger.training import SourcePaths, train_and_save

    train_and_save(SourcePaths(common_voice, census, english), out, tokens, seed, click.echo, start)


if __name__ == "__main__":
    main()
