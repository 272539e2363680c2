"""The record of a field, how a value of a field is written, and the order of values for people."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Literal, Protocol

from backend.analysis.query.records import LoadedCell, LoadedSeries
from backend.runs.tables.happening import happened_at

Value = str | int | float | None
# What a field belongs to: where it is filtered, and where its values are read.
Level = Literal["series", "run", "load"]
# How a value is spelled in a link.
Syntax = Literal["text", "run id", "bytes", "load", "loop", "label"]
# What a difference means. test: what a comparison is about · must: never comparable · axis:
# comparable when it is the only difference · note: a caveat.
Rule = Literal["test", "must", "axis", "note"]
UNKNOWN = "unknown"
# The rank of a field that comes after those with a rank.
LAST = 1_000
_DIGITS = re.compile("[0-9]+")
# The comma before three digits of a whole number.
_WITHIN_NUMBER = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


class OfRun(Protocol):
    """What a run adds to a comparison."""

    @property
    def started_at(self) -> datetime | None: ...
    @property
    def recorded_at(self) -> datetime: ...
    @property
    def labels(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One thing that results differ in. Only the first three attributes are always needed.

    `id`: its key in a link. `label`: its heading. `noun`, `plural`: its names in a sentence.
    `help`: what its filter keeps, for the description of the API; empty if it is no filter.
    """

    id: str
    label: str
    noun: str
    help: str = ""
    level: Level = "series"
    # The value of a series, None where it is unknown: by its attribute, or read; for a field with
    # several values, all.
    path: str = ""
    read: Callable[[LoadedSeries], Value] = lambda _: None
    read_all: Callable[[LoadedSeries], Sequence[Value]] | None = None
    # The value of a run, and the column and attribute of a cell.
    read_run: Callable[[OfRun], str | None] | None = None
    column: str = ""
    # Other spellings of a value that a link may have; slugs are read by former_names.
    aliases: Callable[[LoadedSeries], Sequence[str]] = lambda _: ()
    kind: Literal["category", "number"] = "category"
    syntax: Syntax = "text"
    plural: str = ""
    # Whether it can be the axis, make series and divide the chart into panels.
    is_axis: bool = True
    # Whether its names have an order that a line may follow, as versions have and hosts have not.
    has_order: bool = False
    # A place on its axis in a sentence; empty: `at <name> <place>`.
    at: str = ""

    # Identity: what two results must share to be of one series. Fields of runs make series only
    # where a link names them.
    is_identity: bool = True
    # The key in the ids of series, where it is not the field's id: links keep these ids.
    part: str = ""
    # What is compared, where that is not the value.
    identify: Callable[[LoadedCell], object] | None = None
    # The server or workload that it is a property of: the id of that stands for all of them.
    of: Literal["server", "workload", ""] = ""
    # The fields that it goes along with: on their axes it makes no series.
    along: tuple[str, ...] = ()
    # The fields that make series with it, where a link names it.
    splits: tuple[str, ...] = ()

    # What a difference means; None: `factors` judges its details alone. `judge`: what is judged,
    # where that is not the value. `remedy`: what to choose one of, where it must not differ.
    rule: Rule | None = None
    judge: Callable[[LoadedCell], object] | None = None
    remedy: str | None = None

    # How it names a series, where that is not the value; `apart`: among series of one name.
    text: Callable[[LoadedCell], str] | None = None
    apart: str = "{}"
    # Which fields name a series first, and which tell series of one name apart first. None: never.
    name_rank: int | None = LAST
    apart_rank: int | None = LAST

    @property
    def name(self) -> str:
        """Its name on the page, beside a chooser or in a chip."""
        return self.label.lower()

    @property
    def is_ordered(self) -> bool:
        """Whether a line between two places on its axis means something."""
        return self.has_order or self.kind == "number"

    @property
    def is_filter(self) -> bool:
        return bool(self.help)

    @property
    def identity(self) -> str:
        """The key of what it adds to the identity of a series."""
        return self.part or self.id

    @property
    def several(self) -> str:
        """The noun for more than one."""
        return self.plural or f"{self.noun}s"


def values_of(field: Field, series: LoadedSeries) -> Sequence[Value]:
    """The values of a series as they appear in a link; None is unknown."""
    if field.path:
        return (attrgetter(field.path)(series),)
    return field.read_all(series) if field.read_all else (field.read(series),)


def value_of(field: Field, cell: LoadedCell) -> Value:
    """The one value of a cell on an axis; several settings of a configuration stand together."""
    return reader_of(field)(cell)


def reader_of(field: Field) -> Callable[[LoadedCell], Value]:
    """Reads the one value of each of many cells."""
    if field.column:
        return attrgetter(field.column)
    if (read_run := field.read_run) is not None:
        return lambda cell: read_run(cell.run)
    if field.path:
        return attrgetter(f"series.{field.path}")
    if field.read_all is not None:
        return lambda cell: value_of_series(field, cell.series)
    read = field.read
    return lambda cell: read(cell.series)


def value_of_series(field: Field, series: LoadedSeries) -> Value:
    """The one value of a series on an axis."""
    values = values_of(field, series)
    if field.kind == "number" or len(values) == 1:
        return values[0]
    return ", ".join(text_of(value) for value in values if value is not None)


def identity_of(field: Field) -> Callable[[LoadedCell], object]:
    """Reads what a cell must share in this field with the other cells of its series."""
    return field.identify or reader_of(field)


def spellings_of(field: Field, series: LoadedSeries) -> frozenset[str]:
    """Every spelling in a link that means a value of this series."""
    return frozenset((*texts_of(field, series), *field.aliases(series)))


def texts_of(field: Field, series: LoadedSeries) -> tuple[str, ...]:
    """The values of a series as they appear in a link."""
    return tuple(UNKNOWN if value is None else text_of(value) for value in values_of(field, series))


def text_of(value: str | float) -> str:
    """A value as it appears in a link and on an axis of categories."""
    if isinstance(value, float):
        return number_text(value)
    return str(value)


def number_text(value: float) -> str:
    """A load point in full: 64, 1234567, 0.5; no exponent that a browser would spell otherwise."""
    return f"{value:.0f}" if float(value).is_integer() and value < 1e15 else repr(value)


def run_time_text(run: OfRun) -> str:
    """When a run happened, as it appears on an axis."""
    return f"{happened_at(run):%Y-%m-%d %H:%M:%S}"


def run_labels_text(run: OfRun) -> str | None:
    """All labels of a run together; None if it has none.

    One with a comma or a quote is quoted, so that no two sets of labels read the same.
    """
    texts = (f"{key}:{text}" for key, text in sorted(run.labels.items()))
    return ", ".join(_quoted(text) if {",", '"'} & set(text) else text for text in texts) or None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def ordered(places: Iterable[Value]) -> list[Value]:
    """Places in the order of the axis: numbers by size, versions and names as people sort them."""
    return sorted(places, key=natural)


def most_shared(counts: Mapping[Value, int]) -> Value:
    """The last of the places that most series share. `counts`: how many are at each."""
    most = max(counts.values(), default=0)
    shared = [place for place, count in counts.items() if count == most]
    return max(shared, key=natural, default=None)


@lru_cache(maxsize=4_096)
def natural(place: Value) -> tuple[int, float, str, str]:
    """`1.10` after `1.9`, `1,600 req/s` after `400 req/s`: digits count as numbers.

    Names that differ in capitals or zeros alone stand beside each other, always in one order.
    """
    if isinstance(place, int | float):
        return (0, float(place), "", "")
    text = _WITHIN_NUMBER.sub("", str(place)).lower()
    return (1, 0.0, _DIGITS.sub(_sortable, text), str(place))


def _sortable(digits: re.Match[str]) -> str:
    """A text that sorts as the number does, and before every letter."""
    number = digits[0].lstrip("0")
    return f"\x01{chr(len(number))}{number}"
