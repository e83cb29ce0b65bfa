"""``turnmill dataset export``: a version as the files that a trainer reads."""

from __future__ import annotations

from pathlib import Path

import click

from jobs.dataset_choice import LATEST, refuse_withdrawn, version_with_files
from jobs.options import Settings, UserError, existing_lake, turnmill_command
from pipelines.datasets.exports.write import FORMS, export


@turnmill_command("export")
@click.argument("version", default=LATEST)
@click.option("--form", type=click.Choice(list(FORMS)), required=True, help="Whose form the files have.")
@click.option("--to", "folder", type=click.Path(path_type=Path), default=None, metavar="DIR",
              help="New folder for the files.  [default: ./VERSION-FORM]")  # fmt: skip
@click.option(
    "--licence", default="other", show_default=True, help="Licence for the dataset card, as the Hub names it."
)
def export_version(settings: Settings, version: str, form: str, folder: Path | None, licence: str) -> None:
    r"""Write a version (a name, the beginning of one, or latest) in the form of a trainer, by kind and split.

    \b
    openai         chat JSONL with tools and weights; preferences as input and two outputs
    trl            prompt-completion, preference and unpaired JSONL with tools
    llama-factory  ShareGPT JSONL with dataset_info.json; train it with mask_history: true
    axolotl        chat_template JSONL with axolotl.yaml
    hugging-face   a folder for load_dataset: Parquet and a dataset card
    parquet        Parquet with nested messages
    review         CSV to read in a spreadsheet; not for training

    Equal versions give equal bytes. The version is verified first. Examples that a form has no room for are left out
    and counted by reason, in export.json too. Ids and references stay behind.
    """
    stored = version_with_files(settings, version)
    refuse_withdrawn(existing_lake(settings), stored)
    verdict = stored.verified()
    if not verdict.ok:
        raise UserError(f"{stored.name} is not what was published: {'; '.join(verdict.faults)}")
    target = (folder or Path(f"{stored.name}-{form}")).absolute()
    exported = export(stored.rows(), stored.manifest, FORMS[form], target, licence)
    if settings.json:
        rows = {file.name: file.rows for file in exported.files}
        settings.emit({"dataset_version": stored.name, "form": form, "folder": str(target), "rows": rows,
                       "left_out": exported.left_out, "sha256": exported.sha256})  # fmt: skip
        return
    for file in exported.files:
        settings.console.print(f"{file.rows:,} examples in {target / file.name}", soft_wrap=True)
    for reason, count in exported.left_out.items():
        settings.console.print(f"left out: {count:,} with {reason}")
