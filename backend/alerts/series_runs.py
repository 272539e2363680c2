"""The runs of one series among those that a rule watches."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from backend.alerts.models import PendingRun
from backend.analysis.compare.gathering import Gathered, gather
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Cell, Run
from backend.runs.tables.happening import happened_at

# Older runs say less about today's level.
HISTORY = 30
# Each series takes some queries, and the runs of other workspaces wait for a judge.
MOST_SERIES = 100


@dataclass(frozen=True, slots=True)
class WatchedSeries:
    """A series of the run that is judged. `earlier`: the newest runs of the series before it, the
    newest first, with their ids and times alone: of all series together, whole rows would not fit
    into the memory of a worker."""

    candidate: Gathered
    sweep: Sweep
    earlier: list[Run]


@dataclass(frozen=True, slots=True)
class SeriesRuns:
    """`query`: the filters of a rule. `runs`: the complete runs that it selects, the newest first,
    with `happened_at`. `cells`: the cells that it selects, of all runs."""

    query: CompareQuery
    runs: QuerySet[Any]
    cells: QuerySet[Cell]

    def includes(self, run: Run) -> bool:
        """Whether the rule selects the run."""
        return self.runs.filter(pk=run.pk).exists()

    def count_series(self, run: Run) -> int:
        """How many series the run has."""
        return self.cells.filter(run=run).order_by().values("series").distinct().count()

    def watch(self, run: Run) -> Iterator[WatchedSeries]:
        """The first `MOST_SERIES` series of the run, by server: one comparison shows fewer.

        A series of which a later run was judged before is left out: this run was uploaded late.
        Raises QueryError and NotVisible.
        """
        own = self.cells.filter(run=run).order_by()
        servers = sorted(own.values_list("series__server__name", flat=True).distinct())
        seen = 0
        for server in servers:
            query = self.query.with_filters(run=[run.pk], server=[server])
            candidate = gather(query, [run.workspace_id])
            for sweep in candidate.sweeps:
                seen += 1
                if seen > MOST_SERIES:
                    return
                earlier = self._before(run, sweep)
                if earlier is not None:
                    yield WatchedSeries(candidate, sweep, earlier)

    def _before(self, run: Run, sweep: Sweep) -> list[Run] | None:
        """The newest runs of the series before this run; None where a later run was judged."""
        own = self._with(sweep).exclude(pk=run.pk)
        later = own.filter(happened_at__gt=happened_at(run))
        if later.exclude(pk__in=PendingRun.objects.values("run")).exists():
            return None
        before = own.filter(happened_at__lte=happened_at(run))
        return list(before.only("workspace_id", "started_at", "recorded_at")[:HISTORY])

    def _with(self, sweep: Sweep) -> QuerySet[Any]:
        """The runs that measured the same server by the same workload and tool, on these hosts."""
        series = sweep.group.first.series
        hosts = {
            f"series__{name}": None if host is None else host.id
            for name, host in (
                ("server_host", series.server_host),
                ("client_host", series.client_host),
            )
        }
        cells = self.cells.filter(
            run=OuterRef("pk"),
            series__server__name=sweep.group.first.server.name,
            series__workload__name=sweep.group.first.workload.name,
            series__tool=series.tool,
            **hosts,
        )
        return self.runs.filter(Exists(cells))
