"""What the pages of a run show, for readers of its workspace and for those of its link."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.analysis.grouping.fired_checks import describe_check, find_check
from backend.analysis.pages.reproduction import Reproduction, describe_reproduction
from backend.analysis.pages.resource_use import resource_columns
from backend.analysis.pages.run_answer import answer_run
from backend.analysis.pages.run_summary import summarise_run
from backend.analysis.pages.run_trials import give_details
from backend.runs.amending.dismissals import dismissals_of
from backend.runs.catalogue.naming import trial_count_text
from backend.runs.checks import SEVERITIES
from backend.runs.models import Cell, Run
from backend.web.registry.host_facts import shown_host
from backend.web.registry.registry import SLOTS
from backend.web.runs.failures import failures_of
from backend.web.runs.small_charts import small_charts
from backend.web.runs.trial_listing import TrialListing, list_load_points

# The id of each part of the page, and its label.
TABS = (
    ("results", "Results"),
    ("trials", "Trials"),
    ("checks", "Checks"),
    ("hosts", "Hosts"),
    ("reproduce", "Reproduce"),
)


def run_context(run: Run, view: Mapping[str, Any], listing: TrialListing) -> dict[str, Any]:
    """The context of the notices and tabs of the page.

    `view`: the run with its rereadings, corrections and trials; each trial has the `url` that its
    number leads to. `listing`: those of them that are listed. The trials are completed in place:
    there may be thousands.
    """
    trials = view["trials"]
    give_details(listing.trials)
    for trial in listing.trials:
        trial["used"] = resource_columns(trial["resources"])
    summary = _summary(run, trials)
    _give_labels(summary, trials)
    listed = list_load_points(summary, listing.load_point_page)
    corrections = view["corrections"]
    checks = _checks(run.pk, trials)
    return {
        "run": _shown(view),
        "trials": listing.trials,
        "trial_pages": listing.pages,
        "trials_recorded": len(trials),
        "trial_count": trial_count_text(len(trials), sum(trial["warmup"] for trial in trials)),
        "failures": failures_of(trials),
        "trials_missing": (view["trials_planned"] or 0) > len(trials),
        "rereadings": view["rereadings"],
        "corrections": corrections,
        "active_corrections": sum(not each.get("undone_at") for each in corrections),
        "has_resources": any(trial["resources"] for trial in listing.trials),
        "answer": answer_run(run.pk, summary, workspace_ids=[run.workspace_id]),
        "summary": listed.object_list,
        "summary_pages": listed if listed.has_other_pages() else None,
        # A phone has no column of workloads.
        "names_workloads": len({row["workload"] for row in summary}) > 1,
        "charts": small_charts(summary),
        "tabs": TABS,
        "check_groups": _check_groups(checks),
        "check_count": len(checks),
        "again": describe_reproduction(run, (trial["tool"] for trial in trials)),
    }


def run_again_command(again: Reproduction | None) -> str:
    """What runs the plan again, with the seed where the order is of chance."""
    is_seeded = again and again.seed is not None and again.order == "randomised"
    seed = f" --seed {again.seed}" if again and is_seeded else ""
    return f"loadsheet run plan.toml{seed}"


def _summary(run: Run, trials: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = summarise_run(run.pk, trials, workspace_ids=[run.workspace_id])
    return [{**row, "slot": row["slot"] % SLOTS} for row in rows]


def _give_labels(summary: Sequence[Mapping[str, Any]], trials: Sequence[dict[str, Any]]) -> None:
    """Give the trials the labels that the summary gives their servers and workloads."""
    labels = {
        row["cell"]: {"server": row["server"], "workload": row["workload"]} for row in summary
    }
    for trial in trials:
        trial.update(labels[trial["cell"]])


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
    """Each check that fired, with its trials, warm-ups and load points, the most severe first."""
    fired: dict[str, dict[str, Any]] = {}
    for trial in trials:
        for check in trial["checks"]:
            entry = fired.setdefault(check["id"], _unfired(check))
            kind = "warmups" if trial["warmup"] else "trials"
            entry[kind].append({"url": trial["url"], "ordinal": trial["ordinal"]})
    for check_id in _cell_checks(run_id):
        fired.setdefault(check_id, _unfired(describe_check(find_check(check_id))))["cells"] += 1
    dismissals = dismissals_of([run_id])[run_id]
    entries = [{**entry, "dismissal": dismissals.get(id_)} for id_, entry in fired.items()]
    return sorted(entries, key=_gravity)


def _unfired(check: Mapping[str, Any]) -> dict[str, Any]:
    return {**check, "trials": [], "warmups": [], "cells": 0}


# What each severity is called above its checks.
_GROUPS = {"error": "Errors", "warning": "Warnings", "info": "Notes"}
_OF_WARMUPS = "In warm-ups only"
_DISMISSED = "Dismissed"


def _check_groups(checks: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The checks by severity, the worst first; at the end those that are of no counted trial, and
    those that members dismissed."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for check in checks:
        groups.setdefault(_group_of(check), []).append(check)
    return list(groups.items())


def _group_of(check: Mapping[str, Any]) -> str:
    if check["dismissal"]:
        return _DISMISSED
    return _OF_WARMUPS if _is_of_warmups(check) else _GROUPS[check["severity"]]


def _is_of_warmups(check: Mapping[str, Any]) -> bool:
    """Whether it fired in warm-ups, whose figures count in no result, and nowhere else."""
    return not check["trials"] and not check["cells"]


def _gravity(entry: Mapping[str, Any]) -> tuple[bool, bool, int, str]:
    severity = SEVERITIES.index(entry["severity"])
    return bool(entry["dismissal"]), _is_of_warmups(entry), severity, entry["id"]


def _cell_checks(run_id: UUID) -> list[str]:
    """The id of each check that fired on a load point, once for each load point."""
    stored = Cell.objects.filter(run=run_id).values_list("checks", flat=True)
    return [check["id"] for checks in stored for check in checks]
