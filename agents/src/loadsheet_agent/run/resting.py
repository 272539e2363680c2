"""The rest between two trials."""

from __future__ import annotations

import time
from collections.abc import Callable

from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.run.sampling import time_wait_sockets

# Linux keeps a closed connection for 60 s; a little more finds it gone.
LONGEST_DRAIN_S = 65.0
POLL_S = 0.1


def rest(
    plan: Plan,
    tick: Callable[[], None],
    count_sockets: Callable[[], int | None] = time_wait_sockets,
) -> None:
    """Wait as the plan says; `tick` is called meanwhile."""
    _wait(plan.rest_s, tick)
    limit = plan.rest_time_wait
    if limit is None:
        return
    deadline = time.monotonic() + LONGEST_DRAIN_S
    while (count_sockets() or 0) > limit and time.monotonic() < deadline:
        _wait(POLL_S, tick)


def longest_rest_s(plan: Plan) -> float:
    """Most seconds that a rest takes."""
    return plan.rest_s + (LONGEST_DRAIN_S if plan.rest_time_wait is not None else 0.0)


def _wait(seconds: float, tick: Callable[[], None]) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        tick()
        time.sleep(min(POLL_S, max(until - time.monotonic(), 0)))
