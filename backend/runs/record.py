"""Recording a run: one function that writes servers, hosts, workloads, cells and trials.

Everything is written in the caller's transaction. A run comes whole, or trial by trial while it
goes on: then it is open until the agent's last word of it, and each upload is there whole or not
at all.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from backend.accounts.models import User, Workspace
from backend.runs.bulk import insert_rows
from backend.runs.checks import TrialFacts, check_cell, check_trial
from backend.runs.identity import identity_of
from backend.runs.measured import LoadPoint, TrialRecord, facts_of, load_point
from backend.runs.models import Cell, Run, Series, Server, Trial, TrialTimeline, Workload
from backend.runs.registry import (
    SeriesIdentity,
    lock_names,
    register_host,
    register_series,
    register_server,
    register_workload,
)
from backend.stats import Histogram
from backend.stats.curve import percentile_curve
from backend.stats.percentiles import stored_percentiles


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of a run as a whole."""

    id: uuid.UUID
    workspace: Workspace
    author: User | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    interrupted: bool = False
    same_host: bool | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)
    plan: str = ""
    plan_sha256: str = ""
    server_host: Mapping[str, Any] | None = None
    client_host: Mapping[str, Any] | None = None
    # The program that measured: name, version, hostname.
    agent: Mapping[str, Any] = field(default_factory=dict)
    # Of the order of its trials; and by which rule of the plan it ended early.
    seed: int | None = None
    stopped: str = ""
    # What happened beside the trials: at, kind, text.
    events: Sequence[Mapping[str, Any]] = ()
    # What a search came to: server, workload, rate_rps, confirmed.
    max_rates: Sequence[Mapping[str, Any]] = ()
    # What each server printed last.
    server_tails: Mapping[str, str] = field(default_factory=dict)
    # Of its plan, warm-ups included.
    trials_planned: int | None = None
    # name and parts, where several agents carried out the plan together.
    session: Mapping[str, Any] = field(default_factory=dict)


class RunElsewhere(Exception):
    """The run's id is used by another workspace; nothing was written."""


@transaction.atomic
def record_run(
    facts: RunFacts,
    records: Sequence[TrialRecord],
    elsewhere: Sequence[TrialRecord] = (),
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Write a run with its trials and cells; the trials in the order of `records`.

    `elsewhere`: its trials that came early, as they are recorded if that upload was not read.
    `meanwhile` is called before each trial; what it raises undoes everything. Raises RunElsewhere.
    """
    lock_names(facts.workspace)
    run = _run_row(facts)
    if not _lock(run):
        run.save(force_insert=True)
        everything = [*records, *elsewhere]
        return _write(run, everything, is_new=True, meanwhile=meanwhile)[: len(records)]
    run.save(force_update=True)
    known = set(Trial.objects.filter(run=run.pk).values_list("ordinal", flat=True))
    missing = [record for record in elsewhere if record.ordinal not in known]
    return _write(run, [*records, *missing], meanwhile=meanwhile)[: len(records)]


@transaction.atomic
def record_early(
    facts: RunFacts,
    records: Sequence[TrialRecord],
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Write some trials of a run, and the run as open where it is not there yet.

    A run that is there stays as it is but for these trials: early ones may come after its
    last word. `meanwhile` as for `record_run`. Raises RunElsewhere.
    """
    lock_names(facts.workspace)
    run = _run_row(facts, is_open=True)
    # Of two uploads that come first at once, one makes the run.
    insert_rows(Run, [run], ignore_conflicts=True)
    _lock(run)
    run = Run.objects.select_related("workspace", "server_host", "client_host").get(pk=run.pk)
    return _write(run, records, meanwhile=meanwhile)


@transaction.atomic
def rerecord_run(
    facts: RunFacts, records: Sequence[TrialRecord], elsewhere: Sequence[TrialRecord] = ()
) -> list[Trial]:
    """Put new trials and cells in the place of a run's old ones, but for the early ones.

    A trial keeps its id by its ordinal, so that links to it hold. Cells are new ones: what was
    computed of a cell may be kept by its id. Raises Run.DoesNotExist.
    """
    lock_names(facts.workspace)
    run = _run_row(facts)
    if not _lock(run):
        raise Run.DoesNotExist(str(run.pk))
    run.save(force_update=True)
    stay = [record.ordinal for record in elsewhere]
    replaced = Trial.objects.filter(run=run.pk).exclude(ordinal__in=stay)
    kept = dict(replaced.values_list("ordinal", "pk"))
    replaced.delete()
    return _write(run, records, kept)


def _lock(run: Run) -> bool:
    """Whether the run is there, locked then. What only the first word of it told stays."""
    found = Run.objects.select_for_update().filter(pk=run.pk).first()
    if found is None:
        return False
    if found.workspace_id != run.workspace_id:
        raise RunElsewhere(str(run.pk))
    run.recorded_at = found.recorded_at
    if run.server_host is None and found.server_host is not None:
        # Observed there meanwhile (runs/observing.py).
        run.server_host = found.server_host
        run.facts = {**run.facts, "server": found.facts.get("server", {})}
    return True


def _write(
    run: Run,
    records: Sequence[TrialRecord],
    kept: Mapping[int, uuid.UUID] | None = None,
    *,
    is_new: bool = False,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """The trials, in the place of those of the same ordinals; every cell they touch anew.

    `is_new`: the run has nothing yet, so nothing is looked for.
    """
    ids = dict(kept or {})
    if not is_new:
        ordinals = [record.ordinal for record in records]
        replaced = Trial.objects.filter(run=run.pk, ordinal__in=ordinals)
        ids |= dict(replaced.values_list("ordinal", "pk"))
        replaced.delete()
    writer = _Writer(run, ids)
    trials = []
    for record in records:
        # A new server, workload or series takes several statements.
        meanwhile()
        trials.append(writer.trial(record))
    writer.finish([] if is_new else list(Cell.objects.filter(run=run.pk)))
    run.workspace.changed()
    return trials


def _run_row(facts: RunFacts, *, is_open: bool = False) -> Run:
    return Run(
        id=facts.id,
        workspace=facts.workspace,
        author=facts.author,
        started_at=facts.started_at,
        finished_at=facts.finished_at,
        interrupted=facts.interrupted,
        same_host=facts.same_host,
        labels=dict(facts.labels),
        plan=facts.plan,
        plan_sha256=facts.plan_sha256,
        server_host=register_host(facts.workspace, facts.server_host),
        client_host=register_host(facts.workspace, facts.client_host),
        facts=_host_facts(facts),
        agent=dict(facts.agent),
        seed=facts.seed,
        stopped=facts.stopped,
        events=list(facts.events),
        max_rates=list(facts.max_rates),
        server_tails=dict(facts.server_tails),
        trials_planned=facts.trials_planned,
        session=dict(facts.session),
        is_open=is_open,
    )


def _host_facts(facts: RunFacts) -> dict[str, Any]:
    hosts = {"server": facts.server_host, "client": facts.client_host}
    return {role: dict(host.get("facts") or {}) for role, host in hosts.items() if host}


class _Writer:
    """Gathers the rows of one run and writes each kind with one statement."""

    def __init__(self, run: Run, trial_ids: Mapping[int, uuid.UUID]) -> None:
        self.run = run
        # Ids of trials that were recorded before, by ordinal.
        self.trial_ids = trial_ids
        self.cells: dict[tuple[object, ...], Cell] = {}
        self.trials: list[Trial] = []
        self.timelines: list[TrialTimeline] = []
        self.servers: dict[bytes, Server] = {}
        self.workloads: dict[bytes, Workload] = {}
        self.series: dict[SeriesIdentity, Series] = {}

    def trial(self, record: TrialRecord) -> Trial:
        server, workload = self._server(record.server), self._workload(record.workload)
        point = load_point(record)
        cell = self._cell(server, workload, point)
        facts = facts_of(record, point, self.run)
        trial = _trial_row(self.run, cell, record, facts)
        trial.id = self.trial_ids.get(record.ordinal, trial.id)
        self.trials.append(trial)
        if record.parsed.timeline:
            self.timelines.append(TrialTimeline.of(trial, record.parsed.timeline))
        return trial

    def finish(self, before: Sequence[Cell]) -> None:
        """Write everything. Of the cells `before`, one that gets trials becomes a new one."""
        old = [cell for cell in before if _load_of(cell) in self.cells]
        members: dict[uuid.UUID, list[Trial]] = defaultdict(list)
        for trial in self.trials:
            members[trial.cell_id].append(trial)
        for cell in old:
            members[self.cells[_load_of(cell)].pk] += cell.trials.only(*_MEMBER)
        for cell in self.cells.values():
            _merge(cell, sorted(members[cell.pk], key=lambda trial: trial.ordinal))
        insert_rows(Cell, self.cells.values())
        for cell in old:
            cell.trials.update(cell=self.cells[_load_of(cell)])
        # With them go those whose trials were all replaced by trials of another load.
        Cell.objects.filter(pk__in=[cell.pk for cell in before], trials=None).delete()
        insert_rows(Trial, self.trials)
        insert_rows(TrialTimeline, self.timelines)

    def _server(self, fields: Mapping[str, Any]) -> Server:
        key = identity_of(fields)
        if key not in self.servers:
            self.servers[key] = register_server(self.run.workspace, fields)
        return self.servers[key]

    def _workload(self, fields: Mapping[str, Any]) -> Workload:
        key = identity_of(fields)
        if key not in self.workloads:
            self.workloads[key] = register_workload(self.run.workspace, fields)
        return self.workloads[key]

    def _cell(self, server: Server, workload: Workload, point: LoadPoint) -> Cell:
        cell = Cell(
            run=self.run,
            workspace=self.run.workspace,
            series=self._series(server, workload, point),
            connections=point.connections,
            rate_rps=point.rate_rps,
        )
        return self.cells.setdefault(_load_of(cell), cell)

    def _series(self, server: Server, workload: Workload, point: LoadPoint) -> Series:
        identity = SeriesIdentity(
            server=server,
            workload=workload,
            server_host=self.run.server_host,
            client_host=self.run.client_host,
            tool=point.tool,
            tool_version=point.tool_version,
            loop=point.loop,
        )
        if identity not in self.series:
            self.series[identity] = register_series(self.run.workspace, identity)
        return self.series[identity]


def _load_of(cell: Cell) -> tuple[object, ...]:
    """What tells a cell from the others of its run."""
    return (cell.series_id, cell.connections, cell.rate_rps)


# What merging needs of a trial that was recorded before.
_MEMBER = (
    *("ordinal", "warmup", "throughput_rps", "error_rate", "percentiles_us"),
    *("requests_completed", "histogram", "cell"),
)


def _merge(cell: Cell, trials: Sequence[Trial]) -> None:
    """Its checks, count and histogram; the trials in the order they were executed."""
    counted = [trial for trial in trials if not trial.warmup]
    # A saved report says nothing of what was run before it; a plan lists every trial.
    warmed_up = len(counted) < len(trials) or (False if cell.run.plan else None)
    facts = [
        TrialFacts(
            throughput_rps=trial.throughput_rps,
            error_rate=trial.error_rate,
            percentiles_us=trial.percentiles_us,
        )
        for trial in counted
    ]
    found = check_cell(
        facts,
        min_trials=cell.run.workspace.min_trials,
        warmed_up=warmed_up,
    )
    cell.checks = [{"id": finding.id, "detail": finding.detail} for finding in found]
    cell.trial_count = sum(one.tells for one in facts)
    stored = [trial.histogram for trial in counted if trial.requests_completed]
    _merge_histograms(cell, [None if one is None else bytes(one) for one in stored])


def _trial_row(run: Run, cell: Cell, record: TrialRecord, facts: TrialFacts) -> Trial:
    parsed = record.parsed
    return Trial(
        run=run,
        cell=cell,
        ordinal=record.ordinal,
        repeat=record.repeat,
        warmup=record.warmup,
        started_at=record.started_at,
        finished_at=record.finished_at,
        command=list(record.command),
        exit_code=record.exit_code,
        error=record.error,
        incomplete=parsed.incomplete,
        elapsed_s=facts.elapsed_s,
        requests_completed=facts.requests_completed,
        requests_ok=facts.requests_ok,
        bytes_received=parsed.bytes_received,
        throughput_rps=facts.throughput_rps,
        goodput_rps=facts.goodput_rps,
        error_rate=facts.error_rate,
        reported_rps=facts.reported_rps,
        errors=dict(facts.errors),
        tool_errors=dict(parsed.tool_errors),
        status_counts=parsed.status_counts,
        latency_mean_us=facts.latency_mean_us,
        latency_min_us=facts.latency_min_us,
        latency_max_us=facts.latency_max_us,
        percentiles_us=dict(facts.percentiles_us),
        percentiles_origin=facts.percentiles_origin,
        latency_resolution_us=facts.latency_resolution_us,
        histogram=record.histogram,
        resources=dict(record.resources),
        load=dict(record.load),
        phase=record.phase,
        glance=dict(record.glance),
        server_tail=record.server_tail,
        parsed={} if record.reading is None else parsed.as_contract(),
        checks=[{"id": found.id, "detail": found.detail} for found in check_trial(facts)],
    )


def _merge_histograms(cell: Cell, encoded: Sequence[bytes | None]) -> None:
    # One trial without a distribution makes the merge incomplete: then there is none.
    if not encoded or any(item is None for item in encoded):
        return
    merged = Histogram.merge_all([Histogram.decode(item) for item in encoded if item is not None])
    cell.histogram = merged.encode()
    cell.percentiles_us = stored_percentiles(merged)
    cell.curve = {"count": merged.count, "points": percentile_curve(merged)}
