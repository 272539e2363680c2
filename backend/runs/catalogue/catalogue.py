"""The catalogue of a workspace: servers, hosts and workloads by name, page by page.

Runs and load points are counted, not trials: counting a million trials takes a second.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import (
    Count,
    F,
    Max,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Coalesce, Lower
from django.db.models.lookups import Exact, GreaterThan

from backend.accounts.models import Workspace
from backend.runs.catalogue.naming import distinct_names
from backend.runs.database.cursors import Page, beyond, pack_cursor, read_cursor, read_id
from backend.runs.database.json_bytes import json_bytes
from backend.runs.database.kept_findings import Findings
from backend.runs.models import Cell, Host, Run, Server, Workload
from backend.runs.registry.shown import shown_rows
from backend.runs.tables.happening import happened_at_of

# At most this many related rows are listed, the newest first.
MAX_RELATED = 100
# Servers and workloads whose last measurements are kept.
MOST_KEPT_ROWS = 40_000
# Of the configurations or headers on one page of names, beside one for each name.
MOST_TEXT_BYTES = 4 << 20
_NEVER = datetime.min.replace(tzinfo=UTC)
_WHEN = happened_at_of("run__")
# Of the server or workload ids given, by name and by id. Counted by series and run first, from an
# index alone: to sort every load point for its run takes six times as long.
_MEASURED = """
    SELECT named.name, named.id, count(DISTINCT run.id), sum(cells)::bigint,
        max(least(coalesce(run.started_at, run.recorded_at), run.recorded_at))
    FROM runs_{kind} named
    JOIN runs_series series ON series.{kind}_id = named.id
    CROSS JOIN LATERAL (
        SELECT run_id, count(*) AS cells FROM runs_cell
        WHERE series_id = series.id GROUP BY run_id
    ) counted
    JOIN runs_run run ON run.id = counted.run_id AND run.trashed_at IS NULL
    WHERE named.id = ANY(%s)
    GROUP BY GROUPING SETS ((named.name), (named.id))
"""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often it was measured, and when last (None: never)."""

    runs: int = 0
    cells: int = 0
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A server, host or workload in a list. `others` are rows with the same name, those that
    were measured last."""

    id: UUID
    name: str
    tally: Tally
    row: Any
    others: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class ListPage(Page[Listed]):
    """One page of entries in order of their names; of how many."""

    total: int


def server_page(workspace_ids: Iterable[UUID], *, after: str = "", limit: int = 50) -> ListPage:
    """Servers by name: one entry for all versions and configurations of a name."""
    return _named_page(Server, list(workspace_ids), after=after, limit=limit)


def workload_page(workspace_ids: Iterable[UUID], *, after: str = "", limit: int = 50) -> ListPage:
    """Workloads by name: one entry for all of a name."""
    return _named_page(Workload, list(workspace_ids), after=after, limit=limit)


def _named_page(
    model: type[Server | Workload],
    workspace_ids: Sequence[UUID],
    *,
    after: str,
    limit: int,
) -> ListPage:
    rows = shown_rows(model, workspace_ids)
    names = distinct_names(rows)
    total = names.count()
    following = list(names.filter(_is_named_after(after))[: limit + 1])
    page = following[:limit]
    same = rows.filter(name__in=page)
    by_name: dict[str, list[Any]] = defaultdict(list)
    for row in last_measured(same, workspace_ids):
        by_name[row.name].append(row)
    tallies = _measured_of(same, workspace_ids).by_name
    listed = (
        Listed(same[0].pk, name, tallies.get(name, Tally()), same[0], tuple(same))
        for name, same in ((name, by_name[name]) for name in page)
    )
    return ListPage(tuple(listed), page[-1] if len(following) > limit else None, total)


def last_measured(same: QuerySet[Any], workspace_ids: Sequence[UUID]) -> list[Any]:
    """Of each name the servers or workloads that were measured last, at most MAX_RELATED, as long
    as there is room for their texts: one upload may bring a thousand configurations of one name,
    each of 20 KB. Those that were measured last come first.
    """
    last = _measured_of(same, workspace_ids).last_by_id
    rows_made_last_first = same.order_by("-created_at", "pk").values_list("pk", "name")
    newest = sorted(rows_made_last_first, key=lambda row: last.get(row[0], _NEVER), reverse=True)
    ids_by_name: dict[str, list[UUID]] = defaultdict(list)
    for id_, name in newest:
        ids_by_name[name].append(id_)
    places = {
        id_: place for ids in ids_by_name.values() for place, id_ in enumerate(ids[:MAX_RELATED])
    }
    rows = {row.pk: row for row in same.filter(pk__in=_with_room(same, places))}
    return [rows[id_] for id_, _ in newest if id_ in rows]


def _with_room(same: QuerySet[Any], places: Mapping[UUID, int]) -> list[UUID]:
    """Of these rows the first of each name, and of the others as many as there is room for."""
    size = json_bytes("configuration" if same.model is Server else "headers")
    sizes = same.filter(pk__in=list(places)).order_by().annotate(size=size)
    chosen, room = [], MOST_TEXT_BYTES
    for id_, bytes_ in sorted(sizes.values_list("pk", "size"), key=lambda row: places[row[0]]):
        room -= bytes_
        if places[id_] == 0 or room >= 0:
            chosen.append(id_)
    return chosen


def _is_named_after(name: str) -> Q:
    """Whether a name comes behind this one where capitals do not count."""
    folded = Lower(Value(name))
    is_behind = GreaterThan(Lower("name"), folded)
    return Q(is_behind) | Q(Exact(Lower("name"), folded), name__gt=name)


@dataclass(frozen=True, slots=True)
class _Measured:
    """How often servers or workloads of each name were measured, and when each of them last."""

    by_name: Mapping[str, Tally]
    last_by_id: Mapping[UUID, datetime]


def _measured_of(same: QuerySet[Any], workspace_ids: Sequence[UUID]) -> _Measured:
    ids = tuple(same.order_by("pk").values_list("pk", flat=True))
    versions = Workspace.objects.filter(pk__in=workspace_ids).values_list("pk", "data_version")
    kind = str(same.model._meta.model_name)
    read = partial(_read_measured, kind, ids)
    return _measured.get((kind, ids), tuple(versions.order_by("pk")), read)


# Kept until the data version of a workspace changes: a million trials take 50 ms. Weighed by
# servers and workloads, each of which takes 400 bytes.
_measured: Findings[_Measured] = Findings(
    most=MOST_KEPT_ROWS, least_age=0, weigh=lambda found: 1 + len(found.last_by_id)
)


def _read_measured(kind: str, ids: tuple[UUID, ...]) -> _Measured:
    with connection.cursor() as cursor:
        cursor.execute(_MEASURED.format(kind=kind), [list(ids)])
        rows = cursor.fetchall()
    return _Measured(
        {name: Tally(*tally) for name, id_, *tally in rows if id_ is None},
        {id_: last for _, id_, *_, last in rows if id_ is not None},
    )


def host_page(workspace_ids: Iterable[UUID], *, after: str = "", limit: int = 50) -> ListPage:
    """Hosts in order of their names; hosts with different facts are different entries.

    Raises BadCursor.
    """
    rows = shown_rows(Host, workspace_ids)
    # As a host is written.
    shown = rows.annotate(shown=Coalesce("name", "cpu_model", Value("unknown host")))
    shown = shown.annotate(folded=Lower("shown"))
    total = rows.count()
    start = _rows_before(after)
    if after and start is None:
        name, id_ = read_cursor(after, 2)
        shown = shown.filter(beyond("folded", Lower(Value(str(name))), read_id(id_), ">"))
    following = list(shown.order_by("folded", "pk")[start or 0 :][: limit + 1])
    page = following[:limit]
    tallies = host_tallies([host.pk for host in page])
    listed = tuple(Listed(host.pk, str(host), tallies[host.pk], host) for host in page)
    cursor = pack_cursor(page[-1].shown, str(page[-1].pk)) if len(following) > limit else None
    return ListPage(listed, cursor, total)


def _rows_before(after: str) -> int | None:
    """The rows before a page, which was the cursor of hosts in version 0.1; None of others."""
    return int(after) if after.isascii() and after.isdigit() and len(after) < 9 else None


def host_tallies(ids: Sequence[UUID]) -> Mapping[UUID, Tally]:
    """By host: the runs it took part in, as server or as client."""
    tallies: dict[UUID, Tally] = defaultdict(Tally)
    runs = Run.objects.filter(Q(server_host__in=ids) | Q(client_host__in=ids))
    pairs = runs.values_list("server_host", "client_host").order_by()
    rows = pairs.annotate(count=Count("pk"), last=Max(happened_at_of()))
    for server, client, count, last in rows:
        for host in {server, client} & set(ids):
            tally = tallies[host]
            newest = max(filter(None, (tally.last, last)), default=None)
            tallies[host] = Tally(tally.runs + count, 0, newest)
    return tallies


def tally_by(wanted: Q, *columns: str) -> dict[Any, Tally]:
    """Matching cells counted by one column (or a tuple of columns), the newest first."""
    rows = (
        Cell.of_kept_runs.filter(wanted)
        .values_list(*columns)
        .annotate(runs=Count("run", distinct=True), cells=Count("pk"), last=Max(_WHEN))
        .order_by(F("last").desc(nulls_last=True), *columns)
    )
    return {
        key[0] if len(columns) == 1 else tuple(key): Tally(runs, cells, last)
        for *key, runs, cells, last in rows[:MAX_RELATED]
    }
