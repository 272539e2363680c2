"""What an agent on the server host saw of a run that was measured from elsewhere.

Samples and trials are matched by the service's clock: each agent knows how far its own is off. The
host joins the run's identity, as if the run had come with it; the samples become the resource use
of the trials they lie in. Where a clock or a part of a trial is not known, nothing is invented.
"""

from __future__ import annotations

import json
import uuid
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from backend.accounts.models import Workspace
from backend.runs.models import Cell, Observation, Run, Trial
from backend.runs.record import RunElsewhere
from backend.runs.things import SeriesIdentity, hold_names, host_of, series_of

# Samples further from a trial's ends than this tell nothing of its beginning or end.
REACH_S = 5.0


@dataclass(frozen=True, slots=True)
class Sample:
    """The server's processes and their host at one moment, by the service's clock in seconds.

    `cpu_s` is counted since the processes began; `cores` are the busy shares since the sample
    before. Unknown is None.
    """

    at_s: float
    cpu_s: float | None = None
    rss_bytes: int | None = None
    threads: int | None = None
    processes: int | None = None
    time_wait: int | None = None
    cores: Sequence[float] | None = None

    def packed(self) -> list[Any]:
        return [getattr(self, one.name) for one in fields(self)]


def samples_of(observation: Observation) -> list[Sample]:
    """In the order of time."""
    rows = json.loads(zlib.decompress(observation.packed))
    return sorted((Sample(*row) for row in rows), key=lambda sample: sample.at_s)


@transaction.atomic
def observe(
    workspace: Workspace,
    *,
    id_: uuid.UUID,
    run_id: uuid.UUID,
    host: Mapping[str, Any],
    uncertainty_s: float,
    samples: Sequence[Sample],
) -> Observation:
    """Keep an observation and apply it; the same id again changes nothing. Raises RunElsewhere."""
    hold_names(workspace)
    run = Run.objects.select_for_update().filter(pk=run_id).first()
    if run is not None and run.workspace_id != workspace.pk:
        raise RunElsewhere(str(run_id))
    packed = zlib.compress(json.dumps([one.packed() for one in samples]).encode())
    kept, is_new = Observation.objects.get_or_create(
        id=id_,
        defaults={
            "workspace": workspace,
            "run": run_id,
            "host": dict(host),
            "uncertainty_s": uncertainty_s,
            "sample_count": len(samples),
            "packed": packed,
        },
    )
    if kept.workspace_id != workspace.pk or kept.run != run_id:
        raise RunElsewhere(str(run_id))
    if is_new and run is not None:
        apply_observations(run_id)
    return kept


@transaction.atomic
def apply_observations(run_id: uuid.UUID) -> None:
    """Give a run the host and the resource use that were observed; to be called as trials come."""
    seen = list(Observation.objects.filter(run=run_id).order_by("received_at"))
    if not seen:
        return
    run = Run.objects.select_for_update(of=("self",)).select_related("workspace").get(pk=run_id)
    seen = [one for one in seen if one.workspace_id == run.workspace_id]
    if not seen:
        return
    if run.server_host_id is None:
        _place(run, seen[-1])
    _give_resources(run, seen)
    run.workspace.changed()


def _place(run: Run, observation: Observation) -> None:
    """The run's server host, and with it the series of its cells and what was said of it."""
    run.server_host = host_of(run.workspace, observation.host)
    run.facts = {**run.facts, "server": dict(observation.host.get("facts") or {})}
    run.save(update_fields=["server_host", "facts"])
    parts = ("server", "workload", "server_host", "client_host")
    cells = list(
        Cell.objects.filter(run=run).select_related(*(f"series__{part}" for part in parts))
    )
    for cell in cells:
        identity = replace(SeriesIdentity.of(cell.series), server_host=run.server_host)
        cell.series = series_of(run.workspace, identity)
    Cell.objects.bulk_update(cells, ["series"])
    trials = list(Trial.objects.filter(run=run).only("checks"))
    for trial in trials:
        trial.checks = [one for one in trial.checks if one["id"] != "unknown-host"]
    Trial.objects.bulk_update(trials, ["checks"])


def _give_resources(run: Run, seen: Sequence[Observation]) -> None:
    offset_s = _client_offset_s(run)
    if offset_s is None:
        return
    samples = sorted(
        (sample for one in seen for sample in samples_of(one)), key=lambda sample: sample.at_s
    )
    uncertainty_s = max(one.uncertainty_s for one in seen)
    trials = list(Trial.objects.filter(run=run).only("resources", "started_at", "finished_at"))
    for trial in trials:
        if trial.started_at is None or trial.finished_at is None:
            continue
        shift = timedelta(seconds=offset_s)
        found = use_between(samples, trial.started_at + shift, trial.finished_at + shift)
        if found:
            measured = {key: value for key, value in trial.resources.items() if value is not None}
            observed = {**found, "server_clock_uncertainty_s": round(uncertainty_s, 4)}
            trial.resources = {**trial.resources, **observed, **measured}
    Trial.objects.bulk_update(trials, ["resources"], batch_size=500)


def _client_offset_s(run: Run) -> float | None:
    """The service's clock minus that of the client, whose clock the trials' times are of."""
    client = run.facts.get("client") if isinstance(run.facts, dict) else None
    clock = client.get("clock") if isinstance(client, dict) else None
    found = clock.get("offset_s") if isinstance(clock, dict) else None
    return float(found) if isinstance(found, int | float) else None


def use_between(samples: Sequence[Sample], began: datetime, ended: datetime) -> dict[str, Any]:
    """Resource use of the server in that time, in the names of `Trial.resources`.

    Samples are in the order of time. Empty where none lies in it.
    """
    first_s, last_s = began.timestamp(), ended.timestamp()
    inside = [one for one in samples if first_s <= one.at_s <= last_s]
    if not inside:
        return {}
    before, after = _cpu_at(samples, first_s), _cpu_at(samples, last_s)
    return {
        "server_cpu_s": _spent(before, after),
        "server_rss_bytes": inside[-1].rss_bytes,
        "server_rss_peak_bytes": _most(one.rss_bytes for one in inside),
        "server_threads_peak": _most(one.threads for one in inside),
        "server_processes_peak": _most(one.processes for one in inside),
        "server_time_wait_peak": _most(one.time_wait for one in inside),
        "server_host_cpu_per_core": _mean_cores(inside),
        "server_samples": len(inside),
    }


def _spent(before: float | None, after: float | None) -> float | None:
    # Less than before only when a process went away between: then it is unknown.
    if before is None or after is None or after < before:
        return None
    return round(after - before, 3)


def _cpu_at(samples: Sequence[Sample], at_s: float) -> float | None:
    """CPU time at a moment, on the line between the samples around it."""
    known = [one for one in samples if one.cpu_s is not None]
    before = [one for one in known if one.at_s <= at_s]
    after = [one for one in known if one.at_s >= at_s]
    if not before or not after:
        return None
    one, two = before[-1], after[0]
    if at_s - one.at_s > REACH_S or two.at_s - at_s > REACH_S:
        return None
    assert one.cpu_s is not None
    assert two.cpu_s is not None
    span = two.at_s - one.at_s
    share = (at_s - one.at_s) / span if span else 0.0
    return one.cpu_s + share * (two.cpu_s - one.cpu_s)


def _most(values: Any) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _mean_cores(samples: Sequence[Sample]) -> list[float] | None:
    known = [one.cores for one in samples if one.cores]
    if not known or len({len(one) for one in known}) != 1:
        return None
    return [round(sum(shares) / len(known), 3) for shares in zip(*known, strict=True)]
