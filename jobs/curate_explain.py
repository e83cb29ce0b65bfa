"""``turnmill curate --explain``: the story of one turn, read without Spark."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from jobs.options import Settings, UserError, existing_lake
from pipelines.adapters.duck import connect
from pipelines.datasets.rules import meaning
from pipelines.datasets.turn_story import turn_story


def explain_turn(settings: Settings, turn_id: str, tenant: str | None) -> list[dict[str, Any]]:
    """Show where the turn landed, what was measured, and what each dataset version did with it; returns the stories.

    Raises ``UserError`` where no tenant, or not the one that is named, has the turn.
    """
    stories = turn_story(connect(existing_lake(settings)), turn_id, tenant)
    if not stories:
        whose = f"of tenant {tenant}" if tenant else "of any tenant"
        raise UserError(
            f"wanted a turn_id {whose}, found none like it; "
            'list some: turnmill sql "from turns_current select turn_id, role limit 20"'
        )
    for story in stories:
        if settings.json:
            settings.emit(story)
        else:
            Console().print(Text("\n".join(told(story))), soft_wrap=True)
    return stories


def told(story: dict[str, Any]) -> list[str]:
    """Return the story in sentences, one a line."""
    landed, turn = story["landed"], story["turn"]
    place = f"{landed['topic']}/{landed['partition']}/{landed['offset']}, entry {landed['entry']}"
    again = f"; it came again {landed['repeats']} times" if landed["repeats"] else ""
    flags = f", flags {', '.join(turn['flags'])}" if turn["flags"] else ""
    lines = [
        f"Turn {story['turn_id']} of tenant {story['tenant']}",
        f"  landed         {landed['at']} from {place}, position {landed['position']}, as {landed['source']}{again}",
        f"  turn           role {turn['role']}, consent {turn['consent']}{flags}",
        f"  signals        {_signals(story['signals'])}",
    ]
    lines += [f"  conversation   {_conversation(c)}" for c in story["conversations"]] or [
        "  conversation   none yet; `turnmill assemble` puts turns together"
    ]
    lines += [line for version in story["versions"] for line in _version(version)] or [
        "  dataset        in no dataset version, nor dropped from one"
        + (
            "; `turnmill curate` judges answers"
            if turn["role"] == "assistant"
            else f"; a {turn['role']} turn is a prompt"
        )
    ]
    return lines


def _signals(signals: dict[str, Any] | None) -> str:
    if signals is None:
        return "not seen by the filter yet; `turnmill filter` does that"
    verdict = "kept" if signals["keep"] else f"not kept: {signals['reason']}"
    hidden = ("keep", "reason", "landed_at", "tagged_at", "conversation_ref", "rule_version")
    measured = ", ".join(f"{k} {_shown(v)}" for k, v in signals.items() if k not in hidden and v not in (None, False))
    return f"{verdict} by rules {signals['rule_version']} ({measured})"


def _conversation(conversation: dict[str, Any]) -> str:
    place = conversation["position"]
    where = "on another branch" if place is None else f"at place {place + 1} of {conversation['n_turns']}"
    state = "complete" if conversation["complete"] else "may still grow"
    return (
        f"{conversation['conversation_id']}, {where}, revision {conversation['revision']}, {state}, "
        f"language {conversation['language']}, consent {conversation['consent']}"
    )


def _version(version: dict[str, Any]) -> list[str]:
    taken_back = ", withdrawn" if version["withdrawn_at"] else ""
    lines = [
        f"  dataset        {version['dataset_version']} of {version['created_at']}, policy {version['policy']}, "
        f"gate {version['gate']}{taken_back}"
    ]
    lines += [f"    dropped      {_drop(drop)}" for drop in version["drops"]]
    if version["example"]:
        example = version["example"]
        lines.append(f"    example      {example['example_id']}, kind {example['kind']}, split {example['split']}")
    if version["in_prompts"]:
        lines.append(f"    in prompts   of {version['in_prompts']} examples")
    return lines


def _drop(drop: dict[str, Any]) -> str:
    measured = [f"{name} {_shown(drop[name])}" for name in ("score", "threshold") if drop[name] is not None]
    because = f"; because of {drop['matched_id']}" if drop["matched_id"] else ""
    whole = {"conversation": "its conversation, ", "pair": "a pair with it, "}.get(drop["subject"], "")
    return (
        f"{whole}{drop['rule']}{' (' + ', '.join(measured) + ')' if measured else ''}{because}. {meaning(drop['rule'])}"
    )


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
