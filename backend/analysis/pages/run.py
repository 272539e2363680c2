"""What the page of one run shows: the run, its hosts and every trial, warm-ups too.

And its corrections: who set what to which value, and what is undone.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from backend.analysis.loading.selection import NotVisible
from backend.analysis.pages.repeated_outputs import find_repeated_outputs
from backend.analysis.pages.run_trials import (
    ALL_DETAILS,
    ShownCell,
    ShownTrial,
    describe_finding,
    give_details,
    read_trial,
    read_trials_of_run,
)
from backend.analysis.query.timestamps import instant
from backend.formats.latency_steps import finest_step_us
from backend.runs.catalogue.naming import run_name
from backend.runs.catalogue.run_states import REASON_NOT_READ, state_of
from backend.runs.checks import SEVERITIES, Finding
from backend.runs.database.read_router import repeatable_read
from backend.runs.measured.host_facts import facts_of
from backend.runs.measured.measured import throughput_origin
from backend.runs.models import Correction, Host, Run, Trial
from backend.runs.registry.registry import identity_fields

# Of the members nothing but their name.
_COLUMNS = (
    *("pk", "field", "ordinals", "before", "value", "made_at", "undone_at"),
    *("author__username", "undone_by__username"),
)
_LABELS = dict(Correction.Field.choices)


@repeatable_read()
def describe_run(run_id: uuid.UUID, *, workspace_ids: Sequence[uuid.UUID]) -> dict[str, Any]:
    """The run with its trials in order, without their details (`give_details`).

    Raises NotVisible for one that is not the reader's.
    """
    rows = Run.objects.select_related("workspace", "server_host", "client_host")
    rows = rows.annotate(not_read=REASON_NOT_READ)
    run = rows.filter(pk=run_id, workspace_id__in=workspace_ids).first()
    if run is None:
        raise NotVisible(f"There is no run {run_id}, or it is not shared with you.")
    trials = read_trials_of_run(run.pk)
    repeated = find_repeated_outputs(run.workspace_id, run.pk)
    return {
        "id": str(run.pk),
        "name": _name(trials),
        "workspace": run.workspace.slug,
        "started_at": instant(run.started_at),
        "finished_at": instant(run.finished_at),
        "recorded_at": instant(run.recorded_at),
        "state": _state(run, trials),
        "not_read": run.not_read.splitlines(),
        "interrupted": run.interrupted,
        "open": run.is_open,
        "trials_planned": run.trials_planned,
        "same_host": run.same_host,
        "labels": run.labels,
        "notes": run.notes,
        "plan": run.plan,
        "plan_sha256": run.plan_sha256,
        "agent": run.agent,
        "seed": run.seed,
        "session": run.session,
        "stopped": run.stopped,
        "events": run.events,
        "max_rates": run.max_rates,
        "server_tails": run.server_tails,
        "hosts": describe_hosts(run),
        "trials": _describe_trials(trials, repeated),
    }


def _state(run: Any, trials: Sequence[ShownTrial]) -> str:
    return state_of(
        is_open=run.is_open,
        is_interrupted=run.interrupted,
        has_failed=any(trial.error for trial in trials),
        is_partial=bool(run.not_read),
    )


@repeatable_read()
def describe_single_trial(
    trial_id: uuid.UUID, *, workspace_ids: Sequence[uuid.UUID]
) -> dict[str, Any]:
    """One trial as its run has it, with the id of the run; raises as `describe_run`."""
    rows = Trial.of_kept_runs.filter(pk=trial_id, run__workspace__in=workspace_ids)
    of = rows.values_list("run", "run__workspace").first()
    if of is None:
        raise NotVisible(f"There is no trial {trial_id}, or it is not shared with you.")
    run_id, workspace_id = of
    repeated = find_repeated_outputs(workspace_id, run_id, trial_id)
    (described,) = _describe_trials([read_trial(trial_id)], repeated)
    give_details([described], ALL_DETAILS)
    return {**described, "run": str(run_id)}


def _name(trials: Sequence[ShownTrial]) -> str:
    cells = {trial.cell.pk: trial.cell for trial in trials}.values()
    return run_name(
        (cell.server for cell in cells),
        (cell.workload for cell in cells),
        (cell.tool for cell in cells),
    )


def _describe_trials(
    trials: Sequence[ShownTrial], repeated: Mapping[str, Finding]
) -> list[dict[str, Any]]:
    cells = {trial.cell.pk: trial.cell for trial in trials}
    load_points = {pk: _describe_load_point(cell) for pk, cell in cells.items()}
    return [
        _describe_trial(trial, load_points[trial.cell.pk], repeated.get(trial.pk))
        for trial in trials
    ]


def describe_hosts(run: Run) -> list[dict[str, Any]]:
    """The hosts with all their facts; one entry where client and server are one machine."""
    server, client = run.server_host, run.client_host
    if server is not None and server == client:
        # The client's says more: of the load tool, the clock and the score.
        both = {**facts_of(run, "client"), **facts_of(run, "server")}
        return [_host(server, "client and server", both)]
    pairs = (("server", server), ("client", client))
    return [_host(host, role, facts_of(run, role)) for role, host in pairs if host is not None]


def _host(host: Host, role: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": str(host.pk), "role": role, **identity_fields(host), "facts": facts}


def _describe_trial(
    trial: ShownTrial, load_point: Mapping[str, Any], repeated: Finding | None
) -> dict[str, Any]:
    """One trial as the run page lists it. `repeated`: what is said of others with its output."""
    return {
        "id": trial.pk,
        "ordinal": trial.ordinal,
        **load_point,
        "repeat": trial.repeat,
        "warmup": trial.warmup,
        "phase": trial.phase,
        "started_at": instant(trial.started_at),
        "elapsed_s": trial.elapsed_s,
        "throughput": trial.throughput_rps,
        "throughput_origin": throughput_origin(
            trial.throughput_rps, trial.requests_completed, trial.elapsed_s
        ),
        "reported_rps": trial.reported_rps,
        "p50_us": trial.p50_us,
        "p99_us": trial.p99_us,
        "latency_step_us": finest_step_us(
            trial.cell.tool, trial.latency_resolution_us, (trial.p50_us, trial.p99_us)
        ),
        "origin": trial.percentiles_origin,
        "error_rate": trial.error_rate,
        "errors": trial.errors,
        "requests": trial.requests_completed,
        "checks": _worst_first(trial.checks, repeated),
        "load": trial.load,
        "exit_code": trial.exit_code,
        "incomplete": trial.incomplete,
        "error": trial.error,
    }


def _worst_first(
    checks: Sequence[dict[str, Any]], repeated: Finding | None
) -> list[dict[str, Any]]:
    """The stored checks, and what is said of others with this output: errors before warnings."""
    found = [] if repeated is None else [describe_finding(repeated.as_dict())]
    return sorted([*checks, *found], key=lambda check: SEVERITIES.index(check["severity"]))


def _describe_load_point(cell: ShownCell) -> dict[str, Any]:
    return {
        "cell": cell.pk,
        "server": cell.server,
        "slot": cell.slot,
        "workload": cell.workload,
        "tool": f"{cell.tool} {cell.tool_version or ''}".strip(),
        "loop": cell.loop,
        "connections": cell.connections,
        "rate_rps": cell.rate_rps,
    }


def describe_corrections(run_id: uuid.UUID) -> list[dict[str, Any]]:
    """The corrections of the run, the latest first; what was undone is among them."""
    rows = Correction.objects.filter(run=run_id).values(*_COLUMNS)
    return [_describe(row) for row in rows.order_by("-made_at", "-pk")]


def _describe(correction: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": str(correction["pk"]),
        "field": correction["field"],
        "label": _LABELS.get(correction["field"], correction["field"]),
        "trials": correction["ordinals"],
        "before": correction["before"],
        "value": correction["value"],
        "author": correction["author__username"],
        "made_at": instant(correction["made_at"]),
        "undone_by": correction["undone_by__username"],
        "undone_at": instant(correction["undone_at"]),
    }
