"""Trees of messages that a log gives as nodes with parent ids: their order and the path that is shown."""

from __future__ import annotations

from pipelines.intake.shape import BadShape


def parents_first(parent_of: dict[str, str | None]) -> list[str]:
    """Return all nodes, each after its parent, branch by branch, siblings in logged order.

    ``parent_of`` maps node id to parent id; a parent that is None or no node makes a root. Raises BadShape for a cycle.
    """
    children: dict[str, list[str]] = {}
    roots: list[str] = []
    for node, parent in parent_of.items():
        if parent is None or parent not in parent_of:
            roots.append(node)
        else:
            children.setdefault(parent, []).append(node)
    order: list[str] = []
    waiting = roots[::-1]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(children.get(node, ()))
    if len(order) < len(parent_of):
        raise BadShape("parent links must not form a cycle")
    return order


def shown_path(parent_of: dict[str, str | None], shown_leaf: str | None, where: str) -> set[str]:
    """Return the nodes from the shown leaf up to its root.

    Without a shown leaf the only leaf counts. Raises BadShape where that is no node or there are several; ``where``
    names the field. ``parent_of`` must be free of cycles.
    """
    if shown_leaf not in parent_of:
        leaves = parent_of.keys() - set(parent_of.values())
        if len(leaves) > 1:
            raise BadShape(f"{where} must name one of {len(leaves)} branches")
        shown_leaf = next(iter(leaves), None)
    path: set[str] = set()
    node = shown_leaf
    while node is not None and node in parent_of:
        path.add(node)
        node = parent_of[node]
    return path
