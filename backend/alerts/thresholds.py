"""Rules with a threshold: error rates of a run, noise of its hosts, silence of agents."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from math import expm1

from backend.accounts.models import Workspace
from backend.alerts.lifecycle import Sighting
from backend.alerts.regressions import identity_of_series, subject_of
from backend.alerts.series_runs import WatchedSeries
from backend.analysis.query.field import text_of
from backend.analysis.query.timestamps import instant
from backend.analysis.query.units import at_place, figure_text
from backend.fleet.models import Progress
from backend.fleet.roster import RosterRow, roster
from backend.noise.models import HostNoise
from backend.noise.record import hosts_of
from backend.noise.sentences import share_text
from backend.runs.models import Run


def judge_error_rates(watched: Iterable[WatchedSeries], most: float) -> list[Sighting]:
    """One sighting for each series of a run. `most`: the share of failed requests that is still
    good."""
    return [
        replace(_error_rate(series, most), before=next(iter(series.earlier), None))
        for series in watched
    ]


def _error_rate(series: WatchedSeries, most: float) -> Sighting:
    sweep, grouping = series.sweep, series.candidate.grouping
    parts, axis = grouping.parts, grouping.x
    subject = subject_of(identity_of_series(sweep.group.first, parts), sweep, "error_rate")
    figures = ((point.metrics["error_rate"].value, point) for point in sweep.points)
    rates = [(rate, point) for rate, point in figures if rate is not None]
    if not rates:
        return Sighting(subject, None)
    bad = [(rate, point) for rate, point in rates if rate > most]
    if not bad:
        return Sighting(subject, is_bad=False)
    rate, point = max(bad, key=lambda pair: pair[0])
    at = "" if point.x is None else f" {at_place(text_of(point.x), axis)}"
    failed, allowed = figure_text(rate, "ratio"), figure_text(most, "ratio")
    return Sighting(
        subject,
        is_bad=True,
        text=f"{sweep.group.label}: {failed} of requests failed{at}, more than {allowed}.",
        data={
            "series": sweep.group.label,
            "metric": "error_rate",
            "unit": "ratio",
            "axis": axis,
            "x": point.x,
            "value": rate,
            "server": sweep.group.first.server.name,
            "workload": sweep.group.first.workload.name,
        },
    )


def judge_hosts(run: Run, most: float) -> list[Sighting]:
    """One sighting for each host of the run. `most`: the share of noise that is still good."""
    rows = HostNoise.objects.filter(host__in=hosts_of(run)).select_related("host")
    return [_noise(row, most) for row in rows]


def _noise(row: HostNoise, most: float) -> Sighting:
    between_runs = None if row.run_sd is None else expm1(row.run_sd)
    shares = [share for share in (row.floor_share, between_runs) if share is not None]
    subject = f"host {row.host_id}"
    if not shares:
        return Sighting(subject, None)
    if max(shares) <= most:
        return Sighting(subject, is_bad=False)
    # Where both are known, the larger one raised the alert.
    is_floor = row.floor_share == max(shares)
    measured = "equal servers differ by up to" if is_floor else "runs of one server vary by"
    return Sighting(
        subject,
        is_bad=True,
        text=f"Host {row.host}: {measured} {share_text(max(shares))}, above {share_text(most)}.",
        data={
            "host": str(row.host),
            "host_id": str(row.host_id),
            "noise_floor": row.floor_share,
            "run_to_run": between_runs,
        },
    )


def judge_agents(workspace: Workspace, hours: float, now: datetime) -> list[Sighting]:
    """One sighting for each agent that was ever heard. Silent: its run is overdue, or nothing was
    heard for `hours`."""
    return [_agent(row, hours, now) for row in roster(workspace)]


def _agent(row: RosterRow, hours: float, now: datetime) -> Sighting:
    agent, seen_at = row.agent, row.last_seen_at
    subject = f"agent {agent.pk}"
    is_overdue = row.state == "silent" and seen_at > now - timedelta(days=30)
    if now - seen_at <= timedelta(hours=hours) and not is_overdue:
        return Sighting(subject, is_bad=False)
    last = f"last heard {seen_at:%Y-%m-%d %H:%M} UTC"
    ended = f"fell silent in the middle of a run, {last}." if is_overdue else f"is silent, {last}."
    return Sighting(
        subject,
        is_bad=True,
        text=f"The agent on {agent.host_name} {ended}",
        data={
            "agent": str(agent.pk),
            "host": agent.host_name,
            "last_heard_at": instant(seen_at),
            "state": row.state or Progress.State.FINISHED.value,
        },
    )
