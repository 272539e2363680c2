"""What can be chosen: every field's values with how many trials each has.

The counts of a field are under all filters but its own, so that a further value can be judged; a
value that the other filters leave nothing of has the count 0.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Sum
from numpy.typing import NDArray

from backend.analysis.cells import Selection, require_runs, select
from backend.analysis.facts import SeriesFact
from backend.analysis.fields import FIELDS, UNKNOWN, Field, known_as, number_text, text_of
from backend.analysis.query import FILTERS, CompareQuery
from backend.analysis.series import natural
from backend.runs.models import Cell
from backend.runs.moment import one_moment

MAX_VALUES = 100
# Runs are listed on their own page.
FACETS = tuple(name for name in FILTERS if name != "run")
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Counted:
    """Cells and trials by series and load, over the selected runs: columns of one length."""

    every: tuple[SeriesFact, ...]
    # Positions in `every`, and in the loads below.
    series: Integers
    loads: Mapping[str, Loads]
    cells: Integers
    trials: Integers

    def coded(self, field: Field) -> Coded:
        """The values of a field, and which rows have each."""
        if field.level == "load":
            return Coded(self.loads[field.id].texts, [(self.loads[field.id].codes, None)])
        return _coded(field, self.every, self.series)

    def fits(self, name: str, wanted: Sequence[str]) -> Booleans:
        """Which rows a filter leaves."""
        if FIELDS[name].level == "load":
            texts, positions = self.loads[name].texts, self.loads[name].codes
            fit = [text in wanted for text in texts]
        else:
            asked, positions = set(wanted), self.series
            fit = [bool(asked & known_as(FIELDS[name], one)) for one in self.every]
        found: Booleans = np.array(fit, dtype=bool)[positions]
        return found


def facets(
    query: CompareQuery, *, workspace_ids: Sequence[uuid.UUID], only: Iterable[str] = FACETS
) -> dict[str, Any]:
    """The values of the fields `only`, counted over what the owner of `workspace_ids` may see.

    Raises NotVisible for a run that does not exist or is not theirs.
    """
    with one_moment():
        selection = select(CompareQuery(**_run_level(query)), workspace_ids)
        require_runs(query, selection)
        counted = _counted(selection)
        misses = {
            name: ~counted.fits(name, wanted)
            for name in FILTERS
            if FIELDS[name].level != "run" and (wanted := getattr(query, name))
        }
        fields = [
            _field(
                FIELDS[name], query, _counts(FIELDS[name], counted, misses, query, workspace_ids)
            )
            for name in only
        ]
        runs = _run_count(query, workspace_ids)
    whole = _without(misses, None, len(counted.series))
    return {
        "total": {
            "cells": int(counted.cells[whole].sum()),
            "trials": int(counted.trials[whole].sum()),
            "runs": runs,
        },
        "fields": fields,
    }


def _run_level(query: CompareQuery) -> dict[str, Any]:
    names = ("run", "label", "since", "until", "workspace")
    return {name: getattr(query, name) for name in names}


def _counted(selection: Selection) -> Counted:
    """One row for each series and load, out of the index alone."""
    rows = (
        Cell.objects.filter(run_id__in=selection.chosen_runs().values("pk"))
        .values_list("series_id", "connections", "rate_rps")
        .annotate(found=Count("pk"), counted=Sum("trial_count"))
    )
    every = tuple(selection.series.values())
    position = {one.id: number for number, one in enumerate(every)}
    known = [row for row in rows if row[0] in position]
    series, connections, rates, cells, trials = zip(*known, strict=True) if known else ((),) * 5
    return Counted(
        every=every,
        series=np.array([position[one] for one in series], dtype=np.int64),
        loads={"connections": Loads.of(connections), "rate": Loads.of(rates)},
        cells=np.array(cells, dtype=np.int64),
        trials=np.array(trials, dtype=np.int64),
    )


@dataclass(frozen=True, slots=True)
class Loads:
    """The load of each row, as a position in the texts of all loads."""

    texts: tuple[str, ...]
    codes: Integers

    @classmethod
    def of(cls, loads: Sequence[float | None]) -> Loads:
        kinds = {load: number for number, load in enumerate(dict.fromkeys(loads))}
        texts = [UNKNOWN if load is None else number_text(float(load)) for load in kinds]
        return cls(tuple(texts), np.array([kinds[load] for load in loads], dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Coded:
    """Values of a field; `parts` give for rows (all where None) the position of a value each.

    A field with several values a row, as settings are, has several parts.
    """

    texts: tuple[str, ...]
    parts: Sequence[tuple[Integers, Booleans | None]]

    def counts(self, trials: Integers, fits: Booleans) -> dict[str, int]:
        total = np.zeros(len(self.texts))
        for codes, has in self.parts:
            counted = np.where(fits if has is None else fits & has, trials, 0)
            total += np.bincount(codes, weights=counted, minlength=len(self.texts))
        return dict(zip(self.texts, total.astype(int).tolist(), strict=True))


def _coded(field: Field, every: Sequence[SeriesFact], positions: Integers) -> Coded:
    """The values of a field of the series, for rows at these positions."""
    kinds: dict[str, int] = {}
    listed = [_texts(field, one) for one in every]
    present = set(positions.tolist())
    parts = []
    for depth in range(max((len(texts) for texts in listed), default=0)):
        codes = np.zeros(len(every), dtype=np.int64)
        has = np.zeros(len(every), dtype=bool)
        for number, texts in enumerate(listed):
            if depth < len(texts) and number in present:
                codes[number] = kinds.setdefault(texts[depth], len(kinds))
                has[number] = True
        parts.append((codes[positions], has[positions]))
    return Coded(tuple(kinds), parts)


def _texts(field: Field, series: SeriesFact) -> list[str]:
    return [UNKNOWN if value is None else text_of(value) for value in field.values(series)]


def _without(misses: Mapping[str, Booleans], name: str | None, rows: int) -> Booleans:
    """The rows that all filters but this one leave."""
    left: Booleans = np.ones(rows, dtype=bool)
    for other, missed in misses.items():
        if other != name:
            left &= ~missed
    return left


def _counts(
    field: Field,
    counted: Counted,
    misses: Mapping[str, Booleans],
    query: CompareQuery,
    workspace_ids: Sequence[uuid.UUID],
) -> Mapping[str, int]:
    if field.id == "label":
        return _labels(query, workspace_ids)
    fits = _without(misses, field.id, len(counted.series))
    return counted.coded(field).counts(counted.trials, fits)


def _field(field: Field, query: CompareQuery, counts: Mapping[str, int]) -> dict[str, Any]:
    chosen = set(getattr(query, field.id))
    ranked = sorted(counts, key=lambda value: (value not in chosen, natural(value)))
    values = [
        {"value": value, "label": value, "count": counts[value], "chosen": value in chosen}
        for value in ranked[:MAX_VALUES]
    ]
    more = max(0, len(ranked) - MAX_VALUES)
    return {"id": field.id, "label": field.label, "values": values, "more": more}


def _labels(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> Mapping[str, int]:
    """Trials by label; those of the runs that the label filter leaves out, too."""
    selection = select(query, workspace_ids, without="label")
    trials = _trials_by_run(selection)
    counts: Counter[str] = Counter()
    for run_id, labels in selection.chosen_runs().exclude(labels={}).values_list("pk", "labels"):
        for key, text in labels.items():
            counts[f"{key}:{text}"] += trials.get(run_id, 0)
    return counts


def _trials_by_run(selection: Selection) -> dict[uuid.UUID, int]:
    rows = selection.cells().filter(run_id__in=selection.chosen_runs().values("pk"))
    return dict(rows.values_list("run_id").annotate(counted=Sum("trial_count")))


def _run_count(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> int:
    selection = select(query, workspace_ids)
    rows = selection.cells().filter(run_id__in=selection.chosen_runs().values("pk"))
    return int(rows.aggregate(runs=Count("run_id", distinct=True))["runs"])
