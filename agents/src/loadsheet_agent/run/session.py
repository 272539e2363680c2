"""Several agents load one server together: before each trial, all wait for a common start."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx

from loadsheet_agent.errors import PlanStoppedError, UsageError
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.run.record import RunRecord
from loadsheet_agent.upload.api_client import json_object, open_client, who_am_i
from loadsheet_agent.upload.envelope import agent_identity
from loadsheet_agent.upload.target import Target

SESSIONS_PATH = "/api/v1/sessions"
ASK_TIMEOUT_S = 5.0
POLL_S = 0.25
# Long, because a server may take minutes to get ready for another agent.
LONGEST_S = 600.0


@dataclass
class Session:
    """`offset_s`: the service's clock minus this machine's."""

    target: Target
    record: RunRecord
    offset_s: float
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self._client = open_client(self.target)

    def join(self) -> int:
        """Take a place; the seed of the trials' order. Raises UsageError where refused."""
        answer = self._ask(None)
        if answer is None:
            raise UsageError(f"{self.target.url} was not reached, so no session can begin.")
        return int(answer["seed"])

    def gather(self, ordinal: int) -> None:
        """Returns when the trial begins. Raises PlanStoppedError where other agents do not come."""
        until = self.clock() + LONGEST_S
        while True:
            answer = self._ask(ordinal)
            starts_at = None if answer is None else answer.get("starts_at")
            if starts_at is not None:
                break
            if self.clock() > until:
                state = "the service was not reached" if answer is None else _places_text(answer)
                raise PlanStoppedError(
                    f"the other agents were not ready for trial {ordinal}: {state}"
                )
            self.sleep(POLL_S)
        start_s = datetime.fromisoformat(str(starts_at).replace("Z", "+00:00")).timestamp()
        self.sleep(max(start_s - self.offset_s - self.clock(), 0.0))

    def _ask(self, ordinal: int | None) -> dict[str, Any] | None:
        """None if the service was not reached or fails; raises UsageError for its refusal."""
        try:
            response = self._client.post(
                SESSIONS_PATH, json=self._join_request(ordinal), timeout=ASK_TIMEOUT_S
            )
        except httpx.HTTPError:
            return None
        body = json_object(response)
        if 400 <= response.status_code < 500 and response.status_code != 429 and body:
            detail = body.get("detail") or response.status_code
            raise UsageError(f"the service refused the session: {detail}")
        return body if response.status_code == 200 and body else None

    def _join_request(self, ordinal: int | None) -> dict[str, Any]:
        session = self.record.session or {}
        return {
            "name": session["name"],
            "parts": session["parts"],
            "plan_sha256": self.record.plan_sha256,
            "seed": self.record.seed,
            "run": self.record.id,
            "host_name": agent_identity()["hostname"],
            "step": ordinal,
        }


def join_session(
    name: str, parts: int, target: Target | None, record: RunRecord, say: Callable[[str], None]
) -> Session:
    """Take a place in the session; the record gets its name and the seed that all agents use.

    Raises UsageError for a plan that agents cannot share, and where the service refuses.
    """
    clock = record.client.facts.get("clock")
    if target is None or clock is None:
        raise UsageError(
            "a session needs the service, to agree on the start; set LOADSHEET_URL or log in."
        )
    check_plan(record.plan)
    record.session = {"name": name, "parts": parts}
    session = Session(target, record, clock["offset_s"])
    record.seed = session.join()
    workspace_url = who_am_i(target).workspace_url
    say(f"Session {name}: waiting for {parts} agents before each trial.")
    say(f"Together at {f'{workspace_url}sessions/{name}' if workspace_url else target.url}")
    return session


def check_plan(plan: Plan) -> None:
    """Raises UsageError for a plan that several agents cannot carry out as one."""
    if plan.adaptive is not None or plan.max_rate is not None:
        raise UsageError(
            "the plan has [adaptive] or [max_rate]: each agent would choose other trials, so a "
            "session needs a plan without them."
        )
    started = [server.name for server in plan.servers if server.start]
    if started:
        raise UsageError(
            f"the plan starts server {started[0]!r}: each agent would start one of its own, so a "
            "session needs servers that already run, given by their url."
        )


def _places_text(answer: dict[str, Any]) -> str:
    return f"{answer.get('seats')} of {answer.get('parts')} have a place"
