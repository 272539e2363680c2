"""Recording a run: one function that writes servers, hosts, workloads, cells and trials.

Everything is written in the caller's transaction. A run comes whole, or trial by trial while it
goes on: then it is open until the agent uploads the whole run. Each upload is recorded completely
or not at all.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from backend.accounts.models import User, Workspace
from backend.runs.database.bulk import copy_rows, delete_rows, insert_rows
from backend.runs.measured.measured import LoadPoint, TrialRecord, check_input_of, load_point
from backend.runs.models import Cell, Correction, Run, Series, Trial, TrialTimeline
from backend.runs.recording.as_read import run_as_read, trial_as_read
from backend.runs.recording.cells import (
    MEMBER_COLUMNS,
    give_totals,
    load_of,
    merge_cell,
    runs_listing_warmups,
)
from backend.runs.recording.configurations import (
    FEW_CELLS,
    refuse_many_configurations,
    refuse_many_read,
)
from backend.runs.recording.corrections import (
    active_corrections,
    correct_input,
    correct_record,
    read_of_run,
)
from backend.runs.recording.refusals import RunElsewhere, TooManyTrials
from backend.runs.recording.trial_row import trial_row
from backend.runs.registry.registry import (
    SeriesIdentity,
    lock_names,
    register_host,
    register_series,
    register_servers,
    register_workloads,
)
from backend.runs.tables.names import MAX_TRIALS


@dataclass(frozen=True, slots=True)
class RunInput:
    """A run as a whole, without its trials: columns of the run, with the hosts as they came."""

    id: uuid.UUID
    workspace: Workspace
    author: User | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    interrupted: bool = False
    same_host: bool | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)
    notes: str = ""
    plan: str = ""
    plan_sha256: str = ""
    server_host: Mapping[str, Any] | None = None
    client_host: Mapping[str, Any] | None = None
    # The program that measured: name, version, hostname.
    agent: Mapping[str, Any] = field(default_factory=dict)
    # The seed of the order of its trials, and the rule of the plan that ended it early.
    seed: int | None = None
    stopped: str = ""
    # Events between the trials: at, kind, text.
    events: Sequence[Mapping[str, Any]] = field(default_factory=list)
    # The result of a search: server, workload, rate_rps, confirmed.
    max_rates: Sequence[Mapping[str, Any]] = field(default_factory=list)
    # What each server printed last.
    server_tails: Mapping[str, str] = field(default_factory=dict)
    # In its plan, warm-ups included.
    trials_planned: int | None = None
    # name and parts, where several agents carried out the plan together.
    session: Mapping[str, Any] = field(default_factory=dict)


@transaction.atomic
def record_run(
    run_input: RunInput,
    records: Sequence[TrialRecord],
    elsewhere: Sequence[TrialRecord] = (),
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Write a run with its trials and cells; the trials in the order of `records`.

    `elsewhere`: its trials that came early, as they are recorded if that upload was not read.
    `meanwhile` is called before each trial; what it raises undoes everything. Raises RunElsewhere
    and RunTooLarge.
    """
    lock_names(run_input.workspace)
    corrections = active_corrections(run_input.id)
    run = run_row(run_input, corrections)
    if not _lock(run):
        everything = [*records, *elsewhere]
        (trials,) = write_new([run], [everything], corrections, meanwhile=meanwhile)
        return trials[: len(records)]
    run.save(force_update=True)
    recorded = set(Trial.objects.filter(run=run.pk).values_list("ordinal", flat=True))
    missing = [record for record in elsewhere if record.ordinal not in recorded]
    if len(recorded.union(record.ordinal for record in [*records, *missing])) > MAX_TRIALS:
        raise TooManyTrials
    trials = _write(run, [*records, *missing], corrections, meanwhile=meanwhile)
    refuse_many_configurations(run)
    return trials[: len(records)]


@transaction.atomic
def record_early(
    run_input: RunInput,
    records: Sequence[TrialRecord],
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Write some trials of a run, and the run as open where it is not there yet.

    A stored run changes by these trials only: they may come after the whole run. `meanwhile` as for
    `record_run`. Raises RunElsewhere and RunTooLarge.
    """
    lock_names(run_input.workspace)
    corrections = active_corrections(run_input.id)
    run = run_row(run_input, corrections, is_open=True)
    # Two first uploads at the same time: one of them makes the run.
    insert_rows(Run, [run], ignore_conflicts=True)
    _lock(run)
    if Trial.objects.filter(run=run.pk).count() + len(records) > MAX_TRIALS:
        raise TooManyTrials
    rows = Run.with_trash.select_related("workspace", "server_host", "client_host")
    run = rows.get(pk=run.pk)
    if not run.is_open:
        # Who exported it has other trials in their place.
        Run.with_trash.filter(pk=run.pk).update(completed_at=Now())
    trials = _write(run, records, corrections, meanwhile=meanwhile)
    refuse_many_configurations(run)
    return trials


@transaction.atomic
def rerecord_run(
    run_input: RunInput, records: Sequence[TrialRecord], elsewhere: Sequence[TrialRecord] = ()
) -> list[Trial]:
    """Replace the trials and cells of a run, except trials that came early.

    A trial keeps its id by its ordinal, so that links to it still work. Cells get new ids,
    because results computed from a cell may be cached by its id. Raises Run.DoesNotExist.
    """
    lock_names(run_input.workspace)
    corrections = active_corrections(run_input.id)
    run = run_row(run_input, corrections)
    if not _lock(run):
        raise Run.DoesNotExist(str(run.pk))
    run.save(force_update=True)
    stay = [record.ordinal for record in elsewhere]
    replaced = Trial.objects.filter(run=run.pk).exclude(ordinal__in=stay)
    trial_ids = dict(replaced.values_list("ordinal", "pk"))
    delete_rows(replaced)
    trials = _write(run, records, corrections, trial_ids)
    refuse_many_configurations(run)
    return trials


def _lock(run: Run) -> bool:
    """Lock the stored run, if there is one; whether there is.

    `run` then keeps what only the stored run has.
    """
    stored = Run.with_trash.select_for_update().filter(pk=run.pk).first()
    if stored is None:
        return False
    if stored.workspace_id != run.workspace_id:
        raise RunElsewhere(run.pk)
    run.recorded_at = stored.recorded_at
    run.completed_at = Now() if stored.is_open else stored.completed_at
    run.trashed_at, run.trashed_by_id = stored.trashed_at, stored.trashed_by_id
    run.counted_trials, run.best_rps = stored.counted_trials, stored.best_rps
    if run.server_host is None and stored.server_host is not None:
        # The host was observed in the meantime (runs/recording/observations.py).
        run.server_host = stored.server_host
        run.facts = {**run.facts, "server": stored.facts.get("server", {})}
    return True


def _write(
    run: Run,
    records: Sequence[TrialRecord],
    corrections: Sequence[Correction],
    trial_ids: Mapping[int, uuid.UUID] | None = None,
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Write the trials in place of those with the same ordinals, and their cells again."""
    ordinals = [record.ordinal for record in records]
    replaced = Trial.objects.filter(run=run.pk, ordinal__in=ordinals)
    ids = {**(trial_ids or {}), **dict(replaced.values_list("ordinal", "pk"))}
    delete_rows(replaced)
    writer = Writer(run, ids)
    _gather([writer], [records], corrections, meanwhile)
    writer.finish(list(Cell.objects.filter(run=run.pk)))
    run.workspace.changed()
    return writer.trials


def write_new(
    runs: Sequence[Run],
    records: Sequence[Sequence[TrialRecord]],
    corrections: Sequence[Correction] = (),
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[list[Trial]]:
    """Write runs of one workspace that are not stored, each kind of row with one COPY; the trials
    of each run, in the order of its records.

    `corrections`: of these runs, made before.
    """
    writers = [Writer(run, {}) for run in runs]
    _gather(writers, records, corrections, meanwhile)
    trials = list(chain.from_iterable(writer.trials for writer in writers))
    listing = runs_listing_warmups([run.pk for run in runs], trials)
    for writer in writers:
        writer.merge_cells(lists_warmups=writer.run.pk in listing)
        give_totals(writer.run, writer.cells.values(), writer.trials)
    copy_rows(Run, runs)
    copy_rows(Cell, chain.from_iterable(writer.cells.values() for writer in writers))
    copy_rows(Trial, trials)
    copy_rows(TrialTimeline, chain.from_iterable(writer.timelines for writer in writers))
    for writer in writers:
        if len(writer.cells) > FEW_CELLS:
            refuse_many_configurations(writer.run)
    # Last: the row of the workspace stays locked until the transaction ends.
    runs[0].workspace.changed()
    return [writer.trials for writer in writers]


def _gather(
    writers: Sequence[Writer],
    records: Sequence[Sequence[TrialRecord]],
    corrections: Sequence[Correction],
    meanwhile: Callable[[], None],
) -> None:
    """Hand each writer the records of its run, with their series."""
    for own in records:
        refuse_many_read(own)
    owners = [writer for writer, own in zip(writers, records, strict=True) for _ in own]
    read = list(chain.from_iterable(records))
    points = [load_point(record) for record in read]
    corrected = [correct_record(record, corrections) for record in read]
    all_series = series_of([writer.run for writer in owners], corrected, points)
    rows = zip(owners, read, corrected, points, all_series, strict=True)
    for writer, as_sent, record, point, series in rows:
        meanwhile()
        as_read = trial_as_read({"server": as_sent.server, "workload": as_sent.workload}, series)
        writer.add(record, point, series, as_read)


def series_of(
    runs: Sequence[Run], records: Sequence[TrialRecord], points: Sequence[LoadPoint]
) -> Sequence[Series]:
    """The series of each record, with its server and its workload, made where they are new.

    `runs`: the run of each record, all of one workspace.
    """
    if not runs:
        return []
    workspace = runs[0].workspace
    servers = register_servers(workspace, [record.server for record in records])
    workloads = register_workloads(workspace, [record.workload for record in records])
    identities = [
        SeriesIdentity(
            server=server,
            workload=workload,
            server_host=run.server_host,
            client_host=run.client_host,
            tool=point.tool,
            tool_version=point.tool_version,
            loop=point.loop,
        )
        for run, server, workload, point in zip(runs, servers, workloads, points, strict=True)
    ]
    return register_series(workspace, identities)


def run_row(read: RunInput, corrections: Sequence[Correction], *, is_open: bool = False) -> Run:
    run_input = correct_input(read, corrections)
    columns = {each.name: getattr(run_input, each.name) for each in fields(run_input)}
    for role in ("server_host", "client_host"):
        columns[role] = register_host(run_input.workspace, columns[role])
    run = Run(**columns, facts=_host_facts(run_input), is_open=is_open)
    run.as_read = run_as_read(read_of_run(read), run)
    return run


def _host_facts(run_input: RunInput) -> dict[str, Any]:
    hosts = {"server": run_input.server_host, "client": run_input.client_host}
    return {role: dict(host.get("facts") or {}) for role, host in hosts.items() if host}


class Writer:
    """Gathers the rows of one run and writes each kind with one statement."""

    def __init__(self, run: Run, trial_ids: Mapping[int, uuid.UUID]) -> None:
        self.run = run
        # Ids of trials that were recorded before, by ordinal.
        self.trial_ids = trial_ids
        self.cells: dict[tuple[object, ...], Cell] = {}
        self.trials: list[Trial] = []
        self.timelines: list[TrialTimeline] = []

    def add(
        self,
        record: TrialRecord,
        point: LoadPoint,
        series: Series,
        as_read: Mapping[str, Any] | None,
    ) -> None:
        cell = self._cell(series, point)
        figures = check_input_of(record, point, self.run)
        trial = trial_row(self.run, cell, record, figures)
        trial.id = self.trial_ids.get(record.ordinal, trial.id)
        trial.as_read = as_read
        self.trials.append(trial)
        if record.reading is not None and record.reading.timeline is not None:
            self.timelines.append(TrialTimeline(trial.pk, packed=record.reading.timeline))

    def finish(self, before: Sequence[Cell]) -> None:
        """Write everything. Of the cells `before`, one that gets trials becomes a new one."""
        old = [cell for cell in before if load_of(cell) in self.cells]
        lists_warmups = bool(runs_listing_warmups([self.run.pk], self.trials))
        self.merge_cells(old, lists_warmups=lists_warmups)
        copy_rows(Cell, self.cells.values())
        for cell in old:
            cell.trials.update(cell=self.cells[load_of(cell)])
        # Also the cells whose trials were all replaced by trials of another load.
        delete_rows(Cell.objects.filter(pk__in=[cell.pk for cell in before], trials=None))
        copy_rows(Trial, self.trials)
        copy_rows(TrialTimeline, self.timelines)

    def merge_cells(self, old: Sequence[Cell] = (), *, lists_warmups: bool) -> None:
        """Merge the trials of each cell, with those of the `old` cell at its load."""
        members: dict[uuid.UUID, list[Trial]] = defaultdict(list)
        for trial in self.trials:
            members[trial.cell_id].append(trial)
        for cell in old:
            members[self.cells[load_of(cell)].pk] += cell.trials.only(*MEMBER_COLUMNS)
        for cell in self.cells.values():
            in_order = sorted(members[cell.pk], key=lambda trial: trial.ordinal)
            merge_cell(cell, in_order, lists_warmups=lists_warmups)

    def _cell(self, series: Series, point: LoadPoint) -> Cell:
        cell = Cell(
            run=self.run,
            workspace=self.run.workspace,
            series=series,
            connections=point.connections,
            rate_rps=point.rate_rps,
        )
        return self.cells.setdefault(load_of(cell), cell)
