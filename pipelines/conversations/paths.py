"""From the turns of one talk to its conversations: trees, branches, the active path. Ids and times only."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.conversations.nodes import Node
from pipelines.conversations.relink import relink
from pipelines.conversations.signals import conversation_signals
from schemas.shared_columns import CONSENTS


@dataclass(frozen=True, slots=True)
class Known:
    """A conversation assembled before: its id and its path."""

    conversation_id: str
    turn_ids: tuple[str, ...]


@dataclass(slots=True)
class Tree:
    """Turns of one root by id, children in the order of arrival."""

    nodes: dict[str, Node]
    children: dict[str, list[Node]] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Tree:
        """Build the tree; a turn given twice counts once."""
        tree = cls({node.turn_id: node for node in nodes})
        for node in sorted(tree.nodes.values(), key=lambda node: node.arrived):
            tree.children.setdefault(node.parent_id, []).append(node)
        return tree

    def leaves(self) -> list[Node]:
        """Turns that nothing follows, in the order of arrival."""
        return [node for siblings in self.children.values() for node in siblings if node.turn_id not in self.children]

    def path(self, leaf: Node) -> list[Node]:
        """Turns from the first one that is here down to ``leaf``."""
        path = [leaf]
        # A turn_id is a hash over its parent's, and relinking makes no circle, so the walk up ends.
        while (parent := self.nodes.get(path[-1].parent_id)) is not None:
            path.append(parent)
        return path[::-1]


def assemble_root(root_id: str, nodes: Sequence[Node], known: Sequence[Known] = ()) -> list[dict[str, Any]]:
    """Return the conversations of one root as rows of ``conversations`` without tenant, ``complete`` and ``revision``.

    With a logged conversation id the root is one conversation. Its active path ends in the leaf with the latest
    activity, a branch that the source does not show coming last; a request that sent only the tail of the talk
    continues the talk. Without such an id each leaf is a conversation of its own; a turn that continues a known
    conversation inherits its id, a branch is named after its first own turn (CONTRACTS.md section 3). System messages
    stand beside the chain.
    """
    spoken = [node for node in nodes if node.role != "system"]
    if not spoken:
        return []
    is_logged = any(node.conversation_ref for node in spoken)
    linked = relink(spoken, is_logged=is_logged)
    tree = Tree.of(linked.nodes)
    leaves = tree.leaves()
    if is_logged:
        active = max(leaves, key=lambda leaf: (not leaf.inactive, leaf.at, leaf.arrived))
        path = tree.path(active)
        on_path = {node.turn_id for node in path}
        branches = sorted((n for n in tree.nodes.values() if n.turn_id not in on_path), key=lambda n: n.arrived)
        return [_row(root_id, root_id, path, branches, len(leaves), linked.repeats)]
    names = leaf_names(tree, known)
    return [_row(names[leaf.turn_id], root_id, tree.path(leaf)) for leaf in leaves]


def leaf_names(tree: Tree, known: Sequence[Known]) -> dict[str, str]:
    """Name the conversation of each leaf: the first turn to follow a path inherits its name."""
    names: dict[str, str] = {}
    for conversation in known:
        for turn_id in reversed(conversation.turn_ids):
            # The end of a known path is its own; a shared prefix keeps the name that it has.
            names.setdefault(turn_id, conversation.conversation_id)
    ends = {conversation.turn_ids[-1]: conversation.conversation_id for conversation in known if conversation.turn_ids}
    names.update(ends)
    placed = {turn_id for conversation in known for turn_id in conversation.turn_ids}
    waiting = [node for first in tree.children if first not in tree.nodes for node in tree.children[first]]
    while waiting:
        node = waiting.pop()
        if node.turn_id not in names:
            siblings = tree.children[node.parent_id]
            followed_before = any(sibling.turn_id in placed for sibling in siblings)
            inherits = node.parent_id in names and not followed_before and siblings[0] is node
            names[node.turn_id] = names[node.parent_id] if inherits else node.turn_id
        waiting.extend(tree.children.get(node.turn_id, ()))
    return names


def _row(
    name: str,
    root_id: str,
    path: list[Node],
    branches: Sequence[Node] = (),
    n_branches: int = 1,
    repeats: Sequence[Node] = (),
) -> dict[str, Any]:
    turns = [*path, *branches]
    feedback = [sum(column) for column in zip(*(node.feedback for node in turns), strict=True)]
    row: dict[str, Any] = {
        "conversation_id": name,
        "root_id": root_id,
        "conversation_ref": path[-1].conversation_ref,
        "user_ref": next((node.user_ref for node in reversed(path) if node.user_ref), None),
        "user_refs": sorted({node.user_ref for node in (*turns, *repeats) if node.user_ref}),
        "stream": path[-1].stream,
        "turn_ids": [node.turn_id for node in path],
        "branch_turn_ids": [node.turn_id for node in (*branches, *repeats)],
        "system_turn_id": path[-1].system_turn_id,
        "n_turns": len(path),
        "n_branches": n_branches,
        "started_at": min(node.at for node in turns),
        "last_at": max(node.at for node in turns),
        "language": most_frequent(node.lang for node in path if node.role == "user"),
        "n_kept": sum(node.keep for node in path),
        "feedback": dict(zip(("n", "thumbs_up", "thumbs_down", "edits"), feedback, strict=True)),
        "signals": conversation_signals(path),
        "consent": max((node.consent for node in turns), key=CONSENTS.index),
    }
    row["fingerprint"] = fingerprint(row)
    return row


def most_frequent(languages: Iterable[str | None]) -> str:
    """Return the most frequent certain language, the first in the alphabet among equals; und without one."""
    counts = Counter(lang for lang in languages if lang and lang != "und")
    return min(counts, key=lambda lang: (-counts[lang], lang)) if counts else "und"


def fingerprint(row: Mapping[str, Any]) -> str:
    """Hash all that a revision counts, 128 bits in hexadecimal."""
    parts = [
        f"{name}={value.isoformat() if isinstance(value, dt.datetime) else value!r}" for name, value in row.items()
    ]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
