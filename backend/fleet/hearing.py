"""Taking an agent's word: who it is, and how far its run is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from backend.accounts.models import Token
from backend.fleet.models import Agent, Progress

# How much later than it said an agent may be heard before it counts as silent.
GRACE = timedelta(seconds=30)
# What is longer ago tells nobody anything.
KEPT = timedelta(days=30)


class RunElsewhere(Exception):
    """The run's id is used by another workspace."""


@dataclass(frozen=True, slots=True)
class Word:
    """What an agent says of its run. `silent_s`: it will say nothing for so long."""

    run: UUID
    state: str
    trials_done: int
    trials_planned: int | None = None
    current: Mapping[str, Any] | None = None
    last: Mapping[str, Any] | None = None
    seconds_left: float | None = None
    silent_s: float = 0.0


@transaction.atomic
def hear(token: Token, *, host_name: str, program: str, version: str, word: Word | None) -> Agent:
    """Remember that the agent was heard, and its word; raises RunElsewhere."""
    now = timezone.now()
    agent, _ = Agent.objects.update_or_create(
        token=token,
        host_name=host_name,
        defaults={"program": program, "version": version, "last_seen_at": now},
        create_defaults={
            "workspace_id": token.workspace_id,
            "program": program,
            "version": version,
        },
    )
    if word is not None:
        _remember(agent, word)
    return agent


def forget(run_id: UUID, workspace_id: UUID) -> None:
    """Know nothing any more of a run that was deleted."""
    Progress.objects.filter(run=run_id, workspace=workspace_id).delete()


def _remember(agent: Agent, word: Word) -> None:
    now = timezone.now()
    said = {
        "agent": agent,
        "state": word.state,
        "trials_planned": word.trials_planned,
        "trials_done": word.trials_done,
        "current": word.current,
        "last": word.last,
        "seconds_left": word.seconds_left,
        "heard_at": now,
        "silent_until": now + timedelta(seconds=word.silent_s) + GRACE,
    }
    own = Progress.objects.filter(run=word.run, workspace=agent.workspace_id)
    if own.update(**said):
        return
    try:
        with transaction.atomic():
            Progress.objects.create(run=word.run, workspace_id=agent.workspace_id, **said)
    except IntegrityError:
        raise RunElsewhere(str(word.run)) from None
    Progress.objects.filter(workspace=agent.workspace_id, heard_at__lt=now - KEPT).delete()
