"""Refusals of values that nothing recorded has: a typing error gets no empty chart.

Values that exist, but not together, are a question that nothing answers: that is no error.
"""

import difflib
import heapq
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from django.db.models import QuerySet

from backend.analysis.loading.run_labels import with_label
from backend.analysis.loading.series_cache import Catalogue
from backend.analysis.query.compare_query import CompareQuery, QueryError, quoted
from backend.analysis.query.field import (
    UNKNOWN,
    Field,
    OfRun,
    natural,
    number_text,
    text_of,
    value_of_series,
)
from backend.analysis.query.fields import FIELDS, FILTERS, LOADS
from backend.runs.models import Cell, Run

# A number of connections and an offered rate, as in LOADS.
Load = tuple[float | None, float | None]
MAX_NAMED = 20
MAX_COMPARED, MAX_COMPARED_LENGTH = 500, 80
MAX_LABELLED = 1_000


class UnknownValue(QueryError):
    """A value that nothing recorded has. `known`: those that something has.

    `without_choices`: the message without these, for readers who may not know what else there is.
    """

    def __init__(self, field: str, got: str, choices: Collection[str]) -> None:
        super().__init__(field, got, _listed(choices))
        self.without_choices = f"{field}: no trial has {quoted(got)}."
        # The query by current names, set by `asking`; `got` is one of its values.
        self.query: CompareQuery | None = None
        close = _close(got, choices)
        hint = f" Did you mean {close}?" if close else ""
        self.args = (f"{self.without_choices} Recorded: {self.allowed}.{hint}",)

    @property
    def rest(self) -> CompareQuery | None:
        """The query without the value; None where then nothing is asked for any more."""
        if self.query is None or self.field not in (*FILTERS, "at"):
            return None
        if self.field == "at":
            return replace(self.query, at=None)
        before = self.query.wanted(self.field)
        after = tuple(value for value in before if value != self.got)
        # None without progress, or a caller that retries with the rest would never end.
        if not 0 < len(after) < len(before):
            return None
        return self.query.with_filters(**{self.field: after})


@contextmanager
def asking(query: CompareQuery) -> Iterator[None]:
    """An UnknownValue raised inside carries `query`, which has current names."""
    try:
        yield
    except UnknownValue as refused:
        refused.query = query
        raise


def _close(got: str, choices: Collection[str]) -> str | None:
    """The known value that is spelled most like `got`; comparing takes the product of the lengths,
    so neither long texts nor thousands of them are compared."""
    if len(got) > MAX_COMPARED_LENGTH or len(choices) > MAX_COMPARED:
        return None
    short = [text for text in choices if len(text) <= MAX_COMPARED_LENGTH]
    return next(iter(difflib.get_close_matches(got, short, n=1)), None)


def _listed(choices: Collection[str]) -> str:
    first = heapq.nsmallest(MAX_NAMED, choices, key=natural)
    more = len(choices) - len(first)
    return (", ".join(first) or "nothing") + (f" and {more} more" if more else "")


def require_values(query: CompareQuery, catalogues: Sequence[Catalogue]) -> None:
    """Raises UnknownValue for a server, version, host … that no series has.

    Where nothing is recorded at all, no value is wrong.
    """
    if not any(catalogue.series for catalogue in catalogues):
        return
    for name in FILTERS:
        if FIELDS[name].level == "series":
            _require_spelled(name, FIELDS[name], query.wanted(name), catalogues)
    if query.at is not None and FIELDS[query.x].level == "series":
        _require_place(query.at, FIELDS[query.x], catalogues)


def _require_place(at: str, field: Field, catalogues: Sequence[Catalogue]) -> None:
    if any(catalogue.has(field, at) for catalogue in catalogues):
        return
    # Several settings of a configuration stand on the axis together.
    series = [one_series for catalogue in catalogues for one_series in catalogue.series]
    places = {value_of_series(field, one_series) for one_series in series} - {None}
    texts = {text_of(place) for place in places if place is not None}
    if at not in texts:
        raise UnknownValue("at", at, texts)


def _require_spelled(
    name: str, field: Field, values: Iterable[str], catalogues: Sequence[Catalogue]
) -> None:
    for value in values:
        if not any(catalogue.has(field, value) for catalogue in catalogues):
            texts = {text for catalogue in catalogues for text in catalogue.positions(field)}
            raise UnknownValue(name, value, texts - {UNKNOWN})


def _require_time(at: str, read: Callable[[OfRun], str | None], theirs: QuerySet[Run]) -> None:
    rows = list(theirs.only("started_at", "recorded_at", "labels")[: MAX_LABELLED + 1])
    texts = {text for run in rows if (text := read(run)) is not None}
    # Among more runs than these it may yet be.
    if at not in texts and 0 < len(rows) <= MAX_LABELLED:
        raise UnknownValue("at", at, texts)


def require_labels(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> None:
    """Raises UnknownValue for a label that no run has, and a place of runs where none is."""
    theirs = Run.objects.filter(workspace_id__in=workspace_ids)
    if query.at is not None and (read := FIELDS[query.x].read_run):
        _require_time(query.at, read, theirs)
    for label in query.wanted("label"):
        if not theirs.filter(with_label(label)).exists() and theirs.exists():
            rows = theirs.exclude(labels={}).values_list("labels", flat=True)[:MAX_LABELLED]
            labels_in_use: set[str] = set()
            for labels in rows.iterator(chunk_size=20):
                labels_in_use.update(f"{key}:{text}" for key, text in labels.items())
                # A run has a hundred: all of many runs would take seconds.
                if len(labels_in_use) > MAX_COMPARED:
                    break
            raise UnknownValue("label", label, labels_in_use)


def require_loads(
    query: CompareQuery, selected: Collection[Load], workspace_ids: Sequence[uuid.UUID]
) -> None:
    """Raises UnknownValue for a load that was never measured. `found`: what the query selects,
    which mostly has every load of it, so that nothing needs to be asked."""
    theirs = Cell.of_kept_runs.filter(workspace_id__in=workspace_ids)
    spellings = {
        name: {load_spelling(load[place]) for load in selected} for place, name in enumerate(LOADS)
    }
    for name in LOADS:
        for value in set(query.wanted(name)) - spellings[name]:
            _require_load(name, value, (name,), theirs)
    if query.at is not None and FIELDS[query.x].level == "load":
        # An axis of connections is one of offered rates where these are the load.
        names = tuple(LOADS) if query.x == "connections" else (query.x,)
        if not any(query.at in spellings[name] for name in names):
            _require_load("at", query.at, names, theirs)


def load_spelling(load: float | None) -> str:
    """A load as a filter spells it."""
    return UNKNOWN if load is None else number_text(float(load))


def _require_load(field: str, value: str, names: Sequence[str], theirs: QuerySet[Cell]) -> None:
    columns = [LOADS[name] for name in names]
    load = None if value == UNKNOWN else float(value)
    if any(theirs.filter(**{column: load}).exists() for column in columns):
        return
    if theirs.exists():
        rows = (
            theirs.exclude(**{column: None}).values_list(column, flat=True) for column in columns
        )
        measured = {number_text(float(load)) for loads in rows for load in loads.distinct()}
        raise UnknownValue(field, value, measured)
