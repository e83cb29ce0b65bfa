"""Requests to a served model in MLflow's table forms: one row a talk, one prediction a row.

Source: MLflow documentation, scoring server: ``dataframe_records``, ``dataframe_split``, ``inputs`` or ``instances``.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Talk
from pipelines.intake.prefix_tree import PrefixTree
from pipelines.intake.readers.traced_call import read_traced_call
from pipelines.intake.shape import BadShape, objects, optional_list, optional_object
from schemas.records import DeadReason

ROW_KEYS = ("dataframe_records", "dataframe_split", "inputs", "instances")
TALK_COLUMNS = ("messages", "prompt", "question", "query", "input", "text")


def is_served_table(body: Any) -> bool:
    """Tell by one of the table forms at the top of the request body."""
    return isinstance(body, dict) and any(key in body for key in ROW_KEYS)


def read_served_table(body: dict[str, Any], response: Any) -> Talk:
    """Read each row's messages or prompt with its prediction, as branches of one talk.

    Raises BadShape: ``no_messages`` for rows without such a column, ``bad_shape`` where predictions are not one a row.
    """
    rows = _rows(body)
    predictions = _predictions(response)
    if predictions and len(predictions) != len(rows):
        raise BadShape(f"predictions must be one a row, found {len(predictions)} for {len(rows)}")
    tree = PrefixTree()
    for index, row in enumerate(rows):
        asked = row if isinstance(row, str) else _talk_column(row)
        tree.add(read_traced_call(asked, predictions[index] if predictions else None).messages)
    return Talk(tree.messages)


def _rows(body: dict[str, Any]) -> list[Any]:
    if "dataframe_records" in body:
        return list(objects(body, "dataframe_records"))
    if "dataframe_split" in body:
        table = optional_object(body, "dataframe_split") or {}
        columns = optional_list(table, "columns")
        if not all(isinstance(name, str) for name in columns):
            raise BadShape("each of columns must be a string")
        rows = optional_list(table, "data")
        if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
            raise BadShape("each of data must be a list with a value for each of columns")
        return [dict(zip(columns, row, strict=True)) for row in rows]
    key = "inputs" if "inputs" in body else "instances"
    value = body[key]
    if isinstance(value, dict):
        return _rows_of_columns(value)
    return [value] if isinstance(value, str) else optional_list(body, key)


def _rows_of_columns(columns: dict[str, Any]) -> list[Any]:
    """Return the rows of ``{"prompt": ["a", "b"]}``; an object whose columns are no lists is one row."""
    told = [name for name in TALK_COLUMNS if name in columns]
    if told and told[0] != "messages" and isinstance(columns[told[0]], list):
        return [{told[0]: value} for value in columns[told[0]]]
    return [columns]


def _talk_column(row: Any) -> dict[str, Any]:
    if isinstance(row, dict):
        for name in TALK_COLUMNS:
            if isinstance(row.get(name), (str, list)) and row[name]:
                return {"messages" if isinstance(row[name], list) else name: row[name]}
    raise BadShape(f"a row holds none of the columns {', '.join(TALK_COLUMNS)}", DeadReason.NO_MESSAGES)


def _predictions(response: Any) -> list[Any]:
    if response is None:
        return []
    if isinstance(response, dict):
        if "predictions" not in response:
            return [response]
        response = response["predictions"]
    return response if isinstance(response, list) else [response]
