"""Reading a table of a plan so that each mistake becomes one sentence with its place."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from loadsheet_agent.errors import PlanError

Number = TypeVar("Number", int, float)

# What the service takes for a name; told here rather than after an hour of measuring.
TEXT_LIMIT = 200

KIND_WORDS = {
    str: "text in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


class Table:
    """One table of the plan; `done` refuses the keys nobody asked for."""

    def __init__(self, data: Mapping[str, Any], place: str) -> None:
        self._data = data
        self._asked: list[str] = []
        self.place = place

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def error(self, text: str) -> PlanError:
        return PlanError(f"{self.place}: {text}")

    def _get(self, key: str, kind: type) -> Any:
        self._asked.append(key)
        value = self._data.get(key)
        if value is None:
            return None
        allowed: tuple[type, ...] = (int, float) if kind is float else (kind,)
        wrong_bool = isinstance(value, bool) and kind is not bool
        if wrong_bool or not isinstance(value, allowed):
            raise self.error(f"{key} is {value!r}; expected {KIND_WORDS[kind]}.")
        return value

    def text(self, key: str, limit: int = TEXT_LIMIT) -> str | None:
        value: str | None = self._get(key, str)
        if value is None:
            return None
        if not value.strip():
            raise self.error(f"{key} is empty; give it a value or leave the line out.")
        if len(value) > limit or not value.isprintable():
            raise self.error(f"{key} is {value[:40]!r}…; expected one line up to {limit} long.")
        return value

    def required_text(self, key: str, example: str) -> str:
        value = self.text(key)
        if value is None:
            raise self.error(f"{key} is missing; add a line such as {key} = {example}.")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self._get(key, bool)
        return default if value is None else bool(value)

    def integer(self, key: str, default: int, least: int) -> int:
        value = self.optional_integer(key, least)
        return default if value is None else value

    def optional_integer(self, key: str, least: int) -> int | None:
        value: int | None = self._get(key, int)
        return None if value is None else self._at_least(key, value, least)

    def number(self, key: str, default: float, least: float) -> float:
        value = self._get(key, float)
        return default if value is None else self._at_least(key, float(value), least)

    def _at_least(self, key: str, value: Number, least: float) -> Number:
        # `not >=` also refuses nan, which TOML can spell.
        if not value >= least:
            raise self.error(f"{key} is {value}; expected at least {least}.")
        return value

    def words(self, key: str) -> tuple[str, ...] | None:
        value = self._get(key, list)
        if value is None:
            return None
        if not value or not all(isinstance(word, str) for word in value):
            raise self.error(
                f'{key} is {value!r}; expected a list of texts such as ["python", "app.py"] '
                "(no shell reads it)."
            )
        return tuple(value)

    def integers(self, key: str) -> tuple[int, ...] | None:
        value = self._get(key, list)
        if value is None:
            return None
        good = all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in value)
        if not value or not good:
            raise self.error(f"{key} is {value!r}; expected whole numbers such as [1, 8, 64].")
        if len(set(value)) != len(value):
            raise self.error(f"{key} is {value!r}; each number may stand there once.")
        return tuple(value)

    def numbers(self, key: str) -> tuple[float, ...] | None:
        value = self._get(key, list)
        if value is None:
            return None
        numeric = all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in value)
        if not value or not numeric or not all(0 < n < math.inf for n in value):
            raise self.error(f"{key} is {value!r}; expected numbers above 0 such as [100, 500].")
        if len(set(value)) != len(value):
            raise self.error(f"{key} is {value!r}; each number may stand there once.")
        return tuple(float(n) for n in value)

    def optional_number(self, key: str, above: float, most: float = math.inf) -> float | None:
        value: float | None = self._get(key, float)
        if value is None:
            return None
        if not above < value <= most:
            bound = "" if most == math.inf else f" and at most {most:g}"
            raise self.error(f"{key} is {value}; expected a number above {above:g}{bound}.")
        return float(value)

    def required_number(self, key: str, above: float, example: str) -> float:
        value = self.optional_number(key, above)
        if value is None:
            raise self.error(f"{key} is missing; add a line such as {key} = {example}.")
        return value

    def long_text(self, key: str, limit: int) -> str | None:
        """Text of any characters, line ends too; empty is a value."""
        value: str | None = self._get(key, str)
        if value is not None and len(value) > limit:
            raise self.error(f"{key} has {len(value)} characters; expected at most {limit}.")
        return value

    def texts(self, key: str) -> Mapping[str, str]:
        found = self.mapping(key)
        for name, value in found.items():
            if not isinstance(value, str):
                raise self.error(f"{key}.{name} is {value!r}; expected text in quotes.")
        return found

    def optional_table(self, key: str) -> Table | None:
        value = self._get(key, dict)
        return None if value is None else Table(value, f"{self.place}: [{key}]")

    def keys_asked(self) -> frozenset[str]:
        return frozenset(self._asked)

    def mapping(self, key: str) -> Mapping[str, Any]:
        return self._get(key, dict) or {}

    def tables(self, key: str, example: str) -> list[Table]:
        value = self._get(key, list)
        if not value or not all(isinstance(item, dict) for item in value):
            raise self.error(f"no [[{key}]] found; add at least one, such as {example}.")
        return [
            Table(item, f"{self.place}: {key}[{number}]") for number, item in enumerate(value, 1)
        ]

    def table(self, key: str) -> Table:
        return Table(self._get(key, dict) or {}, f"{self.place}: [{key}]")

    def choice(self, key: str, default: str, choices: Iterable[str]) -> str:
        value = self.text(key) or default
        if value not in choices:
            raise self.error(f"{key} is {value!r}; expected one of {', '.join(choices)}.")
        return value

    def done(self) -> None:
        for key in self._data:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(self._asked)}."
                raise self.error(f"the key {key} is not known; {hint}")
