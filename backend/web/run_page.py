"""One run with its trials and their evidence, and its deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.analysis.grouping.fired_checks import describe_check, find_check
from backend.analysis.loading.selection import NotVisible
from backend.analysis.pages.reproduction import describe_reproduction
from backend.analysis.pages.resource_use import resource_columns
from backend.analysis.pages.run import describe_run
from backend.analysis.pages.run_history import describe_corrections
from backend.analysis.pages.run_summary import summarise_run
from backend.fleet.progress import RunProgress, run_progress
from backend.ingest.download import plan_file
from backend.ingest.evidence import artefacts_by_trial, rereadings_of
from backend.ingest.models import Upload
from backend.links import absolute, compare_link, link_to, session_link, trial_link
from backend.runs.checks import SEVERITIES
from backend.runs.dismissals import dismissals_of
from backend.runs.models import Cell, Run, Series
from backend.runs.naming import trial_count_text
from backend.runs.shown import shown_series
from backend.web import visible
from backend.web.host_facts import shown_host
from backend.web.registry import SLOTS
from backend.web.small_charts import small_charts

# The id of each part of the page, and its label.
TABS = (
    ("results", "Results"),
    ("trials", "Trials"),
    ("checks", "Checks"),
    ("hosts", "Hosts"),
    ("reproduce", "Reproduce"),
)


@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Every trial of the run with its command and raw output, and the facts of the hosts."""
    progress = run_progress(run_id, workspace_ids=visible.workspaces(request))
    if progress is None:
        raise Http404
    try:
        view = describe_run(run_id, workspace_ids=visible.workspaces(request))
    except NotVisible:
        return _waiting(request, progress)
    workspace = visible.workspace_or_404(request, view["workspace"])
    trials = _trials(run_id, view)
    summary = _summary(run_id, trials, request)
    corrections = describe_corrections(run_id)
    upload = Upload.objects.filter(run_id=run_id).only("id").first()
    context = {
        "workspace": workspace,
        "nav": "runs",
        "run": _shown(view),
        "session_url": _session_url(workspace, view["session"]),
        "progress": progress,
        "trials": trials,
        "trial_count": trial_count_text(len(trials), sum(trial["warmup"] for trial in trials)),
        "trials_missing": (view["trials_planned"] or 0) > len(trials),
        "rereadings": rereadings_of(run_id),
        "corrections": corrections,
        "standing_corrections": sum(each["undone_at"] is None for each in corrections),
        "has_resources": any(trial["resources"] for trial in trials),
        **_reproduction(run_id, trials),
        "summary": summary,
        "charts": small_charts(summary),
        "tabs": TABS,
        "check_groups": _check_groups(_checks(run_id, trials)),
        "may_dismiss": visible.may_write(request, workspace),
        "compare_url": compare_link(workspace.slug, run=run_id),
        "versions_url": _versions_link(workspace, run_id),
        "upload": upload and {"url": link_to("upload-page", upload.pk)},
    }
    return render(request, "run.html", context)


def _versions_link(workspace: Workspace, run_id: UUID) -> str:
    """The comparison of the run's server over its versions; empty where the run has several
    servers or workloads, or no other version was measured.
    """
    names = ("server__name", "workload__name")
    measured = list(Series.objects.filter(cells__run=run_id).values_list(*names).distinct()[:2])
    if len(measured) != 1:
        return ""
    ((server, workload),) = measured
    same = shown_series([workspace.pk]).filter(server__name=server, workload__name=workload)
    versions = same.exclude(server__version=None).order_by().values("server__version").distinct()
    if versions.count() < 2:
        return ""
    return compare_link(workspace.slug, server=server, workload=workload, series="version")


def _trials(run_id: UUID, view: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The trials with their files and their columns of resource use."""
    files = artefacts_by_trial(run_id)
    return [
        {
            **trial,
            "artefacts": files.get(trial["id"], []),
            "used": resource_columns(trial["resources"]),
        }
        for trial in view["trials"]
    ]


def _summary(
    run_id: UUID, trials: Sequence[Mapping[str, Any]], request: HttpRequest
) -> list[dict[str, Any]]:
    rows = summarise_run(run_id, trials, workspace_ids=visible.workspaces(request))
    return [{**row, "slot": row["slot"] % SLOTS} for row in rows]


def _reproduction(run_id: UUID, trials: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The plan, and the commands that run it again."""
    again = describe_reproduction(Run.objects.get(pk=run_id), (trial["tool"] for trial in trials))
    is_seeded = again and again.seed is not None and again.order == "randomised"
    seed = f" --seed {again.seed}" if again and is_seeded else ""
    commands = (
        f'curl -fsS -H "Authorization: Bearer $LOADSHEET_TOKEN" -o plan.toml '
        f"{absolute(link_to('run-plan', run_id))}\nloadsheet run plan.toml{seed}"
    )
    return {"again": again, "reproduce_commands": commands}


def _session_url(workspace: Workspace, session: Mapping[str, Any]) -> str:
    name = session.get("name")
    return session_link(workspace.slug, name) if name else ""


def _waiting(request: HttpRequest, progress: RunProgress) -> HttpResponse:
    """A run that its agent has announced, before any trial has arrived."""
    workspace = Workspace.objects.get(pk=progress.workspace_id)
    context = {"workspace": workspace, "nav": "runs", "progress": progress}
    return render(request, "run_waiting.html", context)


@require_safe
def plan(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The plan of the run; its bytes are those that were hashed."""
    rows = Run.objects.filter(workspace__in=visible.workspaces(request)).exclude(plan="")
    run = rows.filter(pk=run_id).first()
    if run is None:
        raise Http404
    return plan_file(run)


def _shown(view: Mapping[str, Any]) -> dict[str, Any]:
    """The run for the template: times as datetimes, facts as lines."""
    instants = {name: _instant(view[name]) for name in ("started_at", "finished_at")}
    events = [{**event, "at": _event_instant(event.get("at"))} for event in view["events"]]
    hosts = [shown_host(host) for host in view["hosts"]]
    return {**view, **instants, "events": events, "hosts": hosts}


def _event_instant(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _checks(run_id: UUID, trials: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each check that fired, with its trials and load points, the most severe first."""
    fired: dict[str, dict[str, Any]] = {}
    for trial in trials:
        for check in trial["checks"]:
            entry = fired.setdefault(check["id"], {**check, "trials": [], "cells": 0})
            entry["trials"].append({"url": trial_link(trial["id"]), "ordinal": trial["ordinal"]})
    for check_id in _cell_checks(run_id):
        check = describe_check(find_check(check_id))
        fired.setdefault(check_id, {**check, "trials": [], "cells": 0})["cells"] += 1
    dismissals = dismissals_of([run_id])[run_id]
    entries = [{**entry, "dismissal": dismissals.get(id_)} for id_, entry in fired.items()]
    return sorted(entries, key=_gravity)


# What each severity is called above its checks.
_GROUPS = {"error": "Errors", "warning": "Warnings", "info": "Notes"}
_DISMISSED = "Dismissed"


def _check_groups(checks: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The checks by severity, the worst first; at the end those that members dismissed."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for check in checks:
        label = _DISMISSED if check["dismissal"] else _GROUPS[check["severity"]]
        groups.setdefault(label, []).append(check)
    return list(groups.items())


def _gravity(entry: Mapping[str, Any]) -> tuple[bool, int, str]:
    return bool(entry["dismissal"]), SEVERITIES.index(entry["severity"]), entry["id"]


def _cell_checks(run_id: UUID) -> list[str]:
    """The id of each check that fired on a load point, once for each load point."""
    stored = Cell.objects.filter(run=run_id).values_list("checks", flat=True)
    return [check["id"] for checks in stored for check in checks]
