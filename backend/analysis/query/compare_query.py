"""The question a comparison answers, as it appears in a link.

One canonical spelling: keys and values sorted, defaults left out, so equal views have equal links.
"""

from __future__ import annotations

import difflib
import math
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from urllib.parse import parse_qsl

from backend.analysis.query.field import UNKNOWN, Syntax, number_text
from backend.analysis.query.fields import AXES, FIELDS, FILTERS, GROUPING
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.view_ids import VIEWS
from backend.errors import InvalidInput
from backend.links import query_string

LOOPS = ("open", "closed", "unknown")
MAX_VALUES = 100
MAX_FIELDS = 500
MAX_LENGTH = 300
# Of a number of bytes, as the column holds it.
MAX_DIGITS = 18
# The largest loads that a run can have, and the largest latency to ask about, in µs.
MAX_CONNECTIONS, MAX_RATE, MAX_LATENCY = 2**31 - 1, 10**15, 10**12
# Reads the text of a field, whose name is for the message.
_Reader = Callable[[str, str], Any]
# What Python reads as a number is more: 1_000, inf, digits of other scripts. Digits can be taken in
# one way only: to try each division of 8,000 of them took 0.9 s.
_DECIMAL = re.compile(
    r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE
)

_MANY = (*FILTERS, "series", "hidden", "zoom")
QUERY_FIELDS = (
    *_MANY,
    *("workspace", "since", "until", "metric", "x", "facet", "at", "baseline", "limit"),
    *("override", "view", "logx", "logy"),
)
# The places that an enlarged axis begins and ends at.
MAX_ENDS = 2
# How figures are drawn that are there already: what a reader may still choose of a result set.
DRAWING = ("metric", "view", "logx", "logy", "hidden", "zoom")


class QueryError(InvalidInput):
    """A field or value that is not understood: which, what was got, what is allowed."""

    def __init__(self, field: str, got: str, allowed: str) -> None:
        self.field, self.got, self.allowed = field, got, allowed
        super().__init__(
            f"{field}: got {quoted(got)}, allowed is {allowed}.",
            hint=f"Correct or leave out {field[:80]}.",
        )

    @property
    def members(self) -> dict[str, Any]:
        """The field, what was got and what is allowed."""
        return {"field": self.field[:80], "got": self.got[:300], "allowed": self.allowed}


class UnknownField(QueryError):
    """A field that is not among `fields`, by default those of a comparison."""

    def __init__(self, field: str, fields: Sequence[str] = QUERY_FIELDS) -> None:
        super().__init__(field, field, ", ".join(fields) or "none")
        close = difflib.get_close_matches(field, fields, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        choice = f"Fields are {self.allowed}." if fields else "This address takes no fields."
        self.args = (f"There is no field {quoted(field)}. {choice}{hint}",)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareQuery:
    """Which trials, which metric, at which load point, against which baseline."""

    # Any of the values of a field, and all of the fields; by the field's id, sorted.
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    workspace: str | None = None
    since: date | None = None
    until: date | None = None
    # The view.
    metric: str = "throughput"
    x: str = "connections"
    # Fields that make a series; empty is all that is not on the axis.
    series: tuple[str, ...] = ()
    facet: str | None = None
    at: str | None = None
    baseline: str | None = None
    # µs: the highest load with p99 under this is asked for.
    limit: float | None = None
    override: bool = False
    view: str = "sweep"
    # None: the page decides by the span of the load points.
    logx: bool | None = None
    logy: bool = False
    # Ids of series that are not drawn; they stay in the ranking and in the tables.
    hidden: tuple[str, ...] = ()
    # Both ends of the part of the x axis that is drawn, in any order.
    zoom: tuple[str, ...] = ()

    @classmethod
    def parse(cls, source: str | Mapping[str, Any]) -> CompareQuery:
        """From a query string, a mapping of values or lists, or a QueryDict."""
        given = _gather(source)
        readers = _readers(given.get("x", ["connections"])[0])
        values = {name: _read_field(name, given[name], readers) for name in given}
        filters = {name: values.pop(name) for name in FILTERS if name in values}
        query = cls(filters=filters, **values)
        if query.since and query.until and query.until < query.since:
            raise QueryError("until", str(query.until), f"{query.since} (since) or a later day")
        return query

    def wanted(self, name: str) -> tuple[str, ...]:
        """The values that the filter of a field keeps; none where it keeps all."""
        return self.filters.get(name, ())

    @property
    def run_ids(self) -> tuple[uuid.UUID, ...]:
        return tuple(uuid.UUID(text) for text in self.wanted("run"))

    def with_filters(self, **changed: Iterable[object]) -> CompareQuery:
        """The query with these values of some filters; a filter without a value is left out."""
        values = {name: tuple(sorted(map(str, wanted))) for name, wanted in changed.items()}
        filters = {name: wanted for name, wanted in {**self.filters, **values}.items() if wanted}
        return replace(self, filters=filters)

    def canonical(self) -> str:
        """The one spelling of this query, without the leading question mark."""
        pairs = [(name, value) for name in sorted(QUERY_FIELDS) for value in self._values(name)]
        return query_string(pairs)

    def _values(self, name: str) -> list[str]:
        if name in FILTERS:
            return sorted(self.wanted(name))
        value = getattr(self, name)
        if value == _DEFAULTS[name]:
            return []
        if isinstance(value, tuple):
            return sorted(value)
        if isinstance(value, bool):
            return [str(int(value))]
        return [number_text(value) if isinstance(value, float) else str(value)]


_DEFAULTS: dict[str, Any] = {
    name: CompareQuery.__dataclass_fields__[name].default
    for name in QUERY_FIELDS
    if name not in FILTERS
}


def _gather(source: str | Mapping[str, Any]) -> dict[str, list[str]]:
    """Every field with its values that are not empty."""
    if isinstance(source, str):
        pairs = _pairs(source.lstrip("?"))
    elif hasattr(source, "lists"):  # Django's QueryDict gives only the last value by [].
        pairs = [(name, value) for name, values in source.lists() for value in values]
    else:
        pairs = [(name, item) for name, value in source.items() for item in _listed(value)]
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if name not in QUERY_FIELDS:
            raise UnknownField(name)
        # A form sends every field it has; an empty one asks for nothing.
        if str(value) != "":
            given.setdefault(name, []).append(str(value))
    return given


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise QueryError("query", text, f"at most {MAX_FIELDS} fields") from None


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def _readers(axis: str) -> Mapping[str, _Reader]:
    """How the values of each field are read; a place on an axis of numbers is a number."""
    is_number = axis in FIELDS and FIELDS[axis].kind == "number"
    return {**_READERS, "at": _place} if is_number else _READERS


def _read_field(name: str, texts: Sequence[str], readers: Mapping[str, _Reader]) -> Any:
    """The values of a field that takes many, each once and sorted; the value of another field."""
    read = readers.get(name, _text)
    if name not in _MANY:
        return _single(name, [read(name, text) for text in texts])
    most = MAX_ENDS if name == "zoom" else MAX_VALUES
    if len(texts) > most:
        raise QueryError(name, f"{len(texts)} values", f"at most {most} values")
    return tuple(sorted({read(name, text) for text in texts}))


def _single(name: str, values: Sequence[Any]) -> Any:
    if len(set(values)) > 1:
        raise QueryError(name, " and ".join(sorted(map(str, set(values)))), "one value")
    return values[0]


def _text(name: str, value: str) -> str:
    if len(value) > MAX_LENGTH or "\0" in value:
        raise QueryError(name, value, f"text of at most {MAX_LENGTH} characters without NUL")
    return value


def _run_id(name: str, value: str) -> str:
    try:
        return str(uuid.UUID(value))
    except ValueError:
        raise QueryError(name, value, "the id of a run (a UUID)") from None


def _number(allowed: str) -> Callable[[str, str], float]:
    def read(name: str, value: str) -> float:
        number = float(value) if _DECIMAL.fullmatch(value) else math.nan
        if not (math.isfinite(number) and number > 0):
            raise QueryError(name, value, f"{allowed} (a number above 0)")
        return number

    return read


def _limit(name: str, value: str) -> float:
    limit = _number("a limit in µs")(name, value)
    if limit > MAX_LATENCY:
        raise QueryError(name, value, f"a limit in µs, up to {MAX_LATENCY}")
    return limit


def _place(name: str, value: str) -> str:
    """A place on an axis of numbers as its one text; nothing is a payload, too."""
    if value == "0":
        return value
    return number_text(_number("a load point")(name, value))


def _load(name: str, value: str) -> str:
    """A number as its one text, or `unknown`."""
    if value == UNKNOWN:
        return value
    load = _number("a load point")(name, value)
    if name == "connections" and not (load.is_integer() and load <= MAX_CONNECTIONS):
        raise QueryError(name, value, f"a whole number up to {MAX_CONNECTIONS}, or {UNKNOWN}")
    if load > MAX_RATE:
        raise QueryError(name, value, f"a number up to {MAX_RATE}, or {UNKNOWN}")
    return number_text(load)


def _size(name: str, value: str) -> str:
    digits = value.isascii() and value.isdecimal() and len(value) <= MAX_DIGITS
    if value != UNKNOWN and not digits:
        raise QueryError(name, value, f"a number of bytes, or {UNKNOWN}")
    return value if value == UNKNOWN else str(int(value))


def _label(name: str, value: str) -> str:
    if ":" not in value:
        raise QueryError(name, value, "key:value, a label and its text")
    return _text(name, value)


def _day(name: str, value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise QueryError(name, value, "a date like 2026-03-02") from None


def _flag(name: str, value: str) -> bool:
    if value not in ("0", "1"):
        raise QueryError(name, value, "0 or 1")
    return value == "1"


def _one_of(allowed: Sequence[str]) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if value not in allowed:
            raise QueryError(name, value, ", ".join(allowed))
        return value

    return read


def _series_id(name: str, value: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{8}", value):
        raise QueryError(name, value, "the id of a series (8 hexadecimal digits)")
    return value


_SYNTAX: Mapping[Syntax, _Reader] = {
    "text": _text,
    "run id": _run_id,
    "bytes": _size,
    "load": _load,
    "loop": _one_of(LOOPS),
    "label": _label,
}
_READERS: Mapping[str, _Reader] = {
    **{name: _SYNTAX[FIELDS[name].syntax] for name in FILTERS},
    "since": _day,
    "until": _day,
    "metric": _one_of(tuple(METRICS)),
    "x": _one_of(AXES),
    "series": _one_of(GROUPING),
    "facet": _one_of(GROUPING),
    "limit": _limit,
    "override": _flag,
    "view": _one_of(VIEWS),
    "baseline": _series_id,
    "hidden": _series_id,
    "logx": _flag,
    "logy": _flag,
}


def quoted(value: str) -> str:
    """What was got, as it appears in a sentence."""
    return f"“{value[:80]}{'…' if len(value) > 80 else ''}”"
