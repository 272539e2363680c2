"""How runs stand while they go on: what came of them, and what their agents said last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.fleet.models import Agent, Progress
from backend.runs.models import Run, Trial


@dataclass(frozen=True, slots=True)
class Standing:
    """One run. Unknown is None.

    `state`: running · silent (its agent should have been heard by now) · finished · stopped ·
    interrupted. `trials_recorded` can be read here; `trials_done` is the agent's word.
    """

    run: UUID
    workspace_id: UUID
    state: str
    trials_recorded: int
    trials_done: int | None
    trials_planned: int | None
    current: dict[str, Any] | None
    last: dict[str, Any] | None
    seconds_left: float | None
    heard_at: datetime | None
    agent: Agent | None

    @property
    def done(self) -> int:
        """Trials that ended, whether they came yet or not."""
        return max(self.trials_done or 0, self.trials_recorded)

    @property
    def goes_on(self) -> bool:
        """Whether more may come: what shows the run asks again."""
        return self.state in (Progress.State.RUNNING, "silent")


def standing_of(run_id: UUID, *, workspace_ids: Iterable[UUID]) -> Standing | None:
    """How a run stands; None for one of which nothing is known that may be seen."""
    own = {"workspace__in": list(workspace_ids)}
    run = Run.objects.filter(pk=run_id, **own).first()
    progress = Progress.objects.filter(run=run_id, **own).select_related("agent").first()
    known = run or progress
    if known is None:
        return None
    return _standing(run_id, known.workspace_id, run, progress)


def _standing(
    run_id: UUID, workspace_id: UUID, run: Run | None, progress: Progress | None
) -> Standing:
    live = progress if progress is not None and progress.is_alive(timezone.now()) else None
    planned = run.trials_planned if run is not None and not run.is_open else None
    if planned is None and progress is not None:
        planned = progress.trials_planned
    return Standing(
        run=run_id,
        workspace_id=workspace_id,
        state=_state(run, progress),
        trials_recorded=Trial.objects.filter(run=run_id).count(),
        trials_done=None if progress is None else progress.trials_done,
        trials_planned=planned,
        current=None if live is None else live.current,
        last=None if progress is None else progress.last,
        seconds_left=None if live is None else live.seconds_left,
        heard_at=None if progress is None else progress.heard_at,
        agent=None if progress is None else progress.agent,
    )


def _state(run: Run | None, progress: Progress | None) -> str:
    """What came of the run counts more than what its agent said."""
    if run is not None and not run.is_open:
        if run.stopped:
            return Progress.State.STOPPED
        return Progress.State.INTERRUPTED if run.interrupted else Progress.State.FINISHED
    return "silent" if progress is None else progress.state_at(timezone.now())
