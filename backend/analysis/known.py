"""Refusing what a link names and nothing recorded has: a typing error gets no empty chart.

Values that exist, but not together, are a question that nothing answers: that is no error.
"""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Collection, Iterable, Sequence

from backend.analysis.catalogue import Catalogue
from backend.analysis.fields import FIELDS, UNKNOWN, Field, number_text
from backend.analysis.labels import carrying
from backend.analysis.query import FILTERS, CompareQuery, QueryError, quoted
from backend.analysis.series import natural
from backend.runs.models import Cell, Run

# A number of connections and an offered rate.
Load = tuple[float | None, float | None]
# The load points as columns of a cell, in the order of Load.
LOADS = {"connections": "connections", "rate": "rate_rps"}
MAX_NAMED = 20
MAX_COMPARED, MAX_COMPARED_LENGTH = 500, 80
MAX_LABELLED = 1_000


class UnknownValue(QueryError):
    """A value that nothing recorded has. `known`: those that something has."""

    def __init__(self, field: str, got: str, known: Collection[str]) -> None:
        super().__init__(field, got, _listed(known))
        close = _close(got, known)
        hint = f" Did you mean {close}?" if close else ""
        self.args = (f"{field}: nothing here has {quoted(got)}. There is {self.allowed}.{hint}",)


def _close(got: str, known: Collection[str]) -> str | None:
    """The known value that is spelled most like `got`; comparing takes the product of the lengths,
    so neither long texts nor thousands of them are compared."""
    if len(got) > MAX_COMPARED_LENGTH or len(known) > MAX_COMPARED:
        return None
    short = [text for text in known if len(text) <= MAX_COMPARED_LENGTH]
    return next(iter(difflib.get_close_matches(got, short, n=1)), None)


def _listed(known: Collection[str]) -> str:
    first = sorted(known, key=natural)[:MAX_NAMED]
    more = len(known) - len(first)
    return (", ".join(first) or "nothing") + (f" and {more} more" if more else "")


def require_values(query: CompareQuery, catalogues: Sequence[Catalogue]) -> None:
    """Raises UnknownValue for a server, version, host … that no series has.

    Where nothing is recorded at all, no value is wrong.
    """
    if not any(catalogue.series for catalogue in catalogues):
        return
    for name in FILTERS:
        if FIELDS[name].level == "series":
            _require_spelled(name, FIELDS[name], getattr(query, name), catalogues)
    # Several settings of a configuration stand on the axis together.
    if query.at is not None and FIELDS[query.x].level == "series" and query.x != "configuration":
        _require_spelled("at", FIELDS[query.x], (query.at,), catalogues)


def _require_spelled(
    name: str, field: Field, values: Iterable[str], catalogues: Sequence[Catalogue]
) -> None:
    for value in values:
        if value != UNKNOWN and not any(one.has(field, value) for one in catalogues):
            texts = {text for one in catalogues for each in one.texts(field) for text in each}
            raise UnknownValue(name, value, texts - {UNKNOWN})


def require_labels(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> None:
    """Raises UnknownValue for a label that no run has."""
    theirs = Run.objects.filter(workspace_id__in=workspace_ids)
    for label in query.label:
        if not theirs.filter(carrying(label)).exists() and theirs.exists():
            rows = theirs.exclude(labels={}).values_list("labels", flat=True)[:MAX_LABELLED]
            known = {f"{key}:{text}" for labels in rows for key, text in labels.items()}
            raise UnknownValue("label", label, known)


def require_loads(
    query: CompareQuery, found: Collection[Load], workspace_ids: Sequence[uuid.UUID]
) -> None:
    """Raises UnknownValue for a load that was never measured. `found`: what the query selects,
    which mostly has every load of it, so that nothing needs to be asked."""
    theirs = Cell.objects.filter(workspace_id__in=workspace_ids)
    for place, (name, column) in enumerate(LOADS.items()):
        seen = {number_text(float(load)) for one in found if (load := one[place]) is not None}
        for value in set(getattr(query, name)) - seen - {UNKNOWN}:
            if not theirs.filter(**{column: float(value)}).exists() and theirs.exists():
                rows = theirs.exclude(**{column: None}).values_list(column, flat=True)
                raise UnknownValue(
                    name, value, {number_text(float(one)) for one in rows.distinct()}
                )
