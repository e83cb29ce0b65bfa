"""Parents for turns whose log entry did not hold the whole history. Ids, roles and times only.

Three kinds of logs leave it out: message logs (one message an entry), chains of responses (an entry names the answer
before it), and requests that send only the tail of a long talk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pipelines.conversations.nodes import Node
from schemas.shared_columns import CONSENTS


@dataclass(slots=True)
class Linked:
    """Turns of one root with the parents that they follow; ``repeats`` were logged again without their history."""

    nodes: list[Node]
    repeats: list[Node] = field(default_factory=list)


def relink(nodes: Sequence[Node], *, is_logged: bool) -> Linked:
    """Link message logs by time and chains by response id and, where the talk has a logged id, trimmed histories.

    The result depends on the turns and their times, not on the order of ``nodes``.
    """
    by_id = {node.turn_id: node for node in nodes}
    _chain_messages(by_id)
    _follow_responses(by_id)
    if not is_logged:
        return Linked(list(by_id.values()))
    repeats = _Forest(by_id).anchor()
    for turn_id, original in repeats.items():
        by_id[original] = _with_repeat(by_id[original], by_id[turn_id])
    again = [by_id.pop(turn_id) for turn_id in repeats]
    return Linked(list(by_id.values()), sorted(again, key=lambda node: node.arrived))


def _chain_messages(by_id: dict[str, Node]) -> None:
    """Let each message that was logged alone follow the one before it in time."""
    alone = sorted((n for n in by_id.values() if n.alone), key=lambda node: (node.at, node.arrived))
    for before, node in zip(alone, alone[1:], strict=False):
        by_id[node.turn_id] = replace(node, parent_id=before.turn_id)


def _follow_responses(by_id: dict[str, Node]) -> None:
    """Let each turn that names the response before it follow that response."""
    answers = {
        node.response_id: node.turn_id for node in sorted(by_id.values(), key=lambda n: n.arrived) if node.response_id
    }
    for node in list(by_id.values()):
        parent = answers.get(node.previous_response_id or "")
        if parent is not None and node.parent_id not in by_id and node.turn_id not in _line(parent, by_id):
            by_id[node.turn_id] = replace(node, parent_id=parent)


def _line(turn_id: str, by_id: dict[str, Node]) -> set[str]:
    """Return a turn and all before it."""
    line: set[str] = set()
    while turn_id in by_id and turn_id not in line:
        line.add(turn_id)
        turn_id = by_id[turn_id].parent_id
    return line


def _with_repeat(original: Node, repeat: Node) -> Node:
    consent = max(original.consent, repeat.consent, key=CONSENTS.index)
    feedback = tuple(a + b for a, b in zip(original.feedback, repeat.feedback, strict=True))
    return replace(original, consent=consent, feedback=feedback)


class _Forest:
    """The trees of one root; a tree whose beginning stands inside another one is merged into it."""

    def __init__(self, by_id: dict[str, Node]) -> None:
        self.by_id = by_id
        self.repeats: dict[str, str] = {}
        self.children: dict[str, set[str]] = defaultdict(set)
        self.said: dict[str, set[str]] = defaultdict(set)
        for node in by_id.values():
            self.children[node.parent_id].add(node.turn_id)
            self.said[node.content_id].add(node.turn_id)

    def anchor(self) -> dict[str, str]:
        """Give trimmed trees their place, in ``by_id``; return each repeated turn with the turn that it repeats."""
        tops = sorted(
            (n for n in self.by_id.values() if n.parent_id not in self.by_id), key=lambda n: (n.at, n.turn_id)
        )
        waiting = [top.turn_id for top in tops] if len(tops) > 1 else []
        found = True
        while found:
            still = [top for top in waiting if not self._place(top)]
            found = len(still) < len(waiting)
            waiting = still
        return self.repeats

    def _place(self, top: str) -> bool:
        """Merge the tree of ``top`` into the one where the longest part of its beginning was said before."""
        hosts = [
            (length, self.by_id[host].at, host)
            for host in self.said[self.by_id[top].content_id]
            if self.by_id[host].parent_id in self.by_id and top not in _line(host, self.by_id)
            if (length := self._common(top, host))
        ]
        if not hosts:
            return False
        self._merge(top, max(hosts)[2])
        return True

    def _common(self, top: str, host: str) -> int:
        """Return how many turns of the two trees agree, from these down; 0 when that is too little to tell.

        One message of a user proves nothing: people say yes again and again.
        """
        pairs = list(self._pairs(top, host))
        return len(pairs) if len(pairs) > 1 or self.by_id[top].role != "user" else 0

    def _pairs(self, top: str, host: str) -> Iterable[tuple[str, str]]:
        waiting = [(top, host)]
        while waiting:
            one, other = waiting.pop()
            yield one, other
            same = {self.by_id[child].content_id: child for child in sorted(self.children[other])}
            for child in self.children[one]:
                if (match := same.get(self.by_id[child].content_id)) is not None:
                    waiting.append((child, match))

    def _merge(self, top: str, host: str) -> None:
        same = dict(self._pairs(top, host))
        self.children[self.by_id[top].parent_id].discard(top)
        for one, other in same.items():
            self.repeats[one] = other
            self.said[self.by_id[one].content_id].discard(one)
            for child in self.children.pop(one, set()) - same.keys():
                self.by_id[child] = replace(self.by_id[child], parent_id=other)
                self.children[other].add(child)
        for one, other in self.repeats.items():
            self.repeats[one] = same.get(other, other)
