"""A run as the readers of its link see it: its figures and how they were measured.

Not in it: raw output with the names of its files, and what servers printed, which the readers of
the workspace may read; the names of members, what they undid, and former notes and labels; other
runs, and the name of the workspace.
"""

import re
from collections.abc import Mapping
from typing import Any

from backend.analysis.pages.run import describe_corrections, describe_run
from backend.ingest.reprocessing.rereadings import rereadings_of, without_names
from backend.runs.catalogue.run_states import count_not_read
from backend.runs.recording.corrections import FREE_TEXTS
from backend.sharing.models import SharedRun

_NOT_OF_A_SHARED_RUN = ("workspace", "session", "server_tails")
# In the detail of a check: another run with the same output.
_RUN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def describe_shared_run(shared: SharedRun) -> dict[str, Any]:
    """As `describe_run`, with the corrections that count and without what the workspace keeps.

    Raises NotVisible where the run was deleted meanwhile.
    """
    view = describe_run(shared.run_id, workspace_ids=[shared.run.workspace_id])
    return {
        **_without(view, *_NOT_OF_A_SHARED_RUN),
        "visibility": shared.visibility,
        "trials": [_trial(trial) for trial in view["trials"]],
        "not_read": count_not_read(view["not_read"]),
        "rereadings": [without_names(reading) for reading in rereadings_of(shared.run_id)],
        "corrections": [
            _correction(correction, view)
            for correction in describe_corrections(shared.run_id)
            if correction["undone_at"] is None
        ],
    }


def _correction(correction: Mapping[str, Any], view: Mapping[str, Any]) -> dict[str, Any]:
    """Without members, and without former notes and labels: what was taken out of them is gone."""
    shown = _without(correction, "author", "undone_by", "undone_at")
    field = correction["field"]
    if field not in FREE_TEXTS:
        return shown
    is_current = correction["value"] == view[field]
    return {**shown, "before": [], "value": correction["value"] if is_current else None}


def _trial(trial: Mapping[str, Any]) -> dict[str, Any]:
    return {**trial, "checks": [_check(each) for each in trial["checks"]]}


def _check(check: Mapping[str, Any]) -> dict[str, Any]:
    return {**check, "detail": "" if _RUN_ID.search(check["detail"]) else check["detail"]}


def _without(view: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name not in names}
