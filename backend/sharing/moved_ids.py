"""Ids of rows that were imported from an archive of another workspace.

An import gives every row another id, computed from the former one and a random namespace. A frozen
document keeps its bytes, so it names the former ids; they are replaced when it is read for a page.
"""

import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any

_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
# Members of a document that hold ids, or addresses with ids. A label may look like an id.
_WITH_IDS = frozenset({"id", "upload", "url", "cell", "cells", "trials", "run", "runs"})


def moved_id(id_: uuid.UUID, namespaces: Sequence[uuid.UUID]) -> uuid.UUID:
    """The id of a row after it was imported under each of the namespaces, in turn."""
    for namespace in namespaces:
        id_ = uuid.uuid5(namespace, str(id_))
    return id_


def moved_text(text: str, move: Callable[[uuid.UUID], uuid.UUID]) -> str:
    """The text with every id in it moved."""
    return _UUID.sub(lambda match: str(move(uuid.UUID(match[0]))), text)


def moved_document(document: dict[str, Any], namespaces: Sequence[str]) -> dict[str, Any]:
    """A frozen document with the ids that its rows have in this workspace."""
    order = [uuid.UUID(namespace) for namespace in namespaces]
    cited = {run["id"] for run in document.get("runs", ())}

    def move(id_: uuid.UUID) -> uuid.UUID:
        return moved_id(id_, order)

    def move_cited(id_: uuid.UUID) -> uuid.UUID:
        return move(id_) if str(id_) in cited else id_

    moved: dict[str, Any] = _moved(document, move, move_cited, has_ids=False)
    return moved


def _moved(
    value: Any,
    move: Callable[[uuid.UUID], uuid.UUID],
    move_cited: Callable[[uuid.UUID], uuid.UUID],
    *,
    has_ids: bool,
) -> Any:
    if isinstance(value, str):
        return moved_text(value, move) if has_ids else value
    if isinstance(value, list):
        return [_moved(entry, move, move_cited, has_ids=has_ids) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        name: moved_text(member, move_cited)
        # Filters of a query may name labels.
        if name == "query" and isinstance(member, str)
        else _moved(member, move, move_cited, has_ids=name in _WITH_IDS)
        for name, member in value.items()
    }
