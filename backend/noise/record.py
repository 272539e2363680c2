"""Keeping the noise of hosts: called whenever a run is recorded, observed or deleted."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Avg, Count, Q, QuerySet, Variance
from django.db.models.functions import Ln

from backend.accounts.models import Workspace
from backend.noise.estimate import (
    RunMean,
    RunVariation,
    group_overlapping,
    noise_floor,
    run_variation,
)
from backend.noise.models import HostNoise, SelfComparison
from backend.runs.database.bulk import insert_rows
from backend.runs.models import Cell, FormerName, Host, Run, Trial
from backend.runs.tables.happening import happened_at, happened_at_of, newest_first
from backend.stats.thresholds import HIGH_ERROR_RATE, LEAST_TRIALS

# A machine changes: older runs and comparisons say less of it, and reading more takes longer.
NEWEST_RUNS = 30
NEWEST_COMPARISONS = 100
SIDES = ("A", "B")
_RUN_COLUMNS = ("server_host", "client_host", "started_at", "recorded_at", "trashed_at")


def refresh_noise(run_id: UUID) -> None:
    """As `refresh_noise_of_runs`, for one run."""
    refresh_noise_of_runs([run_id])


def refresh_noise_of_runs(run_ids: Collection[UUID]) -> None:
    """Count runs again in the noise of their hosts; call it in the transaction that changed them.

    A run that is still open is not counted yet, and a run in the trash not any more.
    """
    rows = Run.with_trash.filter(pk__in=run_ids, is_open=False).order_by("pk")
    runs = list(rows.only(*_RUN_COLUMNS))
    SelfComparison.objects.filter(run__in=runs).delete()
    insert_rows(SelfComparison, _self_comparisons([run for run in runs if run.trashed_at is None]))
    refresh_hosts(host for run in runs for host in hosts_of(run))


def runs_with(
    workspace_id: UUID, kind: FormerName.Kind, names: Collection[str]
) -> QuerySet[Run, UUID]:
    """The ids of the runs with a server, host or workload of these names."""
    if kind == FormerName.Kind.HOST:
        of_run = Q(server_host__name__in=names) | Q(client_host__name__in=names)
    else:
        cells = Cell.objects.filter(**{f"series__{kind}__name__in": names})
        of_run = Q(pk__in=cells.values("run"))
    runs = Run.with_trash.filter(of_run, workspace=workspace_id).order_by()
    return runs.values_list("pk", flat=True)


def hosts_named(workspace_id: UUID, names: Collection[str]) -> Sequence[UUID]:
    rows = Host.objects.filter(workspace=workspace_id, name__in=names)
    return list(rows.values_list("pk", flat=True))


def hosts_of(run: Run) -> frozenset[UUID]:
    """The hosts whose noise a run may tell of."""
    return frozenset(filter(None, (run.server_host_id, run.client_host_id)))


def refresh_hosts(host_ids: Iterable[UUID]) -> None:
    """Estimate the noise of these hosts again; a host that no longer exists is left out.

    Call it in a transaction, after its changes.
    """
    hosts = list(Host.objects.filter(pk__in=set(host_ids)).order_by("pk"))
    _wait_for_other_changes(hosts)
    for host in hosts:
        comparisons = list(SelfComparison.objects.filter(host=host)[:NEWEST_COMPARISONS])
        independent: dict[tuple[UUID, int], list[float]] = defaultdict(list)
        for row in comparisons:
            independent[row.run_id, row.start_group].append(row.difference)
        variation = run_variation(_run_means(host)) or RunVariation(0.0, 0)
        HostNoise.objects.update_or_create(
            host=host,
            defaults={
                "floor_share": noise_floor(list(independent.values())),
                "comparisons": len(independent),
                "latest": comparisons[0].measured_at if comparisons else None,
                "run_sd": variation.sd if variation.freedom else None,
                "run_freedom": variation.freedom,
            },
        )


def _wait_for_other_changes(hosts: Iterable[Host]) -> None:
    """Wait until other transactions that change the data of these workspaces have ended.

    Two that estimate at once would each leave out the change of the other.
    """
    # The lock that Workspace.changed() takes, so that no two transactions wait for each other.
    rows = Workspace.objects.filter(pk__in={host.workspace_id for host in hosts})
    list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk"))


def _counted_trials(runs: Collection[Any]) -> QuerySet[Trial]:
    """Trials whose throughput is the host's: a closed loop, without failures that make it fast.

    At an offered rate, throughput is the rate, however noisy the host is. A copy of an output is no
    further measurement: of two in these runs, one counts.
    """
    is_sound = Q(error_rate=None) | Q(error_rate__lte=HIGH_ERROR_RATE)
    # By way of the cells: the planner then never scans the trials of all runs for each cell.
    trials = Trial.objects.filter(
        is_sound,
        cell__run__in=runs,
        cell__series__loop="closed",
        cell__rate_rps=None,
        warmup=False,
        incomplete=False,
        error="",
        throughput_rps__gt=0,
    ).order_by()
    copies = _copies(trials)
    return trials.exclude(pk__in=copies) if copies else trials


def _copies(trials: QuerySet[Trial]) -> list[UUID]:
    """The trials whose output an earlier one of the same series and load has; there are seldom
    any.

    Of two runs with the same outputs, one has all the copies: else the two would differ.
    """
    printed = trials.exclude(output_sha256=None)
    same = ("cell__series", "cell__connections", "output_sha256")
    groups = printed.values(*same).annotate(count=Count("pk"))
    repeated = {bytes(row["output_sha256"] or b"") for row in groups.filter(count__gt=1)}
    if not repeated:
        return []
    run = "cell__run__"
    rows = printed.filter(output_sha256__in=repeated).order_by(
        happened_at_of(run), f"{run}recorded_at", f"{run}pk", "ordinal"
    )
    seen, copies = set(), []
    for pk, series, connections, output in rows.values_list("pk", *same):
        name = series, connections, bytes(output or b"")
        if name in seen:
            copies.append(pk)
        seen.add(name)
    return copies


def _run_means(host: Host) -> Iterator[RunMean]:
    """The newest runs of servers on this host, at each of their loads.

    Where the server's host is unknown, the client's host stands for it.
    """
    on_host = Q(server_host=host) | Q(server_host=None, client_host=host)
    runs = newest_first(Run.objects.filter(on_host, is_open=False))
    newest = list(runs.values_list("pk", flat=True)[:NEWEST_RUNS])
    rows = (
        _counted_trials(newest)
        .values_list("cell__series", "cell__connections", "cell__run")
        .annotate(
            trials=Count("pk"),
            mean=Avg(Ln("throughput_rps")),
            variance=Variance(Ln("throughput_rps")),
        )
    )
    for series, connections, run, trials, mean, variance in rows:
        yield RunMean((series, connections), run, trials, mean, variance * trials)


@dataclass(slots=True)
class _Side:
    """The trials of one side at one load: the logs of their throughput, and their server starts."""

    logs: list[float] = field(default_factory=list)
    starts: set[int] = field(default_factory=set)

    @property
    def mean(self) -> float:
        return sum(self.logs) / len(self.logs)


# A series and its connections, in one run.
_Level = tuple[UUID, int | None]
_Sides = dict[str, _Side]


def _self_comparisons(runs: Sequence[Run]) -> Iterator[SelfComparison]:
    """The A/A comparisons of each run with a host."""
    levels_of_runs = _sides(runs)
    for run in runs:
        host_id = run.server_host_id or run.client_host_id
        if host_id is None:
            continue
        levels = [
            (level, sides[SIDES[0]], sides[SIDES[1]])
            for level, sides in levels_of_runs[run.pk].items()
            if all(len(sides[side].logs) >= LEAST_TRIALS for side in SIDES)
        ]
        groups = group_overlapping([_starts(side_a, side_b) for _, side_a, side_b in levels])
        for ((series_id, connections), side_a, side_b), group in zip(levels, groups, strict=True):
            yield SelfComparison(
                run=run,
                host_id=host_id,
                series_id=series_id,
                connections=connections,
                difference=side_b.mean - side_a.mean,
                trials_a=len(side_a.logs),
                trials_b=len(side_b.logs),
                start_group=group,
                measured_at=happened_at(run),
            )


def _sides(runs: Sequence[Run]) -> Mapping[UUID, dict[_Level, _Sides]]:
    """By run, series and connections, the sides of the trials."""
    trials = _counted_trials(runs).filter(load__side__in=SIDES)
    rows = trials.order_by("run", "ordinal").values_list(
        *("run", "cell__series", "cell__connections", "load__side", "load__start"),
        Ln("throughput_rps"),
    )
    levels_of_runs: dict[UUID, dict[_Level, _Sides]] = defaultdict(dict)
    for run, series, connections, side, start, log_of_throughput in rows:
        sides = levels_of_runs[run].setdefault(
            (series, connections), {name: _Side() for name in SIDES}
        )
        sides[side].logs.append(log_of_throughput)
        if start is not None:
            sides[side].starts.add(start)
    return levels_of_runs


def _starts(side_a: _Side, side_b: _Side) -> frozenset[int]:
    """The server starts of a comparison. The agent counts from 1, so 0 stands for an unknown start,
    which all comparisons of the run may share.
    """
    return frozenset(side_a.starts | side_b.starts or {0})
