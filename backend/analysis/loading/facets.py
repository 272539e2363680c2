"""What can be chosen: every field's values with how many trials each has.

The counts of a field are under all filters but its own, so that a further value can be judged; a
value that the other filters leave nothing of has the count 0.
"""

import heapq
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.analysis.loading.rows import as_text
from backend.analysis.loading.selection import (
    Selection,
    load_condition,
    require_recorded,
    select,
    series_filters,
)
from backend.analysis.loading.series_cache import Catalogue
from backend.analysis.loading.validation import load_spelling, require_loads
from backend.analysis.query.compare_query import MAX_LENGTH, CompareQuery
from backend.analysis.query.field import Field, natural
from backend.analysis.query.fields import FIELDS, FILTERS
from backend.runs.database.read_router import reading_connection, repeatable_read

MAX_VALUES = 100
# Runs are listed on their own page.
FACETS = tuple(name for name in FILTERS if name != "run")


@dataclass(frozen=True, slots=True)
class Counts:
    """Trials by series under the filters on runs and loads; by load under those on runs and
    series; by run under those on series and loads. And the cells that every filter leaves."""

    series: Mapping[str, int]
    loads: Mapping[tuple[float | None, float | None], int]
    runs: Mapping[str, int]
    cells: int
    trials: int
    runs_left: int


class Listed:
    """The series of a catalogue that have trials, by their positions, under a query's filters."""

    def __init__(self, catalogue: Catalogue, counts: Counts, query: CompareQuery) -> None:
        self._catalogue = catalogue
        self._trials = {
            position: trials
            for id_, trials in counts.series.items()
            if (position := catalogue.position_by_id.get(id_)) is not None
        }
        self._wanted = series_filters(query)
        self._left: dict[str, Mapping[int, int]] = {}

    def count(self, field: Field) -> Mapping[str, int]:
        """The trials of each value, under every filter on series but the field's own.

        In the order of the series.
        """
        left = self._left_without(field.id)
        by_text = [
            (text, positions)
            for text, all_positions in self._catalogue.positions(field).items()
            if (positions := [at for at in all_positions if at in self._trials])
        ]
        return {
            text: sum([left.get(at, 0) for at in positions])
            for text, positions in sorted(by_text, key=lambda pair: pair[1][0])
        }

    def _left_without(self, without: str) -> Mapping[int, int]:
        """The trials of the series that every filter leaves but one."""
        key = without if without in self._wanted else ""
        if key not in self._left:
            left = self._trials
            for name in self._wanted.keys() - {key}:
                spellings, asked = self._catalogue.spellings(FIELDS[name]), self._wanted[name]
                left = {at: n for at, n in left.items() if not asked.isdisjoint(spellings[at])}
            self._left[key] = left
        return self._left[key]


def facets(
    query: CompareQuery, *, workspace_ids: Sequence[uuid.UUID], only: Iterable[str] = FACETS
) -> dict[str, Any]:
    """The values of the fields `only`, counted over what the owner of `workspace_ids` may see.

    Raises NotVisible for a run that does not exist or is not theirs, and UnknownValue.
    """
    with repeatable_read():
        selection = select(query, workspace_ids)
        query = selection.query
        require_recorded(selection)
        unlabelled = selection.chosen_runs(with_labels=False)
        run_ids = list(unlabelled.values_list(as_text("pk"), flat=True))
        counts = _count(query, selection, run_ids)
        require_loads(query, counts.loads.keys(), selection.workspace_ids)
        labels = _count_labels(query, counts, run_ids) if "label" in only else _NO_LABELS
    listed = [Listed(catalogue, counts, query) for catalogue in selection.catalogues]
    fields = [_field(FIELDS[name], query, listed, counts, labels) for name in only]
    total = {"cells": counts.cells, "trials": counts.trials, "runs": counts.runs_left}
    return {"total": total, "fields": fields}


# One pass over the index that holds all it needs. Ids come as text: as UUIDs they take longer.
_COUNT = """
SELECT series_id::text, connections, rate_rps, run_id::text,
       GROUPING(series_id), GROUPING(run_id),
       coalesce(sum(trial_count) FILTER (WHERE {run} AND {load}), 0),
       coalesce(sum(trial_count) FILTER (WHERE {run} AND {series}), 0),
       coalesce(sum(trial_count) FILTER (WHERE {load} AND {series}), 0),
       coalesce(sum(trial_count) FILTER (WHERE {run} AND {load} AND {series}), 0),
       count(*) FILTER (WHERE {run} AND {load} AND {series} AND trial_count > 0)
FROM runs_cell
WHERE run_id = ANY(%(runs)s::uuid[])
GROUP BY GROUPING SETS ((series_id), (connections, rate_rps), (run_id))
"""


def _count(query: CompareQuery, selection: Selection, run_ids: list[str]) -> Counts:
    labelled = (
        list(selection.chosen_runs().values_list("pk", flat=True))
        if query.wanted("label")
        else None
    )
    chosen = list(selection.series) if selection.is_narrowed else None
    load, values = load_condition(query)
    statement = _COUNT.format(
        run="TRUE" if labelled is None else "run_id = ANY(%(labelled)s)",
        series="TRUE" if chosen is None else "series_id = ANY(%(chosen)s)",
        load=load,
    )
    with reading_connection().cursor() as cursor:
        # A plan for any parameters would look for each row's id along the whole list, each time.
        cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        given = {"runs": run_ids, "labelled": labelled, "chosen": chosen, **values}
        cursor.execute(statement, given)
        return _counts(cursor.fetchall())


@dataclass(frozen=True, slots=True)
class Labels:
    """The trials of the labels that are shown, and how many labels there are."""

    trials: Mapping[str, int]
    count: int


_NO_LABELS = Labels({}, 0)
# The database has the labels of all runs, and here are those that are shown: a workspace may have
# 100 for each run.
_COUNT_LABELS = """
SELECT text, trials, total FROM (
    SELECT text, sum(trials) AS trials, count(*) OVER () AS total FROM (
        SELECT label.key || ':' || label.value AS text, counted.trials
        FROM unnest(%s::uuid[], %s::bigint[]) AS counted (id, trials)
        JOIN runs_run AS run USING (id)
        CROSS JOIN LATERAL jsonb_each_text(run.labels) AS label
    ) AS of_run GROUP BY text
) AS every
ORDER BY char_length(text) > %s, text <> ALL(%s), lower(text), text LIMIT %s
"""


def _count_labels(query: CompareQuery, counts: Counts, run_ids: Sequence[str]) -> Labels:
    trials = [counts.runs.get(run_id, 0) for run_id in run_ids]
    with reading_connection().cursor() as cursor:
        wanted = list(query.wanted("label"))
        given: list[Any] = [list(run_ids), trials, MAX_LENGTH, wanted, MAX_VALUES]
        cursor.execute(_COUNT_LABELS, given)
        rows = cursor.fetchall()
    return Labels({text: int(trials) for text, trials, _ in rows}, rows[0][2] if rows else 0)


def _counts(rows: Iterable[Sequence[Any]]) -> Counts:
    series, loads, runs = {}, {}, {}
    cells = trials = left = 0
    for row in rows:
        id_, connections, rate, run, no_series, no_run = row[:6]
        of_series, of_load, of_run, whole, n = row[6:]
        if not no_series:
            series[id_] = int(of_series)
        elif not no_run:
            runs[run] = int(of_run)
            cells, trials, left = cells + n, trials + int(whole), left + bool(n)
        else:
            loads[(connections, rate)] = int(of_load)
    return Counts(series, loads, runs, cells, trials, left)


def _field(
    field: Field,
    query: CompareQuery,
    listed: Sequence[Listed],
    counts: Counts,
    labels: Labels,
) -> dict[str, Any]:
    if field.id == "label":
        counted = labels.trials
    elif field.level == "load":
        counted = _by_load(field, query, counts)
    else:
        counted = _by_series(field, listed)
    chosen = set(query.wanted(field.id))
    # What no link may hold cannot be chosen.
    fitting = [value for value in counted if 0 < len(value) <= MAX_LENGTH]
    # Their keys take much more than the values, so not all of them are sorted.
    ranked = heapq.nsmallest(
        MAX_VALUES, fitting, key=lambda value: (value not in chosen, natural(value))
    )
    values = [
        {"value": value, "label": value, "count": counted[value], "chosen": value in chosen}
        for value in ranked
    ]
    more = (labels.count if field.id == "label" else len(counted)) - len(values)
    return {"id": field.id, "label": field.label, "values": values, "more": more}


def _by_load(field: Field, query: CompareQuery, counts: Counts) -> Mapping[str, int]:
    """Under the filter of the other load, too."""
    other = query.wanted("rate" if field.id == "connections" else "connections")
    counted: Counter[str] = Counter()
    for (connections, rate), trials in counts.loads.items():
        own_load, other_load = (
            (connections, rate) if field.id == "connections" else (rate, connections)
        )
        counted[load_spelling(own_load)] += (
            trials if not other or load_spelling(other_load) in other else 0
        )
    return counted


def _by_series(field: Field, listed: Sequence[Listed]) -> Mapping[str, int]:
    counted: Counter[str] = Counter()
    for of_catalogue in listed:
        counted.update(of_catalogue.count(field))
    return counted
