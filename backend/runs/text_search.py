"""Which runs have a word: in a name, in a label, or at the start of their id.

A word is looked for in the rows that hold names, and then the runs of these rows are taken. To look
at each load point of each run for its names would take as long as there are load points. Names and
labels have indexes of trigrams (decision 0057), so a word that occurs nowhere reads no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from backend.runs.models import Cell, FormerName, Host, Run, Series, Server, Workload

LOWEST_ID = "00000000-0000-0000-0000-000000000000"
HIGHEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
# Of rows: a statement within another one.
Ids = QuerySet[Any, Any]
Named = Server | Host | Workload


@dataclass(frozen=True, slots=True)
class Searched:
    """The runs that are searched, load points of at least these runs, and the workspaces whose
    names are looked at.
    """

    workspaces: QuerySet[Any, Any] | list[UUID]
    runs: QuerySet[Run]
    cells: QuerySet[Cell]
    series: QuerySet[Series]


def in_workspaces(workspace_ids: Iterable[UUID]) -> Searched:
    """The runs of these workspaces."""
    workspaces = list(workspace_ids)
    own = Q(workspace__in=workspaces)
    # A cell has its workspace by its series: no row of cells is read for it.
    return Searched(
        workspaces, Run.objects.filter(own), Cell.objects.all(), Series.objects.filter(own)
    )


def runs_with(word: str, searched: Searched) -> Ids:
    """The runs with the word in a label, in the tool, in a name (current or former) of server,
    workload or host, or at the start of their id.

    For `pk__in`. An OR in the place of the union would be tried on every run, as in `has_word`.
    """
    kinds = FormerName.Kind
    servers, workloads = _servers(word, searched), _workloads(word, searched)
    servers = _union(servers, _formerly(word, searched, Server, kinds.SERVER))
    workloads = _union(workloads, _formerly(word, searched, Workload, kinds.WORKLOAD))
    hosts = _union(
        _named(word, searched, Host, "name"), _formerly(word, searched, Host, kinds.HOST)
    )
    labels = searched.runs.exclude(labels={}).alias(text=Cast("labels", TextField()))
    return _union(
        _runs_of(searched, servers, workloads, word),
        searched.runs.filter(server_host__in=hosts).values_list("pk"),
        searched.runs.filter(client_host__in=hosts).values_list("pk"),
        labels.filter(text__icontains=word).values_list("pk"),
        *[searched.runs.filter(ids).values_list("pk") for ids in _ids_from(word.lower())],
    )


def runs_measuring(word: str, searched: Searched) -> Ids:
    """The runs with the word in the tool, or in a current name of server or workload."""
    return _runs_of(searched, _servers(word, searched), _workloads(word, searched), word)


def _runs_of(searched: Searched, servers: Ids, workloads: Ids, tool: str) -> Ids:
    series = _union(
        searched.series.filter(server__in=servers).values_list("pk"),
        searched.series.filter(workload__in=workloads).values_list("pk"),
        searched.series.filter(tool__icontains=tool).values_list("pk"),
    )
    return searched.cells.filter(series__in=series).values_list("run")


def _servers(word: str, searched: Searched) -> Ids:
    return _named(word, searched, Server, "name", "version")


def _workloads(word: str, searched: Searched) -> Ids:
    return _named(word, searched, Workload, "name")


def _union(*rows: Ids) -> Ids:
    # An order of the model would be an order of the whole union.
    first, *others = (each.order_by() for each in rows)
    return first.union(*others, all=True)


def _named(word: str, searched: Searched, model: type[Named], *columns: str) -> Ids:
    own = model._default_manager.filter(workspace__in=searched.workspaces)
    has_word = reduce(Q.__or__, (Q(**{f"{column}__icontains": word}) for column in columns))
    return own.filter(has_word).values_list("pk")


def _formerly(word: str, searched: Searched, model: type[Named], kind: FormerName.Kind) -> Ids:
    """The rows with the word in a former name."""
    own = model._default_manager.filter(workspace__in=searched.workspaces)
    former = FormerName.objects.filter(
        kind=kind,
        former__icontains=word,
        workspace=OuterRef("workspace"),
        current=OuterRef("name"),
    )
    return own.filter(Exists(former)).values_list("pk")


def _ids_from(start: str) -> list[Q]:
    """The ids that begin so; none where no id does."""
    lowest, highest = (start + rest[len(start) :] for rest in (LOWEST_ID, HIGHEST_ID))
    try:
        ids = UUID(lowest), UUID(highest)
    except ValueError:
        return []
    # UUID reads dashes anywhere; as text, an id has them in four places.
    is_spelt = (str(ids[0]), str(ids[1])) == (lowest, highest)
    return [Q(pk__range=ids)] if is_spelt else []


def has_word(word: str, searched: Searched) -> Q:
    """Whether a run has the word, as `runs_with`: for a few runs, such as those of a page.

    A common word is in so many runs that to collect them takes long. A word that no name has is not
    looked for at each load point.
    """
    matches = Q(Exists(_labelled(word)))
    for ids in _ids_from(word.lower()):
        matches |= ids
    return matches | _has_name(word) if _is_named(word, searched) else matches


def _is_named(word: str, searched: Searched) -> bool:
    own = Q(workspace__in=searched.workspaces)
    former = FormerName.objects.filter(own, former__icontains=word)
    tools = searched.series.filter(tool__icontains=word)
    current = (
        *(_servers(word, searched), _workloads(word, searched)),
        _named(word, searched, Host, "name"),
    )
    return _union(*current, tools.values_list("pk"), former.values_list("pk")).exists()


def _has_name(word: str) -> Q:
    # Without the former names PostgreSQL plans to collect the load points of all runs.
    of_cells = (
        Q(series__server__name__icontains=word)
        | Q(series__server__version__icontains=word)
        | Q(series__workload__name__icontains=word)
        | Q(series__tool__icontains=word)
    )
    for kind in ("server", "workload"):
        of_cells |= Q(**{f"series__{kind}__name__in": _current_names(kind, word)})
    matches = Q(Exists(Cell.objects.filter(of_cells, run=OuterRef("pk"))))
    for role in ("server_host", "client_host"):
        matches |= Q(**{f"{role}__name__icontains": word})
        matches |= Q(**{f"{role}__name__in": _current_names("host", word)})
    return matches


def _current_names(kind: str, word: str) -> QuerySet[FormerName, str]:
    """The current names of rows with the word in a former name."""
    names = FormerName.objects.filter(kind=kind, former__icontains=word)
    return names.filter(workspace=OuterRef("workspace")).values_list("current", flat=True)


def _labelled(word: str) -> QuerySet[Run]:
    same = Run.objects.filter(pk=OuterRef("pk")).exclude(labels={})
    return same.alias(text=Cast("labels", TextField())).filter(text__icontains=word)
