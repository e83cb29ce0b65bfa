"""The gate as a page for people: every expectation with what was wanted and found, without any value of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

PAGE = "gate.html"
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;width:100%;margin:1rem 0}td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;"
    "text-align:left;vertical-align:top}.failed{background:#fdecea}code{font-size:.9em}"
)


def gate_page(manifest: Mapping[str, Any], checked: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the page as HTML in UTF-8; equal input gives equal bytes, and nothing is loaded from elsewhere.

    ``checked`` are expectations with name, wanted, observed, held and ids; failed ones come first.
    """
    gate = manifest["gate"]
    facts = {
        "Dataset version": manifest["dataset_version"],
        "Verdict": gate["verdict"],
        "Expectations": f"{gate['n_expectations']}, failed {len(gate['failed'])}",
        "Kind": manifest["kind"],
        "Examples": ", ".join(f"{count:,} {split}" for split, count in manifest["split_counts"].items()),
        "Compared with": gate["compared_with"] or "no version before",
    }
    parts = [
        "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{escape(str(manifest['dataset_version']))}: {escape(str(gate['verdict']))}</title>",
        f"<style>{STYLE}</style></head><body>",
        f"<h1>Quality gate: {escape(str(gate['verdict']))}</h1>",
        _table(("", ""), ((name, str(value)) for name, value in facts.items())),
        "<h2>Expectations</h2>", _expectations(checked), "<h2>Shape</h2>",
    ]  # fmt: skip
    for name, counts in manifest["shape"].items():
        parts.append(_table((name, "examples"), ((key, f"{count:,}") for key, count in counts.items())))
    parts += [
        "<h2>Left out</h2>",
        _table(("rule", "rows"), ((k, f"{n:,}") for k, n in manifest["drop_counts"].items())),
    ]
    return "\n".join([*parts, "</body></html>", ""]).encode()


def _expectations(checked: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for one in sorted(checked, key=lambda one: bool(one["held"])):
        ids = " ".join(f"<code>{escape(example_id)}</code>" for example_id in one["ids"])
        cells = (one["name"], one["wanted"], one["observed"])
        verdict, kind = ("holds", "") if one["held"] else ("failed", ' class="failed"')
        told = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        rows.append(f"<tr{kind}><td>{verdict}</td>{told}<td>{ids}</td></tr>")
    head = "".join(f"<th>{name}</th>" for name in ("", "expectation", "wanted", "found", "examples"))
    return "\n".join([f"<table><tr>{head}</tr>", *rows, "</table>"])


def _table(head: tuple[str, str], rows: Any) -> str:
    body = "\n".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table><tr><th>{escape(head[0])}</th><th>{escape(head[1])}</th></tr>\n{body}\n</table>"
