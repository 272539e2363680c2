"""Giving a recorded run the hosts, servers and workloads that its corrections and names lead to.

It starts from what was read (runs/recording/as_read.py), so it gives what recording the run again
would give.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Sum

from backend.runs.checks import CHECKS, CheckInput, check_trial
from backend.runs.database.bulk import as_json, copy_rows
from backend.runs.database.json_bytes import bytes_of_columns
from backend.runs.database.portions import portions
from backend.runs.measured.measured import server_texts
from backend.runs.measured.trial_parts import give_cells
from backend.runs.models import Cell, Correction, Host, Run, Series, Trial
from backend.runs.recording.as_read import (
    read_run,
    read_trial,
    run_as_read,
    trial_as_read,
    trials_sharing_as_read,
)
from backend.runs.recording.cells import MEMBER_COLUMNS, load_of, merge_cell, runs_listing_warmups
from backend.runs.recording.configurations import configuration_bytes
from backend.runs.recording.corrections import (
    TRIAL_FIELDS,
    as_time,
    correct_run,
    correct_trial,
    standing_corrections_of_runs,
)
from backend.runs.registry.identity import canonical_json
from backend.runs.registry.registry import (
    HOST_ROLES,
    PARTS,
    SeriesIdentity,
    identity_fields,
    register_host,
    register_series,
    register_servers,
    register_workloads,
)
from backend.runs.tables.large_columns import large_columns

# Checks of a trial that depend on the names of what was measured and on nothing that was read.
NAME_CHECKS = frozenset({"unknown-server-version", "unknown-host", "development-mode"})
# The place of each check among all.
_PLACES = {id_: place for place, id_ in enumerate(CHECKS)}
# Of one transaction that undoes a merge: so many runs, trials and bytes of both are in memory at a
# time; one run is never divided, but for the texts that its checks are made of.
RUNS_AT_ONCE, TRIALS_AT_ONCE, BYTES_AT_ONCE = 50, 10_000, 8 << 20
# Of the large columns of a run, those that are needed.
_LARGE_COLUMNS = ("as_read", "server_tails")
_RUN_COLUMNS = (*HOST_ROLES, "started_at", "finished_at", "labels", "notes", "as_read")
# The active corrections of each run, the earliest first.
_OfRuns = Mapping[UUID, Sequence[Correction]]
_TRIAL_COLUMNS = (*MEMBER_COLUMNS, "run", "as_read")
_CHECK_COLUMNS = ("checks", "server_tail")


def regroup(run: Run, corrections: Sequence[Correction]) -> None:
    """Write the columns of the run, and its cells again where their series changed.

    Call it in a transaction, with the names locked exclusively.
    """
    write_columns(run, corrections)
    _regroup_trials([run], {run.pk: corrections})


def write_columns(run: Run, corrections: Sequence[Correction]) -> None:
    """Write the columns of the run alone: enough where no host and no trial changes.

    Call it in a transaction, with the names locked exclusively.
    """
    read = read_run(run)
    corrected = correct_run(read, corrections)
    for role in HOST_ROLES:
        setattr(run, role, register_host(run.workspace, corrected[role]))
    for name in ("started_at", "finished_at"):
        setattr(run, name, as_time(corrected[name]))
    run.labels, run.notes = corrected["labels"], corrected["notes"]
    run.as_read = run_as_read(read, run)
    run.save(update_fields=_RUN_COLUMNS)
    run.workspace.changed()


def regroup_all(run_ids: Sequence[UUID]) -> None:
    """As `regroup`, for runs of one workspace after a name changed. Only hosts and series can.
    What is needed of them is read here, for few runs at a time.

    It takes as many statements for `RUNS_AT_ONCE` small runs as for one. Call it in a transaction,
    with the names locked exclusively.
    """
    corrections = standing_corrections_of_runs(run_ids)
    rows = Run.with_trash.select_related("workspace", "server_host", "client_host")
    rows = rows.defer(*set(large_columns()).difference(_LARGE_COLUMNS))
    for portion in _portions(run_ids):
        some = [*rows.in_bulk(portion).values()]
        _write_hosts(some, corrections)
        _regroup_trials(some, corrections)


def _portions(run_ids: Sequence[UUID]) -> Iterator[list[UUID]]:
    runs = Run.with_trash.filter(pk__in=run_ids).order_by()
    of_runs = dict(runs.values_list("pk", bytes_of_columns(Run, _LARGE_COLUMNS)))
    trials = Trial.objects.filter(run__in=run_ids).order_by().values("run")
    totals = trials.annotate(trials=Count("pk"), size=Sum(bytes_of_columns(Trial, _TRIAL_COLUMNS)))
    of_trials = {run_id: sizes for run_id, *sizes in totals.values_list("run", "trials", "size")}
    configurations = configuration_bytes(run_ids)
    sized = []
    for run_id in run_ids:
        count, size = of_trials.get(run_id, (0, 0))
        sized.append((run_id, (1, count, of_runs[run_id] + size + configurations[run_id])))
    return portions(sized, (RUNS_AT_ONCE, TRIALS_AT_ONCE, BYTES_AT_ONCE))


def _write_hosts(runs: Sequence[Run], corrections: _OfRuns) -> None:
    hosts: dict[bytes, Host | None] = {}
    for run in runs:
        read = read_run(run)
        corrected = correct_run(read, corrections[run.pk])
        for role in HOST_ROLES:
            key = canonical_json(corrected[role])
            if key not in hosts:
                hosts[key] = register_host(run.workspace, corrected[role])
            setattr(run, role, hosts[key])
        run.as_read = run_as_read(read, run)
    Run.with_trash.bulk_update(runs, [*HOST_ROLES, "as_read"])


def _regroup_trials(runs: Sequence[Run], corrections: _OfRuns) -> None:
    by_id = {run.pk: run for run in runs}
    rows = Trial.objects.filter(run__in=runs).only(*_TRIAL_COLUMNS)
    trials = trials_sharing_as_read(rows.order_by("run", "ordinal"))
    give_cells(trials, *PARTS)
    for trial in trials:
        trial.run = by_id[trial.run_id]
    before = [_stored_columns(trial) for trial in trials]
    outcomes = _outcomes_of(trials, corrections)
    _give_checks(trials, outcomes)
    for trial, outcome in zip(trials, outcomes, strict=True):
        trial.as_read = outcome.as_read
    _regroup_cells(trials, [outcome.series for outcome in outcomes])
    pairs = zip(trials, before, strict=True)
    _save_changed([trial for trial, columns in pairs if _stored_columns(trial) != columns])
    with connection.cursor() as cursor:
        cursor.execute(_REMOVE_EMPTY, [list(by_id)])


def _stored_columns(trial: Trial) -> tuple[object, ...]:
    return trial.cell_id, trial.as_read


# Trials share what was read of them, which may be large: each text is sent once.
_SAVE = """
UPDATE runs_trial SET cell_id = changed.cell, as_read = kinds.as_read
FROM jsonb_to_recordset(%s::jsonb) AS changed (id uuid, cell uuid, kind int)
JOIN jsonb_to_recordset(%s::jsonb) AS kinds (kind int, as_read jsonb) USING (kind)
WHERE runs_trial.id = changed.id
"""
_SAVE_CHECKS = """
UPDATE runs_trial SET checks = changed.checks
FROM jsonb_to_recordset(%s::jsonb) AS changed (id uuid, checks jsonb)
WHERE runs_trial.id = changed.id
"""
# Nothing but trials refers to a cell.
_REMOVE_EMPTY = """
DELETE FROM runs_cell WHERE run_id = ANY(%s)
AND NOT EXISTS (SELECT FROM runs_trial WHERE runs_trial.cell_id = runs_cell.id)
"""


def _save_changed(trials: Sequence[Trial]) -> None:
    """In one statement: `bulk_update` takes far longer."""
    if not trials:
        return
    kinds: dict[int, dict[str, Any]] = {}
    for trial in trials:
        kinds.setdefault(id(trial.as_read), {"kind": len(kinds), "as_read": trial.as_read})
    changed = [
        {
            "id": str(trial.pk),
            "cell": str(trial.cell_id),
            "kind": kinds[id(trial.as_read)]["kind"],
        }
        for trial in trials
    ]
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, [as_json(changed), as_json(list(kinds.values()))])


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What trials become that have one series and were read and corrected alike."""

    series: Series
    as_read: dict[str, Any] | None


def _outcomes_of(trials: Sequence[Trial], corrections: _OfRuns) -> Sequence[_Outcome]:
    """Of each trial; computed once for all that are alike, which mostly are thousands."""
    by_run = {run_id: _of_trials(corrections[run_id]) for run_id in {t.run_id for t in trials}}
    keys = [_likeness(trial, by_run[trial.run_id]) for trial in trials]
    # One of each kind.
    examples = dict(zip(keys, trials, strict=True))
    reads = [read_trial(trial) for trial in examples.values()]
    all_series = _series_of(list(examples.values()), reads, corrections)
    outcomes = {
        key: _Outcome(series, trial_as_read(read, series))
        for key, read, series in zip(examples, reads, all_series, strict=True)
    }
    return [outcomes[key] for key in keys]


# Of each correction of trials: their ordinals, or None for all.
_Chosen = Sequence[frozenset[int] | None]


def _of_trials(corrections: Sequence[Correction]) -> _Chosen:
    return [
        None if correction.ordinals is None else frozenset(correction.ordinals)
        for correction in corrections
        if correction.field in TRIAL_FIELDS
    ]


def _likeness(trial: Trial, chosen: _Chosen) -> tuple[object, ...]:
    """Equal for trials of a run that become the same. Those with one `as_read` share it."""
    which = tuple(ordinals is None or trial.ordinal in ordinals for ordinals in chosen)
    return (trial.run_id, trial.cell.series_id, id(trial.as_read), which)


def _series_of(
    trials: Sequence[Trial], reads: Sequence[Mapping[str, Any]], corrections: _OfRuns
) -> Sequence[Series]:
    """The series of each trial, with its server and its workload, made where they are new."""
    if not trials:
        return []
    workspace = trials[0].run.workspace
    corrected = [
        correct_trial(read, trial.ordinal, corrections[trial.run_id])
        for trial, read in zip(trials, reads, strict=True)
    ]
    servers = register_servers(workspace, [parts["server"] for parts in corrected])
    workloads = register_workloads(workspace, [parts["workload"] for parts in corrected])
    identities = [
        replace(
            SeriesIdentity.of(trial.cell.series),
            server=server,
            workload=workload,
            server_host=trial.run.server_host,
            client_host=trial.run.client_host,
        )
        for trial, server, workload in zip(trials, servers, workloads, strict=True)
    ]
    return register_series(workspace, identities)


def _regroup_cells(trials: Sequence[Trial], all_series: Sequence[Series]) -> None:
    """Set the cell of each trial; a cell that gains or loses trials is replaced by a new one.

    Results computed from a cell may be cached by its id, so no stored cell changes.
    """
    groups: dict[tuple[object, ...], _Group] = {}
    for trial, series in zip(trials, all_series, strict=True):
        load = (trial.cell.connections, trial.cell.rate_rps)
        key = (trial.run_id, series.pk, *load)
        if key not in groups:
            cell = Cell(run=trial.run, workspace=trial.run.workspace, series=series)
            cell.connections, cell.rate_rps = load
            groups[key] = _Group(cell)
        groups[key].trials.append(trial)
    sizes = Counter(trial.cell_id for trial in trials)
    changed = [group for group in groups.values() if not group.is_stored(sizes)]
    _merge(changed)
    copy_rows(Cell, [group.cell for group in changed])
    for group in changed:
        for trial in group.trials:
            trial.cell = group.cell


@dataclass(frozen=True, slots=True)
class _Group:
    """The trials of one series at one load, and the cell they would have."""

    cell: Cell
    trials: list[Trial] = field(default_factory=list)

    def is_stored(self, sizes: Mapping[UUID, int]) -> bool:
        """Whether a stored cell has these trials, and no other; `sizes`: trials of each cell."""
        (first, *others) = {trial.cell_id for trial in self.trials}
        is_same_load = load_of(self.trials[0].cell) == load_of(self.cell)
        return not others and is_same_load and sizes[first] == len(self.trials)


def _give_checks(trials: Sequence[Trial], outcomes: Sequence[_Outcome]) -> None:
    """Store the findings of each trial with those of `NAME_CHECKS` for its current names, of few
    trials at a time."""
    named = {trial.pk: (trial, each.series) for trial, each in zip(trials, outcomes, strict=True)}
    stored = Trial.objects.filter(run__in={trial.run_id for trial in trials}).order_by()
    sizes = stored.values_list("pk", bytes_of_columns(Trial, _CHECK_COLUMNS))
    sized = ((pk, (1, size)) for pk, size in sizes)
    for some in portions(sized, (TRIALS_AT_ONCE, BYTES_AT_ONCE)):
        rows = stored.filter(pk__in=some).values_list("pk", *_CHECK_COLUMNS, "printed__software")
        _save_checks(_changed_checks(rows, named))


# pk, checks, what the server printed last, and the software that the output names.
_CheckRow = tuple[UUID, list[dict[str, Any]], str, str | None]


def _changed_checks(
    rows: Iterable[_CheckRow], named: Mapping[UUID, tuple[Trial, Series]]
) -> Iterator[dict[str, Any]]:
    """The id and the findings of each trial whose findings change."""
    found: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for pk, checks, tail, software in rows:
        trial, series = named[pk]
        key = (trial.run_id, series.pk, tail, software)
        if key not in found:
            found[key] = _checks_by_name(trial.run, series, tail, software)
        kept = [finding for finding in checks if finding["id"] not in NAME_CHECKS]
        after = sorted(kept + found[key], key=lambda finding: _PLACES.get(finding["id"], -1))
        if after != checks:
            yield {"id": str(pk), "checks": after}


def _save_checks(changed: Iterable[Mapping[str, Any]]) -> None:
    if rows := list(changed):
        with connection.cursor() as cursor:
            cursor.execute(_SAVE_CHECKS, [as_json(rows)])


def _checks_by_name(
    run: Run, series: Series, server_tail: str, software: str | None
) -> list[dict[str, Any]]:
    """The findings of `NAME_CHECKS`."""
    server = identity_fields(series.server)
    named = check_trial(
        CheckInput(
            server_version=server["version"],
            server_software=software,
            host_known=run.server_host is not None,
            server_texts=tuple(server_texts(server, server_tail, run)),
        ),
        only=NAME_CHECKS,
    )
    return [finding.as_dict() for finding in named]


def _merge(groups: Sequence[_Group]) -> None:
    listing = runs_listing_warmups({group.cell.run_id for group in groups})
    for group in groups:
        merge_cell(group.cell, group.trials, lists_warmups=group.cell.run_id in listing)
