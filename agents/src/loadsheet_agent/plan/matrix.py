"""One server in several versions, interpreters and settings: a table for each combination."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.keys import Matrix, keys_of
from loadsheet_agent.plan.place import Place
from loadsheet_agent.plan.server_spec import ServerSpec
from loadsheet_agent.plan.server_texts import SERVER_TEXTS

# Words that every start of a server fills in: whether it uses them decides what is recorded, and
# {interpreter} is the path of a program.
FILLED_LATER = ("workers", "backlog", "interpreter")
# In a runtime, it tells interpreters apart.
INTERPRETER_VERSION = "{interpreter_version}"
# Keys that are recorded with the server or its trials. Values of others become configuration.
RECORDED = frozenset(
    {
        *(*FILLED_LATER, *SERVER_TEXTS, "name", "version", "configuration"),
        *("load", "workloads", "paths"),
    }
)


def with_matrices(table: dict[str, Any], place: Place) -> list[dict[str, Any]]:
    """The table without its matrix, once for each combination of the matrix's values.

    A value is set as the key of its name. It is recorded, so that no two combinations are recorded
    as one server: as configuration, where neither the version nor the runtime tells it.
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
    filled.update({name: value for name, value in chosen.items() if name in keys})
    settings = _settings(chosen)
    if "interpreter" in chosen:
        interpreter = str(chosen["interpreter"])
        if INTERPRETER_VERSION not in str(filled.setdefault("runtime", _runtime(interpreter))):
            settings["interpreter"] = interpreter
    if settings:
        filled["configuration"] = {**filled.get("configuration", {}), **settings}
    label = ", ".join(f"{name} {_text(value)}" for name, value in chosen.items())
    return {**filled, "variant": f"{table.get('variant', table.get('name', ''))} ({label})"}


def _settings(chosen: dict[str, Any]) -> dict[str, Any]:
    """The values that become configuration; lists and tables as a text."""
    return {
        name: _text(value) if isinstance(value, (list, dict)) else value
        for name, value in chosen.items()
        if name not in RECORDED
    }


def _runtime(interpreter: str) -> str:
    """Such as "Python {interpreter_version}", for 3.11, or "pypy3 {interpreter_version}"."""
    name = "Python" if interpreter[:1].isdigit() else Path(interpreter).name
    return f"{name} {INTERPRETER_VERSION}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name}={member}" for name, member in value.items()]
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
