"""Tables of a plan as records: reading them, and their JSON Schema."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan.keys import Key, Schema, is_required, keys_of
from loadsheet_agent.plan.place import Place

Record = TypeVar("Record")


@dataclass(frozen=True)
class Subtable:
    """One table, such as `[load]`. `exclusive`: pairs of keys of which one may be given."""

    record: type
    exclusive: tuple[tuple[str, str], ...] = ()

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, dict):
            raise place.unexpected(value, "a table")
        return read_table(value, self.record, place.subtable(), self.exclusive)

    def schema(self) -> Schema:
        return table_schema(self.record, self.exclusive)


@dataclass(frozen=True)
class Tables:
    """A list of named tables, such as `[[servers]]`. `copies`: how many may share a label.

    `instead`: a key that brings the required keys with it.
    """

    record: type
    example: str
    exclusive: tuple[tuple[str, str], ...] = ()
    copies: int = 1
    instead: str = ""

    def read(self, value: Any, place: Place) -> tuple[Any, ...]:
        is_list = isinstance(value, list) and all(isinstance(table, dict) for table in value)
        if not is_list or not value:
            raise missing_tables(place, self)
        records: tuple[Any, ...] = tuple(
            read_table(table, self.record, place.item(number), self.exclusive)
            for number, table in enumerate(value, 1)
        )
        names = [record.label for record in records]
        for name in names:
            if names.count(name) > self.copies:
                number = "two" if self.copies == 1 else "more than two"
                raise place.error(
                    f"{number} {place.key} are named {name!r}; give each its own name."
                )
        return records

    def schema(self) -> Schema:
        items = {
            **table_schema(self.record, self.exclusive, self.instead),
            "description": (self.record.__doc__ or "").partition("\n")[0],
        }
        return {"type": "array", "items": items, "minItems": 1}


def read_table(
    data: Mapping[str, Any],
    record: type[Record],
    place: Place,
    exclusive: tuple[tuple[str, str], ...] = (),
) -> Record:
    """The table as a record. Raises PlanError for a wrong, missing or unknown key."""
    keys = keys_of(record)
    values = {}
    for name, (key, field) in keys.items():
        if name in data:
            values[name] = key.kind.read(data[name], place.at(name))
        elif is_required(field):
            raise _missing(key, place.at(name))
    for name in data:
        if name not in keys:
            raise _unknown(name, list(keys), place)
    for first, second in exclusive:
        if first in data and second in data:
            raise place.error(f"both {first} and {second} are given; keep one of them.")
    return record(**values)


def table_schema(
    record: type, exclusive: tuple[tuple[str, str], ...] = (), instead: str = ""
) -> Schema:
    """JSON Schema of a table, without a description."""
    keys = keys_of(record)
    required = [name for name, (_, field) in keys.items() if is_required(field)]
    return {
        "type": "object",
        "properties": {
            name: _key_schema(key, field.default) for name, (key, field) in keys.items()
        },
        "additionalProperties": False,
        **_required_schema(required, instead),
        **(
            {"not": {"anyOf": [{"required": list(pair)} for pair in exclusive]}}
            if exclusive
            else {}
        ),
    }


def _required_schema(required: list[str], instead: str) -> Schema:
    if not required:
        return {}
    if not instead:
        return {"required": required}
    return {"anyOf": [{"required": required}, {"required": [instead]}]}


def _key_schema(key: Key, default: Any) -> Schema:
    schema = {**key.kind.schema(), "description": key.description}
    shown = default if key.usual is None else key.usual
    if isinstance(shown, (str, int, float, list)):
        schema["default"] = shown
    return schema


def _missing(key: Key, place: Place) -> PlanError:
    if isinstance(key.kind, Tables):
        return missing_tables(place, key.kind)
    return place.wrong(f"is missing; add a line such as {place.key} = {key.example}.")


def missing_tables(place: Place, kind: Tables) -> PlanError:
    return place.error(f"no [[{place.key}]] found; add at least one, such as {kind.example}.")


def _unknown(name: str, names: list[str], place: Place) -> PlanError:
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(names)}."
    return place.error(f"the key {name} is not known; {hint}")
