"""Nights of a lab as rows: a run each, with the rates of some servers, judged as it comes."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from backend.accounts.models import Workspace
from backend.alerts.models import PendingRun
from backend.runs.models import Run
from backend.testing.rows import STARTED, CellSpec, make_run
from backend.testing.worked_off import judge_due


def commit_of_night(night: int) -> str:
    """The commit that was built on a night."""
    return f"c{night:07d}"


def add_night(
    workspace: Workspace,
    night: int,
    rates: Mapping[str, Sequence[float]],
    *,
    minutes: int = 0,
    is_judged: bool = True,
) -> Run:
    """A run of the branch main. `rates`: of each server, the requests per second of its trials."""
    specs = [
        # Latencies take most of the time of making a run.
        CellSpec(name, version=f"1.{night}", rates=tuple(own), p50_us=None, warmups=0)
        for name, own in rates.items()
    ]
    at = STARTED + timedelta(days=night, minutes=minutes)
    run = make_run(workspace, *specs, started_at=at)
    labels = {"branch": "main", "commit": commit_of_night(night)}
    Run.objects.filter(pk=run.pk).update(labels=labels, recorded_at=at)
    run.refresh_from_db()
    if is_judged:
        PendingRun.objects.create(run=run, workspace=workspace)
        judge_due()
    return run
