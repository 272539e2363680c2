"""The runs of one series among those that a rule watches."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from backend.alerts.models import PendingRun
from backend.analysis.grouping.sweep import Sweep
from backend.runs.models import Cell, Run
from backend.runs.tables.happening import happened_at

# Older runs say less about today's level.
HISTORY = 30


@dataclass(frozen=True, slots=True)
class SeriesRuns:
    """`runs`: complete ones, the newest first, with `happened_at`. `cells`: those that are watched,
    of whichever run."""

    runs: QuerySet[Any]
    cells: QuerySet[Cell]

    def have(self, run: Run) -> bool:
        """Whether a run is among them."""
        return self.runs.filter(pk=run.pk).exists()

    def servers_of(self, run: Run) -> list[str]:
        """The names of the servers that a run measured."""
        own = self.cells.filter(run=run).order_by()
        return sorted(own.values_list("series__server__name", flat=True).distinct())

    def before(self, run: Run, sweep: Sweep) -> list[Run] | None:
        """The newest runs of the series before this one, the newest first.

        None where a later run of it was judged already: this one was uploaded late.
        """
        own = self._with(sweep).exclude(pk=run.pk)
        later = own.filter(happened_at__gt=happened_at(run))
        if later.exclude(pk__in=PendingRun.objects.values("run")).exists():
            return None
        return list(own.filter(happened_at__lte=happened_at(run))[:HISTORY])

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
