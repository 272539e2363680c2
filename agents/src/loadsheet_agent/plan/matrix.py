"""One server in several versions, interpreters and settings: a table for each combination."""

from __future__ import annotations

import itertools
from typing import Any

from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.keys import Matrix, keys_of
from loadsheet_agent.plan.place import Place
from loadsheet_agent.plan.server_spec import ServerSpec

# Words that every start of a server fills in: whether it uses them decides what is recorded.
FILLED_LATER = ("workers", "backlog")


def with_matrices(table: dict[str, Any], place: Place) -> list[dict[str, Any]]:
    """The table without its matrix, once for each combination of the matrix's values.

    A value is set as the key of its name, or as configuration where there is no such key.
    """
    if "matrix" not in table:
        return [table]
    matrix = Matrix().read(table["matrix"], place.at("matrix"))
    rest = {name: value for name, value in table.items() if name != "matrix"}
    return [
        _combine(rest, dict(zip(matrix, values))) for values in itertools.product(*matrix.values())
    ]


def _combine(table: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    keys = keys_of(ServerSpec)
    words = {
        name: str(value)
        for name, value in chosen.items()
        if name not in FILLED_LATER and not isinstance(value, list)
    }
    filled: dict[str, Any] = placeholders.fill_value(table, words)
    settings = {name: value for name, value in chosen.items() if name not in keys}
    if settings:
        filled["configuration"] = {**filled.get("configuration", {}), **settings}
    filled.update({name: value for name, value in chosen.items() if name in keys})
    label = ", ".join(f"{name} {_text(value)}" for name, value in chosen.items())
    return {**filled, "variant": f"{table.get('variant', table.get('name', ''))} ({label})"}


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
