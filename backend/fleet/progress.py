"""The progress of a run: trials recorded here, and what its agent reported last."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.fleet.models import Agent, Progress
from backend.runs.models import Run, Trial


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far one run is. Unknown is None.

    `state`: running · silent (a heartbeat is overdue) · finished · stopped · interrupted.
    `trials_recorded` are stored here; `trials_done` is the agent's count.
    """

    run: UUID
    workspace_id: UUID
    state: str
    trials_recorded: int
    trials_planned: int | None
    trials_done: int | None = None
    current: dict[str, Any] | None = None
    last: dict[str, Any] | None = None
    seconds_left: float | None = None
    heard_at: datetime | None = None
    agent: Agent | None = None

    @property
    def done(self) -> int:
        """Trials that ended, recorded here or not yet."""
        return max(self.trials_done or 0, self.trials_recorded)

    @property
    def is_unfinished(self) -> bool:
        """Whether more trials may come, so that a page has to ask again."""
        return self.state in (Progress.State.RUNNING, "silent")


def run_progress(run_id: UUID, *, workspace_ids: Iterable[UUID]) -> RunProgress | None:
    """The progress of a run of these workspaces; None if neither run nor heartbeat exists, and
    for a run in the trash."""
    own: dict[str, Any] = {"workspace__in": list(workspace_ids)}
    run = Run.with_trash.filter(pk=run_id, **own).first()
    if run is not None and run.trashed_at is not None:
        return None
    if run is not None:
        own = {"workspace": run.workspace_id}
    progress = Progress.objects.filter(run=run_id, **own).select_related("agent").first()
    source = run or progress
    if source is None:
        return None
    return _combined(run_id, source.workspace_id, run, progress)


def _combined(
    run_id: UUID, workspace_id: UUID, run: Run | None, progress: Progress | None
) -> RunProgress:
    recorded = RunProgress(
        run=run_id,
        workspace_id=workspace_id,
        state=_state(run, progress),
        # Without `run`, the id may be that of another workspace's run.
        trials_recorded=0 if run is None else Trial.objects.filter(run=run).count(),
        trials_planned=run.trials_planned if run is not None and not run.is_open else None,
    )
    return recorded if progress is None else _with_heartbeat(recorded, progress)


def _with_heartbeat(recorded: RunProgress, progress: Progress) -> RunProgress:
    """What the agent tells too; a trial under way only while the agent is heard of."""
    is_alive = progress.is_alive(timezone.now())
    planned = recorded.trials_planned
    return replace(
        recorded,
        trials_done=progress.trials_done,
        trials_planned=progress.trials_planned if planned is None else planned,
        current=progress.current if is_alive else None,
        last=progress.last,
        seconds_left=progress.seconds_left if is_alive else None,
        heard_at=progress.heard_at,
        agent=progress.agent,
    )


def _state(run: Run | None, progress: Progress | None) -> str:
    """The recorded state wins over the heartbeat."""
    if run is not None and not run.is_open:
        if run.stopped:
            return Progress.State.STOPPED
        return Progress.State.INTERRUPTED if run.interrupted else Progress.State.FINISHED
    return "silent" if progress is None else progress.state_at(timezone.now())
