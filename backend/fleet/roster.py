"""The agents of a workspace: each token, the hosts it is used on, and what they are doing."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from backend.accounts.models import Token, TokenKind, Workspace
from backend.accounts.tokens.token_making import usable_tokens
from backend.fleet.models import Agent, Progress

# Other hosts of a token that each of its rows names, so that rows do not grow with their number.
NAMED_HOSTS = 5


@dataclass(frozen=True, slots=True)
class RosterRow:
    """An agent: a token on a host."""

    token: Token
    agent: Agent
    # Its newest run and the state of that run (see Progress.state_at).
    run: UUID | None
    state: str | None
    # Other hosts that use this token, and how many are not named: revoking it cuts them off too.
    shared_with: tuple[str, ...]

    @property
    def last_seen_at(self) -> datetime:
        """When the agent was last heard, or its token last used where no other host shares it."""
        used = None if self.shared_with else self.token.used_at
        return max(self.agent.last_seen_at, used or self.agent.last_seen_at)

    @property
    def is_running(self) -> bool:
        return self.state == Progress.State.RUNNING


def roster(workspace: Workspace) -> list[RosterRow]:
    """Every agent with a valid token, the last heard first.

    A token that no agent has used is not an agent: a script may use it, such as one that calls
    curl.
    """
    now = timezone.now()
    tokens = usable_tokens(workspace).filter(kind=TokenKind.AGENT)
    by_token: dict[UUID, list[Agent]] = defaultdict(list)
    for agent in Agent.objects.filter(workspace=workspace).order_by("host_name"):
        by_token[agent.token_id].append(agent)
    progress = Progress.objects.filter(workspace=workspace).order_by("agent_id", "-heard_at")
    newest = {row.agent_id: row for row in progress.distinct("agent_id")}
    rows = [
        _row(token, agent, by_token[token.pk], newest, now)
        for token in tokens
        for agent in by_token[token.pk]
    ]
    return sorted(rows, key=lambda row: row.last_seen_at, reverse=True)


def _row(
    token: Token,
    agent: Agent,
    siblings: list[Agent],
    newest: dict[UUID, Progress],
    now: datetime,
) -> RosterRow:
    progress = newest.get(agent.pk)
    return RosterRow(
        token=token,
        agent=agent,
        run=None if progress is None else progress.run,
        state=None if progress is None else progress.state_at(now),
        shared_with=_others(agent, siblings),
    )


def _others(agent: Agent, siblings: list[Agent]) -> tuple[str, ...]:
    # One more than are named, because the agent itself may be among them.
    first = [other.host_name for other in siblings[: NAMED_HOSTS + 1] if other is not agent]
    unnamed = len(siblings) - 1 - NAMED_HOSTS
    more = (f"and {unnamed} more",) if unnamed > 0 else ()
    return (*first[:NAMED_HOSTS], *more)
