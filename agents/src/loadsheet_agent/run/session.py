"""Several agents attack together: before each trial all wait for the moment it begins."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

import httpx

from loadsheet_agent.errors import PlanStoppedError, UsageError
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.upload.delivery import Target, open_client
from loadsheet_agent.upload.envelope import RunRecord, agent_identity

SESSIONS_PATH = "/api/v1/sessions"
ASK_TIMEOUT_S = 5.0
POLL_S = 0.25
# Who does not come in this time does not come: a server may take long to get ready elsewhere.
LONGEST_S = 600.0


class Gathering(Protocol):
    def gather(self, ordinal: int) -> None:
        """Returns when the trial begins."""


class Alone:
    """No session: a trial begins when this agent is ready."""

    def gather(self, ordinal: int) -> None:
        return


class Session:
    """`offset_s`: the service's clock minus ours, by which its word is understood."""

    def __init__(
        self,
        target: Target,
        record: RunRecord,
        offset_s: float,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._target = target
        self._record = record
        self._offset_s = offset_s
        self._sleep = sleep
        self._clock = clock
        self._client: httpx.Client | None = None

    def join(self) -> int:
        """Take a place; the seed of the order that all take. Raises UsageError where refused."""
        answer = self._ask(None)
        if answer is None:
            raise UsageError(f"{self._target.url} was not reached, so no session can begin.")
        return int(answer["seed"])

    def gather(self, ordinal: int) -> None:
        """Raises PlanStoppedError where the others do not come."""
        until = self._clock() + LONGEST_S
        while True:
            answer = self._ask(ordinal)
            starts_at = None if answer is None else answer.get("starts_at")
            if starts_at is not None:
                break
            if self._clock() > until:
                came = "the service was not reached" if answer is None else _came(answer)
                raise PlanStoppedError(f"the other agents did not come to trial {ordinal}: {came}")
            self._sleep(POLL_S)
        moment = datetime.fromisoformat(str(starts_at).replace("Z", "+00:00")).timestamp()
        self._sleep(max(moment - self._offset_s - self._clock(), 0.0))

    def _ask(self, ordinal: int | None) -> dict[str, Any] | None:
        """None where the service was not reached or fails; raises UsageError for its refusal."""
        session = self._record.session or {}
        wish = {
            "name": session["name"],
            "parts": session["parts"],
            "plan_sha256": self._record.plan_sha256,
            "seed": self._record.seed,
            "run": self._record.id,
            "host_name": agent_identity()["hostname"],
            "step": ordinal,
        }
        headers = {"Authorization": f"Bearer {self._target.token}"}
        try:
            if self._client is None:
                self._client = open_client(self._target)
            url = self._target.url + SESSIONS_PATH
            response = self._client.post(url, json=wish, headers=headers, timeout=ASK_TIMEOUT_S)
            body = response.json()
        except (httpx.HTTPError, ValueError):
            return None
        if 400 <= response.status_code < 500 and response.status_code != 429:
            detail = body.get("detail") if isinstance(body, dict) else None
            raise UsageError(f"the service refused the session: {detail or response.status_code}")
        return body if response.status_code == 200 and isinstance(body, dict) else None


def _came(answer: dict[str, Any]) -> str:
    return f"{answer.get('seats')} of {answer.get('parts')} have a place"


def check_plan(plan: Plan) -> None:
    """Refuses what several agents cannot do as one."""
    if plan.adaptive is not None or plan.max_rate is not None:
        raise UsageError(
            "the plan has [adaptive] or [max_rate]: each agent would decide for itself which "
            "trial comes next, so a session needs a plan without them."
        )
    started = [server.name for server in plan.servers if server.start]
    if started:
        raise UsageError(
            f"the plan starts server {started[0]!r}: each agent would start its own, so a session "
            "needs servers that run already, by their url."
        )
