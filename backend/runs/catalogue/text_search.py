"""Which runs have a word: in a name, in a label, or at the start of their id.

A word is looked for in the rows that hold names, and then the runs of these rows are taken. To look
at each load point of each run for its names would take as long as there are load points. Names and
labels have indexes of trigrams (decision 0057), so a word that occurs nowhere reads no row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from backend.runs.database.read_router import reading_connection
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

    For `pk__in`. An OR in the place of the union would be tried on every run, as in `few_with`.
    """
    kinds = FormerName.Kind
    servers, workloads = _servers(word, searched), _workloads(word, searched)
    servers = _union(servers, _formerly(word, searched, Server, kinds.SERVER))
    workloads = _union(workloads, _formerly(word, searched, Workload, kinds.WORKLOAD))
    hosts = _union(
        _named(word, searched, Host, "name"), _formerly(word, searched, Host, kinds.HOST)
    )
    labels = searched.runs.exclude(labels={}).alias(text=Cast("labels", TextField()))
    ids = _id_range(word.lower())
    return _union(
        _runs_of(searched, servers, workloads, word),
        searched.runs.filter(server_host__in=hosts).values_list("pk"),
        searched.runs.filter(client_host__in=hosts).values_list("pk"),
        labels.filter(text__icontains=word).values_list("pk"),
        *([] if ids is None else [searched.runs.filter(pk__range=ids).values_list("pk")]),
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


def _id_range(start: str) -> tuple[UUID, UUID] | None:
    """The first and the last id that begin so; None if no id does."""
    lowest, highest = (start + rest[len(start) :] for rest in (LOWEST_ID, HIGHEST_ID))
    try:
        ids = UUID(lowest), UUID(highest)
    except ValueError:
        return None
    # UUID reads dashes anywhere; as text, an id has them in four places.
    return ids if (str(ids[0]), str(ids[1])) == (lowest, highest) else None


# As SQL: Django took longer to write this than PostgreSQL to answer it. OFFSET keeps PostgreSQL
# from collecting the load points of all runs, and a word that no name has is not looked for at
# load points.
# Labels are written in upper case once, however many words are looked for in them.
_FEW = """
SELECT run.id FROM runs_run run
CROSS JOIN LATERAL (SELECT upper(run.labels::text) AS labels OFFSET 0) AS written
WHERE run.id = ANY(%(runs)s)
"""
# To write a name in upper case is slow. So a series of a run is looked at once, however many load
# points it has, and the word, which stands in a subquery, is written so once.
_WITH_WORD = """
AND (
    run.labels <> '{{}}' AND written.labels LIKE (SELECT upper(%(part{n})s))
    OR run.id BETWEEN %(lowest{n})s AND %(highest{n})s
    OR EXISTS (
        SELECT FROM runs_server WHERE workspace_id = ANY(%(workspaces)s)
            AND (upper(name) LIKE upper(%(part{n})s) OR upper(version) LIKE upper(%(part{n})s))
        UNION ALL SELECT FROM runs_workload WHERE workspace_id = ANY(%(workspaces)s)
            AND upper(name) LIKE upper(%(part{n})s)
        UNION ALL SELECT FROM runs_host WHERE workspace_id = ANY(%(workspaces)s)
            AND upper(name) LIKE upper(%(part{n})s)
        UNION ALL SELECT FROM runs_series WHERE workspace_id = ANY(%(workspaces)s)
            AND upper(tool) LIKE upper(%(part{n})s)
        UNION ALL SELECT FROM runs_formername WHERE workspace_id = ANY(%(workspaces)s)
            AND upper(former) LIKE upper(%(part{n})s)
    ) AND (
        EXISTS (
            SELECT FROM (SELECT DISTINCT series_id FROM runs_cell WHERE run_id = run.id) measured
            JOIN runs_series series ON series.id = measured.series_id
            JOIN runs_server server ON server.id = series.server_id
            JOIN runs_workload workload ON workload.id = series.workload_id
            WHERE upper(server.name) LIKE (SELECT upper(%(part{n})s))
                OR upper(server.version) LIKE (SELECT upper(%(part{n})s))
                OR upper(workload.name) LIKE (SELECT upper(%(part{n})s))
                OR upper(series.tool) LIKE (SELECT upper(%(part{n})s))
                OR EXISTS (
                    SELECT FROM runs_formername former
                    WHERE former.workspace_id = series.workspace_id
                        AND upper(former.former) LIKE (SELECT upper(%(part{n})s))
                        AND (former.kind, former.current)
                            IN (('server', server.name), ('workload', workload.name))
                )
            OFFSET 0
        )
        OR EXISTS (
            SELECT FROM runs_host host
            WHERE host.id IN (run.server_host_id, run.client_host_id) AND (
                upper(host.name) LIKE (SELECT upper(%(part{n})s))
                OR EXISTS (
                    SELECT FROM runs_formername former
                    WHERE former.workspace_id = run.workspace_id
                        AND former.kind = 'host' AND former.current = host.name
                        AND upper(former.former) LIKE (SELECT upper(%(part{n})s))
                )
            )
            OFFSET 0
        )
    )
)
"""


def few_with(
    words: Sequence[str], run_ids: Sequence[UUID], workspace_ids: Sequence[UUID]
) -> Sequence[UUID]:
    """Those of a few runs of these workspaces that have every word, as `runs_with`.

    For the runs of a page: a common word is in so many runs that to collect them takes long.
    """
    connection = reading_connection()
    given: dict[str, Any] = {"runs": list(run_ids), "workspaces": list(workspace_ids)}
    for number, word in enumerate(words):
        lowest, highest = _id_range(word.lower()) or (None, None)
        given |= {
            f"part{number}": f"%{connection.ops.prep_for_like_query(word)}%",
            f"lowest{number}": lowest,
            f"highest{number}": highest,
        }
    conditions = (_WITH_WORD.format(n=number) for number in range(len(words)))
    with connection.cursor() as cursor:
        cursor.execute("".join((_FEW, *conditions)), given)
        return [run_id for (run_id,) in cursor.fetchall()]
