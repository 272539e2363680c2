"""Observations: samples of the server host, taken while an agent elsewhere measures the run.

Samples and trials are matched by the service's clock; each agent knows the offset of its own clock.
The observed host becomes the server host of the run. The samples become the resource use of the
trials they fall into. Where a clock offset or a trial time is unknown, the figure stays unknown.
"""

import math
import uuid
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import orjson
from django.db import connection, transaction
from django.db.models import Max, Min, QuerySet

from backend.accounts.models import Workspace
from backend.errors import Conflict
from backend.runs.database.bulk import MAX_ROWS
from backend.runs.database.json_bytes import bytes_of_columns
from backend.runs.database.portions import portions
from backend.runs.measured.host_facts import facts_of, offset_left_s
from backend.runs.models import Cell, Correction, Observation, Run, Trial
from backend.runs.recording.corrections import active_corrections
from backend.runs.recording.refusals import RunElsewhere
from backend.runs.registry.registry import (
    PARTS,
    SeriesIdentity,
    lock_names,
    register_host,
    register_series,
)
from backend.transactions import whole

# The CPU time at a trial's start or end is known only with a sample this close to it.
REACH_S = 5.0
# Only what was observed has it.
OBSERVED_KEY = "server_clock_uncertainty_s"
# An agent takes two samples a second. What is beyond these has no resource use; it is never guessed
# from a part of the samples. In memory at once: those of a trial of 27 hours.
MOST_AT_ONCE = 200_000
# To complete the trials of one observation or upload: those of 11 days.
MOST_READ = 2_000_000
# Trials of one run at the same time look at the same samples.
MOST_LOOKED_AT = 4_000_000
PORTION_S = 6 * 3600
# Of the resource use of trials: an envelope may give each 64 KB.
BYTES_AT_ONCE = 8 << 20
# What a workspace keeps with an observation.
KEPT_BYTES = bytes_of_columns(Observation, ("host", "packed"))


class ObservationConflict(Conflict):
    """The observation's id was used before for another run; nothing was stored."""

    def __init__(self, observation_id: uuid.UUID) -> None:
        super().__init__(f"The observation id {observation_id} was used before for another run.")


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
        return [getattr(self, field.name) for field in fields(self)]


def samples_of(observation: Observation) -> list[Sample]:
    """The samples in order of time."""
    rows = orjson.loads(zlib.decompress(observation.packed))
    return sorted((Sample(*row) for row in rows), key=lambda sample: sample.at_s)


@whole
def observe(
    workspace: Workspace,
    *,
    id_: uuid.UUID,
    run_id: uuid.UUID,
    host: Mapping[str, Any],
    uncertainty_s: float,
    samples: Sequence[Sample],
) -> Observation:
    """Store an observation and apply it; the same id again changes nothing. Raises RunElsewhere
    and ObservationConflict.
    """
    lock_names(workspace)
    run = Run.with_trash.select_for_update().filter(pk=run_id).first()
    if run is not None and run.workspace_id != workspace.pk:
        raise RunElsewhere(run_id, hint="Give the id of a run of this workspace.")
    times = [sample.at_s for sample in samples]
    packed = zlib.compress(orjson.dumps([sample.packed() for sample in samples]))
    observation, is_new = Observation.objects.get_or_create(
        id=id_,
        defaults={
            "workspace": workspace,
            "run": run_id,
            "host": dict(host),
            "uncertainty_s": uncertainty_s,
            "sample_count": len(samples),
            "first_s": min(times, default=None),
            "last_s": max(times, default=None),
            "packed": packed,
        },
    )
    if observation.workspace_id != workspace.pk or observation.run != run_id:
        raise ObservationConflict(id_)
    if is_new and run is not None:
        apply_observations(run_id, new=observation)
    return observation


@transaction.atomic
def apply_observations(run_id: uuid.UUID, *, new: Observation | None = None) -> None:
    """Give a run its observed host and resource use. Call it whenever trials are recorded.

    `new`: an observation that came since; without one, trials that have resource use are left out.
    """
    if not Observation.objects.filter(run=run_id).exists():
        return
    rows = Run.with_trash.select_for_update(of=("self",)).select_related("workspace")
    run = rows.get(pk=run_id)
    observations = Observation.objects.filter(run=run_id, workspace=run.workspace_id)
    latest = observations.order_by("-received_at").defer("packed").first()
    if latest is None:
        return
    if run.server_host_id is None and not _is_corrected(run):
        _set_server_host(run, latest)
    offset_s = offset_left_s(facts_of(run, "client"))
    if offset_s is not None:
        _set_resources(run, timedelta(seconds=offset_s), observations, new)
    run.workspace.changed()


def _is_corrected(run: Run) -> bool:
    """Whether a member said which server host the run has, or that it is unknown."""
    return any(each.field == Correction.Field.SERVER_HOST for each in active_corrections(run.pk))


def _set_server_host(run: Run, observation: Observation) -> None:
    """Set the server host of the run, and with it the series of its cells and their checks."""
    run.server_host = register_host(run.workspace, observation.host)
    run.facts = {**run.facts, "server": dict(observation.host.get("facts") or {})}
    run.save(update_fields=["server_host", "facts"])
    rows = Cell.objects.filter(run=run)
    cells = list(rows.select_related(*(f"series__{part}" for part in PARTS)))
    identities = [
        replace(SeriesIdentity.of(cell.series), server_host=run.server_host) for cell in cells
    ]
    for cell, series in zip(cells, register_series(run.workspace, identities), strict=True):
        cell.series = series
    Cell.objects.bulk_update(cells, ["series"], batch_size=MAX_ROWS)
    with connection.cursor() as cursor:
        cursor.execute(_HOST_IS_KNOWN, [run.pk])


# In the database: the findings of thousands of trials may be large.
_HOST_IS_KNOWN = """
UPDATE runs_trial SET checks = coalesce(
    (SELECT jsonb_agg(found.finding ORDER BY found.place)
    FROM jsonb_array_elements(checks) WITH ORDINALITY AS found (finding, place)
    WHERE found.finding ->> 'id' <> 'unknown-host'), '[]'::jsonb)
WHERE run_id = %s AND checks @> '[{"id": "unknown-host"}]'
"""


def _set_resources(
    run: Run, shift: timedelta, observations: QuerySet[Observation], new: Observation | None
) -> None:
    """`shift` leads from the times of the trials to the service's clock."""
    _learn_spans(observations)
    trials = _trials_to_complete(run, shift, observations, new)
    uncertainty_s = observations.aggregate(most=Max("uncertainty_s"))["most"]
    budget = _Budget(MOST_READ, MOST_LOOKED_AT)
    for some in _portions(trials):
        samples, whole_from_s = _samples_around(some, observations, budget)
        observed: dict[uuid.UUID, dict[str, Any]] = {}
        for timed in some:
            if timed.first_s < whole_from_s or not budget.has_room(samples, timed):
                continue
            if use := resource_use(samples, timed.first_s, timed.last_s):
                observed[timed.trial_id] = {**use, OBSERVED_KEY: round(uncertainty_s, 4)}
        _complete(run, observed)


def _complete(run: Run, observed: Mapping[uuid.UUID, Mapping[str, Any]]) -> None:
    """Write what was observed into the trials of these ids, of few bytes at a time."""
    rows = Trial.objects.filter(pk__in=observed).order_by()
    sizes = rows.values_list("pk", bytes_of_columns(Trial, ("resources",)))
    sized = [(pk, (1, size)) for pk, size in sizes]
    for some in portions(sized, (MAX_ROWS, BYTES_AT_ONCE)):
        trials = list(Trial.objects.filter(pk__in=some).only("resources"))
        for trial in trials:
            trial.resources = _with(observed[trial.pk], trial.resources, run)
        Trial.objects.bulk_update(trials, ["resources"])


def _learn_spans(observations: QuerySet[Observation]) -> None:
    """Write the times of observations that were kept without them."""
    unknown = observations.filter(first_s=None, sample_count__gt=0).defer("host")
    for observation in unknown.iterator(chunk_size=1):
        samples = samples_of(observation)
        observation.first_s, observation.last_s = samples[0].at_s, samples[-1].at_s
        observation.save(update_fields=["first_s", "last_s"])


@dataclass(frozen=True, slots=True)
class _TimedTrial:
    """A trial, and when it began and ended by the service's clock in seconds."""

    trial_id: uuid.UUID
    first_s: float
    last_s: float


@dataclass(slots=True)
class _Budget:
    """How many samples may still be read, and looked at, to complete the trials of a run."""

    read: int
    looked_at: int

    def has_room(self, samples: Sequence[Sample], timed: _TimedTrial) -> bool:
        """Whether the samples in the time of the trial may be looked at; they are counted."""
        self.looked_at -= len(_between(samples, timed.first_s, timed.last_s))
        return self.looked_at >= 0


def _trials_to_complete(
    run: Run, shift: timedelta, observations: QuerySet[Observation], new: Observation | None
) -> list[_TimedTrial]:
    """The trials that may get figures, in order of time.

    All earlier observations were applied when they came, or when the trial was recorded.
    """
    span = observations.aggregate(first_s=Min("first_s"), last_s=Max("last_s"))
    if new is not None:
        span = {"first_s": new.first_s, "last_s": new.last_s}
    if span["first_s"] is None:
        return []
    first = datetime.fromtimestamp(span["first_s"] - REACH_S, UTC) - shift
    last = datetime.fromtimestamp(span["last_s"] + REACH_S, UTC) - shift
    rows = Trial.objects.filter(run=run, started_at__lte=last, finished_at__gte=first)
    if new is None:
        rows = rows.exclude(resources__has_key="server_samples")
    times = rows.order_by("started_at").values_list("pk", "started_at", "finished_at")
    shift_s = shift.total_seconds()
    return [
        _TimedTrial(pk, started_at.timestamp() + shift_s, finished_at.timestamp() + shift_s)
        for pk, started_at, finished_at in times
        if started_at is not None and finished_at is not None
    ]


def _portions(trials: Sequence[_TimedTrial]) -> Iterator[list[_TimedTrial]]:
    """Trials of a few hours: their samples are in memory together."""
    some: list[_TimedTrial] = []
    for timed in trials:
        if some and timed.last_s - some[0].first_s > PORTION_S:
            yield some
            some = []
        some.append(timed)
    if some:
        yield some


def _samples_around(
    some: Sequence[_TimedTrial], observations: QuerySet[Observation], budget: _Budget
) -> tuple[Sequence[Sample], float]:
    """The samples around these trials, in order of time, and from when on none is left out."""
    first_s = min(timed.first_s for timed in some) - REACH_S
    last_s = max(timed.last_s for timed in some) + REACH_S
    rows = (
        observations.filter(last_s__gte=first_s, first_s__lte=last_s)
        .order_by("-last_s", "pk")
        .defer("host")
    )
    samples: list[Sample] = []
    whole_from_s = -math.inf
    for observation in rows.iterator(chunk_size=1):
        budget.read -= observation.sample_count
        if budget.read < 0 or len(samples) + observation.sample_count > MOST_AT_ONCE:
            whole_from_s = math.inf if observation.last_s is None else observation.last_s
            break
        samples += samples_of(observation)
    return sorted(samples, key=lambda sample: sample.at_s), whole_from_s


def _with(observed: Mapping[str, Any], before: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The resource use of a trial with what was observed of all of it.

    The trial may go on where an earlier observation ends: then the figures of a part are replaced.
    Where client and server are one machine, the client's agent measured them itself.
    """
    if OBSERVED_KEY in before and not run.same_host:
        return {**before, **observed}
    measured = {key: value for key, value in before.items() if value is not None}
    return {**before, **observed, **measured}


def resource_use(samples: Sequence[Sample], first_s: float, last_s: float) -> dict[str, Any]:
    """Resource use of the server between two times, with the keys of `Trial.resources`.

    `samples` are in order of time. Empty if no sample lies between the two.
    """
    inside = _between(samples, first_s, last_s)
    if not inside:
        return {}
    before, after = _cpu_at(samples, first_s), _cpu_at(samples, last_s)
    return {
        "server_cpu_s": _spent(before, after),
        "server_rss_bytes": inside[-1].rss_bytes,
        "server_rss_peak_bytes": _highest(sample.rss_bytes for sample in inside),
        "server_threads_peak": _highest(sample.threads for sample in inside),
        "server_processes_peak": _highest(sample.processes for sample in inside),
        "server_time_wait_peak": _highest(sample.time_wait for sample in inside),
        "server_host_cpu_per_core": _mean_cores(inside),
        "server_samples": len(inside),
    }


def _between(samples: Sequence[Sample], first_s: float, last_s: float) -> Sequence[Sample]:
    """Those of a time, both ends included. A long run has thousands of trials and of samples."""
    first = bisect_left(samples, first_s, key=lambda sample: sample.at_s)
    return samples[first : bisect_right(samples, last_s, first, key=lambda sample: sample.at_s)]


def _spent(before: float | None, after: float | None) -> float | None:
    # It falls only when a process ended in between; the use is then unknown.
    if before is None or after is None or after < before:
        return None
    return round(after - before, 3)


def _cpu_at(samples: Sequence[Sample], at_s: float) -> float | None:
    """CPU time at `at_s`, interpolated between the samples around it; None where too far."""
    within_reach = _between(samples, at_s - REACH_S, at_s + REACH_S)
    near = [(each.at_s, each.cpu_s) for each in within_reach if each.cpu_s is not None]
    if not near or not near[0][0] <= at_s <= near[-1][0]:
        return None
    return float(np.interp(at_s, [time_s for time_s, _ in near], [cpu_s for _, cpu_s in near]))


def _highest(values: Any) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _mean_cores(samples: Sequence[Sample]) -> list[float] | None:
    rows = [sample.cores for sample in samples if sample.cores]
    if not rows or len({len(row) for row in rows}) != 1:
        return None
    return [round(sum(shares) / len(rows), 3) for shares in zip(*rows, strict=True)]
