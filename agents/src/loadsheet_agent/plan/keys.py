"""The kinds of keys a plan has. Each kind reads a TOML value and gives its JSON Schema.

`key` declares one key of a table, with its kind, description and default, as a field of the record
the table becomes. Reading and the schema for editors both follow from that declaration.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Protocol

from loadsheet_agent.plan.place import Place

# What the service takes for a name; refused here rather than after an hour of measuring.
TEXT_LIMIT = 200
METADATA = "plan_key"

Schema = dict[str, Any]


class Kind(Protocol):
    """What a value may be: the limits of reading and of the schema at once."""

    def read(self, value: Any, place: Place) -> Any:
        """The value as the record holds it. Raises PlanError."""

    def schema(self) -> Schema:
        """JSON Schema of the value as the plan writes it."""


@dataclass(frozen=True)
class Key:
    """`example` is shown where a required key is missing, `usual` as the default in the schema.

    `usual` differs from the field's default where the default depends on other keys. A key with
    `is_required` is required although its field has a default, as fields behind inherited ones do.
    """

    kind: Kind
    description: str
    example: str = ""
    usual: Any = None
    is_required: bool = False


def key(kind: Kind, description: str, *, default: Any = dataclasses.MISSING, **more: Any) -> Any:
    """A dataclass field that is a key of a plan; without a default the key is required."""
    metadata = {METADATA: Key(kind, description, **more)}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=dict, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def keys_of(record: type) -> dict[str, tuple[Key, dataclasses.Field[Any]]]:
    """The keys that a record declares, by name, each with its field."""
    return {
        field.name: (field.metadata[METADATA], field)
        for field in dataclasses.fields(record)
        if METADATA in field.metadata
    }


def is_required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    has_default = field.default is not missing or field.default_factory is not missing
    return not has_default or field.metadata[METADATA].is_required


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class Flag:
    """true or false."""

    def read(self, value: Any, place: Place) -> bool:
        if not isinstance(value, bool):
            raise place.unexpected(value, "true or false")
        return value

    def schema(self) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Text:
    """One line. `pattern` is for editors; what it demands is checked after filling in."""

    limit: int = TEXT_LIMIT
    pattern: str = ""

    def read(self, value: Any, place: Place) -> str:
        if not isinstance(value, str):
            raise place.unexpected(value, "text in quotes")
        if not value.strip():
            raise place.wrong("is empty; give it a value or leave the line out.")
        if len(value) > self.limit or not value.isprintable():
            raise place.wrong(
                f"is {value[:40]!r}…; expected one line of at most {self.limit} characters."
            )
        return value

    def schema(self) -> Schema:
        return {"type": "string", **({"pattern": self.pattern} if self.pattern else {})}


@dataclass(frozen=True)
class LongText:
    """Any characters, line ends too; may be empty."""

    limit: int

    def read(self, value: Any, place: Place) -> str:
        if not isinstance(value, str):
            raise place.unexpected(value, "text in quotes")
        if len(value) > self.limit:
            raise place.wrong(f"has {len(value)} characters; expected at most {self.limit}.")
        return value

    def schema(self) -> Schema:
        return {"type": "string"}


@dataclass(frozen=True)
class Choice:
    """One of some texts."""

    choices: tuple[str, ...]

    def read(self, value: Any, place: Place) -> str:
        text = Text().read(value, place)
        if text not in self.choices:
            raise place.unexpected(text, f"one of {', '.join(self.choices)}")
        return text

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.choices)}


@dataclass(frozen=True)
class Integer:
    """A whole number of at least `least`."""

    least: int

    def read(self, value: Any, place: Place) -> int:
        if not _is_integer(value):
            raise place.unexpected(value, "a whole number")
        if value < self.least:
            raise place.wrong(f"is {value}; expected at least {self.least}.")
        return int(value)

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least}


@dataclass(frozen=True)
class Number:
    """At least `least`, or above `above`; at most `most`."""

    least: float | None = None
    above: float = -math.inf
    most: float = math.inf

    def read(self, value: Any, place: Place) -> float:
        if not _is_number(value):
            raise place.unexpected(value, "a number")
        # `not >=` also refuses nan, which TOML can write.
        if self.least is not None and not value >= self.least:
            raise place.wrong(f"is {value}; expected at least {self.least}.")
        if not self.above < value <= self.most:
            bound = "" if self.most == math.inf else f" and at most {self.most:g}"
            raise place.wrong(f"is {value}; expected a number above {self.above:g}{bound}.")
        return float(value)

    def schema(self) -> Schema:
        bounds = {"minimum": self.least, "exclusiveMinimum": self.above, "maximum": self.most}
        given = {
            name: bound
            for name, bound in bounds.items()
            if bound is not None and math.isfinite(bound)
        }
        return {"type": "number", **given}


@dataclass(frozen=True)
class Integers:
    """Whole numbers from `least` on, each once."""

    least: int = 1

    def read(self, value: Any, place: Place) -> tuple[int, ...]:
        numbers = _list(value, place)
        good = all(_is_integer(number) and number >= self.least for number in numbers)
        if not numbers or not good:
            raise place.unexpected(value, f"whole numbers such as [{self.least}, 8, 64]")
        return tuple(_distinct(numbers, place))

    def schema(self) -> Schema:
        items = {"type": "integer", "minimum": self.least}
        return {"type": "array", "items": items, "minItems": 1, "uniqueItems": True}


@dataclass(frozen=True)
class Numbers:
    """Finite numbers above 0, each once."""

    def read(self, value: Any, place: Place) -> tuple[float, ...]:
        numbers = _list(value, place)
        good = all(_is_number(number) and 0 < number < math.inf for number in numbers)
        if not numbers or not good:
            raise place.unexpected(value, "numbers above 0 such as [100, 500]")
        return tuple(float(number) for number in _distinct(numbers, place))

    def schema(self) -> Schema:
        items = {"type": "number", "exclusiveMinimum": 0}
        return {"type": "array", "items": items, "minItems": 1, "uniqueItems": True}


@dataclass(frozen=True)
class Arguments:
    """A program and its arguments, which no shell reads."""

    def read(self, value: Any, place: Place) -> tuple[str, ...]:
        arguments = _list(value, place)
        if not arguments or not all(isinstance(argument, str) for argument in arguments):
            raise place.unexpected(
                value, 'a list of texts such as ["python", "app.py"] (no shell reads it)'
            )
        return tuple(arguments)

    def schema(self) -> Schema:
        return {"type": "array", "items": {"type": "string"}, "minItems": 1}


@dataclass(frozen=True)
class Names:
    """Texts, each once; the list may be empty."""

    def read(self, value: Any, place: Place) -> tuple[str, ...]:
        texts = [Text(limit=2000).read(text, place) for text in _list(value, place)]
        return tuple(_distinct(texts, place))

    def schema(self) -> Schema:
        return {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


@dataclass(frozen=True)
class Commands:
    """Commands that are run one after the other, each a list of arguments."""

    def read(self, value: Any, place: Place) -> tuple[tuple[str, ...], ...]:
        return tuple(Arguments().read(argv, place) for argv in _list(value, place))

    def schema(self) -> Schema:
        return {"type": "array", "items": Arguments().schema()}


@dataclass(frozen=True)
class Matrix:
    """Lists of values by key: one server for each combination."""

    def read(self, value: Any, place: Place) -> dict[str, list[Any]]:
        for name, values in _table(value, place).items():
            if not isinstance(values, list) or not values:
                raise place.member(name).unexpected(values, "a list of values such as [1, 2]")
        return dict(value)

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}}


@dataclass(frozen=True)
class NumberedNames:
    """Whole numbers from 1 on by name, of which each is one of `names`."""

    names: tuple[str, ...]

    def read(self, value: Any, place: Place) -> dict[str, int]:
        for name, number in _table(value, place).items():
            if name not in self.names:
                raise place.wrong(f"has {name!r}; expected one of {', '.join(self.names)}.")
            Integer(least=1).read(number, place.member(name))
        return dict(value)

    def schema(self) -> Schema:
        number = Integer(least=1).schema()
        return {
            "type": "object",
            "properties": dict.fromkeys(self.names, number),
            "additionalProperties": False,
        }


@dataclass(frozen=True)
class AnyTable:
    """A table whose keys are read elsewhere."""

    def read(self, value: Any, place: Place) -> dict[str, Any]:
        return dict(_table(value, place))

    def schema(self) -> Schema:
        return {"type": "object"}


@dataclass(frozen=True)
class Texts:
    """Texts by name."""

    def read(self, value: Any, place: Place) -> dict[str, str]:
        for name, text in _table(value, place).items():
            if not isinstance(text, str):
                raise place.member(name).unexpected(text, "text in quotes")
        return dict(value)

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": {"type": "string"}}


@dataclass(frozen=True)
class Scalars:
    """Texts, numbers and flags by name; `is_text`: each becomes a text."""

    is_text: bool = False

    def read(self, value: Any, place: Place) -> dict[str, Any]:
        for name, member in _table(value, place).items():
            # TOML has nan and inf, JSON has not.
            endless = isinstance(member, float) and not math.isfinite(member)
            if not isinstance(member, (str, int, float, bool)) or (endless and not self.is_text):
                raise place.member(name).unexpected(member, "text, a number, true or false")
        return {name: str(member) if self.is_text else member for name, member in value.items()}

    def schema(self) -> Schema:
        return {
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        }


def _list(value: Any, place: Place) -> list[Any]:
    if not isinstance(value, list):
        raise place.unexpected(value, "a list")
    return value


def _table(value: Any, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.unexpected(value, "a table")
    return value


def _distinct(numbers: list[Any], place: Place) -> list[Any]:
    if len(set(numbers)) != len(numbers):
        raise place.wrong(f"is {numbers!r}; give each number once.")
    return numbers
