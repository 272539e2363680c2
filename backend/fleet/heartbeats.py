"""Recording heartbeats: which agents are alive, and how far their runs are."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from backend.accounts.models import Token
from backend.accounts.tokens.tokens import NEW_HINT, TokenRefused
from backend.errors import TooMany
from backend.fleet.forgetting import forget_beyond
from backend.fleet.models import Agent, Progress
from backend.runs.tables.names import TOKEN_HOSTS
from backend.transactions import whole

# An agent counts as silent only when it is this much later than it announced.
GRACE = timedelta(seconds=30)
# Older progress is of no use to anybody and is deleted.
KEPT = timedelta(days=30)
# Of one token: beyond them, those that were heard longest ago are deleted. So no token pushes out
# the runs of another.
MOST_HEARD = 10_000
# A host that was silent for longer makes room for a new one, where a token has too many.
HOST_KEPT = timedelta(days=1)


class TooManyHosts(TooMany):
    """The token is used on as many hosts as it may be."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What an agent reports of its run. It then stays silent for up to `silent_s` seconds."""

    run: UUID
    state: str
    trials_done: int
    trials_planned: int | None = None
    current: Mapping[str, Any] | None = None
    last: Mapping[str, Any] | None = None
    seconds_left: float | None = None
    silent_s: float = 0.0


@whole
def record_heartbeat(
    token: Token, *, host_name: str, program: str, version: str, heartbeat: Heartbeat | None
) -> Agent:
    """Store when the agent was last seen, and its progress where it reports a run.

    Raises TooManyHosts and TokenRefused.
    """
    if not Agent.objects.filter(token=token, host_name=host_name).exists():
        _make_room(token)
    reported = {"program": program, "version": version}
    agent, _ = Agent.objects.update_or_create(
        token=token,
        host_name=host_name,
        defaults={**reported, "last_seen_at": timezone.now()},
        create_defaults={**reported, "workspace_id": token.workspace_id},
    )
    if heartbeat is not None:
        _store_progress(agent, heartbeat)
    return agent


def forget_progress(run_ids: Collection[UUID], workspace_id: UUID) -> None:
    """Delete the progress of deleted runs."""
    Progress.objects.filter(run__in=run_ids, workspace=workspace_id).delete()


def _make_room(token: Token) -> None:
    """Forget hosts of the token that are silent, where it has too many. Raises TooManyHosts."""
    # Two new hosts at the same time: the second one is counted after the first.
    if not Token.objects.select_for_update(no_key=True).filter(pk=token.pk):
        # With the account of its maker, since the request began.
        raise TokenRefused("This token was deleted.", hint=NEW_HINT)
    agents, now = Agent.objects.filter(token=token), timezone.now()
    if agents.count() < TOKEN_HOSTS:
        return
    # An agent that measures a long trial said how long it would be silent.
    measuring = Progress.objects.filter(silent_until__gte=now).values("agent")
    silent = agents.filter(last_seen_at__lt=now - HOST_KEPT).exclude(pk__in=measuring)
    if not silent.delete()[0]:
        raise TooManyHosts(
            f"This token is already used on {TOKEN_HOSTS} hosts, the limit.",
            hint="Make another token, or wait until one of its hosts was silent for a day.",
            wait_s=3600,
        )


def _store_progress(agent: Agent, heartbeat: Heartbeat) -> None:
    now = timezone.now()
    copied = ("state", "trials_planned", "trials_done", "current", "last", "seconds_left")
    fields = {
        **{name: getattr(heartbeat, name) for name in copied},
        "agent": agent,
        "heard_at": now,
        "silent_until": now + timedelta(seconds=heartbeat.silent_s) + GRACE,
    }
    _, is_new = Progress.objects.update_or_create(
        run=heartbeat.run, workspace_id=agent.workspace_id, defaults=fields
    )
    if is_new:
        own = Progress.objects.filter(workspace=agent.workspace_id)
        own.filter(heard_at__lt=now - KEPT).delete()
        forget_beyond(own.filter(agent__token=agent.token_id).order_by("-heard_at"), MOST_HEARD)
