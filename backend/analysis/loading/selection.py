"""What a query selects among what a reader may see: series, loads and runs."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from django.db.models import Q, QuerySet

from backend.analysis.loading.former_names import replace_former_names
from backend.analysis.loading.run_labels import with_any_label
from backend.analysis.loading.series_cache import (
    Catalogue,
    WorkspaceSettings,
    get_catalogue,
    load_settings,
)
from backend.analysis.loading.validation import (
    UnknownValue,
    asking,
    require_labels,
    require_loads,
    require_values,
)
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import UNKNOWN
from backend.analysis.query.fields import FIELDS, LOADS
from backend.analysis.query.records import LoadedSeries
from backend.errors import NotFound
from backend.runs.database.bulk import among
from backend.runs.database.read_router import repeatable_read
from backend.runs.models import Cell, Run
from backend.runs.tables.happening import happened_at_of


class NotVisible(NotFound):
    """The asked-for thing does not exist, or is not this reader's: the two look the same."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Some of the series of a reader, and conditions on cells and runs.

    `query`: what was asked, by current names. `is_narrowed`: whether `series` are fewer than
    all that the reader has. `runs`: without the filter on labels.
    """

    query: CompareQuery
    workspaces: tuple[WorkspaceSettings, ...]
    catalogues: tuple[Catalogue, ...]
    series: Mapping[uuid.UUID, LoadedSeries]
    is_narrowed: bool
    load: Q
    runs: Q

    @property
    def workspace_ids(self) -> list[uuid.UUID]:
        return [workspace.id for workspace in self.workspaces]

    def cells(self) -> QuerySet[Cell]:
        """The selected cells, of whichever run."""
        rows = Cell.objects.filter(self.load)
        return rows.filter(among("series_id", self.series)) if self.is_narrowed else rows

    def cells_where(self) -> tuple[str, dict[str, Sequence[object]]]:
        """The condition of `cells` as SQL, and its parameters."""
        condition, values = load_condition(self.query)
        if not self.is_narrowed:
            return condition, {**values}
        return f"{condition} AND series_id = ANY(%(series)s::uuid[])", {
            **values,
            "series": list(self.series),
        }

    def chosen_runs(self, *, with_labels: bool = True) -> QuerySet[Run]:
        """The runs the conditions on runs leave, whether or not they have a selected cell.

        `with_labels` False: the filter on labels is left out.
        """
        rows = Run.objects.annotate(happened_at=happened_at_of())
        chosen = rows.filter(self.runs, workspace_id__in=self.workspace_ids)
        if with_labels and (labels := self.query.wanted("label")):
            return chosen.filter(with_any_label(labels))
        return chosen


@repeatable_read()
def select(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> Selection:
    """What `query` selects among the workspaces a reader may see.

    Raises UnknownValue for a value that nothing there has.
    """
    workspaces = load_settings(workspace_ids, query.workspace)
    if query.workspace is not None and not workspaces:
        slugs = {workspace.slug for workspace in load_settings(workspace_ids)}
        raise UnknownValue("workspace", query.workspace, slugs)
    catalogues = tuple(get_catalogue(workspace) for workspace in workspaces)
    query = replace_former_names(query, catalogues)
    with asking(query):
        require_values(query, catalogues)
    filters = series_filters(query)
    chosen = [series for catalogue in catalogues for series in _matching(catalogue, filters)]
    return Selection(
        query=query,
        workspaces=tuple(workspaces),
        catalogues=catalogues,
        series={series.id: series for series in chosen},
        is_narrowed=len(chosen) < sum(len(catalogue.series) for catalogue in catalogues),
        load=_load_filter(query),
        runs=_run_filter(query),
    )


@repeatable_read()
def resolve_query(query: CompareQuery, workspace_ids: Sequence[uuid.UUID]) -> CompareQuery:
    """`query` by current names, checked against what is recorded.

    Raises UnknownValue, and NotVisible for a run that is not there for the reader.
    """
    selection = select(query, workspace_ids)
    require_recorded(selection)
    with asking(selection.query):
        require_loads(selection.query, (), selection.workspace_ids)
    return selection.query


def require_recorded(selection: Selection, loaded: Collection[uuid.UUID] = ()) -> None:
    """Raises NotVisible for a run of the query that does not exist or is not the reader's, and
    UnknownValue for a label that no run has. `loaded`: runs of the selection, which do exist."""
    query = selection.query
    with asking(query):
        require_labels(query, selection.workspace_ids)
    run_ids = set(query.run_ids).difference(loaded)
    if not run_ids:
        return
    visible = Run.objects.filter(pk__in=run_ids, workspace_id__in=selection.workspace_ids)
    if missing := run_ids - set(visible.values_list("pk", flat=True)):
        raise NotVisible(f"There is no run {min(missing)}, or it is not shared with you.")


def series_filters(query: CompareQuery) -> dict[str, frozenset[str]]:
    """By field, the values that a query keeps of the fields of series."""
    return {
        name: frozenset(values)
        for name, values in query.filters.items()
        if FIELDS[name].level == "series"
    }


def _matching(
    catalogue: Catalogue, filters: Mapping[str, frozenset[str]]
) -> Sequence[LoadedSeries]:
    """The series of a catalogue that every filter leaves."""
    positions = list(range(len(catalogue.series)))
    for name, wanted in filters.items():
        spellings = catalogue.spellings(FIELDS[name])
        positions = [at for at in positions if not wanted.isdisjoint(spellings[at])]
    return [catalogue.series[at] for at in positions]


def _load_filter(query: CompareQuery) -> Q:
    condition = Q()
    for name, column in LOADS.items():
        if values := query.wanted(name):
            numbers = [float(value) for value in values if value != UNKNOWN]
            unknown = Q(**{f"{column}__isnull": True}) if UNKNOWN in values else Q()
            condition &= Q(**{f"{column}__in": numbers}) | unknown if numbers else unknown
    return condition


def load_condition(query: CompareQuery) -> tuple[str, dict[str, list[float]]]:
    """The filters on the loads as SQL, out of our own names; the values as parameters."""
    conditions, values = ["TRUE"], {}
    for name, column in LOADS.items():
        if wanted := query.wanted(name):
            values[name] = [float(value) for value in wanted if value != UNKNOWN]
            unknown = f" OR {column} IS NULL" if UNKNOWN in wanted else ""
            conditions.append(f"({column} = ANY(%({name})s){unknown})")
    return " AND ".join(conditions), values


def _run_filter(query: CompareQuery) -> Q:
    condition = Q()
    if run_ids := query.run_ids:
        condition &= Q(pk__in=run_ids)
    if query.since is not None:
        condition &= Q(happened_at__gte=datetime.combine(query.since, time(), UTC))
    if query.until is not None:
        end = datetime.combine(query.until, time(), UTC) + timedelta(days=1)
        condition &= Q(happened_at__lt=end)
    return condition
