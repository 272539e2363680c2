"""Questions and reports to the service beside uploads: whose token, what time, how a run goes.

Connections to the service are here too: clients, and answers that are JSON objects.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from typing import Any

import httpx

from loadsheet_agent.addresses import is_loopback
from loadsheet_agent.host.clock import Offset, TimeAnswer, offset_of
from loadsheet_agent.upload.envelope import agent_identity
from loadsheet_agent.upload.target import Target

ME_PATH = "/api/v1/me"
HEARTBEAT_PATH = "/api/v1/heartbeat"
ASK_TIMEOUT_S = 10.0
TIME_TIMEOUT_S = 5.0
CONNECTING_S, ANSWERING_S = 10.0, 60.0


class TokenState(Enum):
    """UNKNOWN: the service was not reached, or something else answered."""

    GOOD = "good"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Me:
    """The owner of the token; None if the service did not say."""

    token: TokenState
    name: str | None = None
    workspace: str | None = None
    workspace_url: str | None = None
    expires_at: str | None = None


def who_am_i(target: Target, *, registers: bool = False) -> Me:
    """Ask whose token this is; `registers`: name this machine, so that the Agents page lists it."""
    method, path = ("POST", HEARTBEAT_PATH) if registers else ("GET", ME_PATH)
    content: dict[str, Any] = {"json": {"agent": agent_identity()}} if registers else {}
    try:
        with open_client(target) as client:
            response = client.request(method, path, timeout=ASK_TIMEOUT_S, **content)
    except httpx.HTTPError:
        return Me(TokenState.UNKNOWN)
    if response.status_code in (401, 403):
        return Me(TokenState.REFUSED)
    return _read_me(json_object(response) if response.status_code == 200 else {})


def _read_me(body: Mapping[str, Any]) -> Me:
    workspaces = body.get("workspaces")
    if not isinstance(workspaces, list):
        return Me(TokenState.UNKNOWN)  # something else answers there
    workspace = workspaces[0] if workspaces and isinstance(workspaces[0], dict) else {}
    return Me(
        TokenState.GOOD,
        name=body.get("name"),
        workspace=workspace.get("name"),
        workspace_url=workspace.get("url"),
        expires_at=body.get("expires_at"),
    )


def measure_offset(target: Target, times: int = 8) -> Offset | None:
    """Ask the service for its time `times` times; None if it cannot be reached.

    The service gives its time to the microsecond, so the quickest round trip bounds the error.
    Where only the whole seconds of Date come, the questions are spread over a second, because two
    answers within one second say the same.
    """
    answers: list[TimeAnswer] = []
    try:
        with open_client(target) as client:
            _ask_time(client)  # opens the connection
            for _ in range(times):
                answers.append(_ask_time(client))
                if answers[-1].service_s is None:
                    time.sleep(1.1 / times)
    except httpx.HTTPError:
        return None
    return offset_of(answers)


def _ask_time(client: httpx.Client) -> TimeAnswer:
    sent_s = time.time()
    response = client.get(ME_PATH, timeout=TIME_TIMEOUT_S)
    received_s = time.time()
    return TimeAnswer(sent_s, received_s, response.headers.get("date", ""), _service_s(response))


def _service_s(response: httpx.Response) -> float | None:
    """The time of /me, in seconds since 1970; None if the answer is of another kind."""
    try:
        instant = datetime.fromisoformat(str(json_object(response)["time"]).replace("Z", "+00:00"))
        return None if instant.tzinfo is None else instant.astimezone(timezone.utc).timestamp()
    except (ValueError, KeyError, OverflowError):
        return None


class ApiClient:
    """Optional requests of a run: a failure is counted and never ends the run.

    After a failure nothing is tried for 5 s, after the next failure for 10 s, and so on up to a
    minute, so that a service that cannot be reached costs a run next to nothing.
    """

    FIRST_PAUSE_S = 5.0
    LONGEST_PAUSE_S = 60.0

    def __init__(self, target: Target) -> None:
        self._client = open_client(target)
        self._pause_s = self.FIRST_PAUSE_S
        self._paused_until = 0.0
        self.failures = 0
        self.last_failure = ""

    def ask(
        self, method: str, path: str, timeout_s: float, **content: Any
    ) -> httpx.Response | None:
        """The answer, None unless its status is 2xx; `timeout_s` is for each step."""
        if time.monotonic() < self._paused_until:
            self.failures += 1
            return None
        try:
            response = self._client.request(method, path, timeout=timeout_s, **content)
        except httpx.HTTPError as error:
            self._fail(str(error) or type(error).__name__)
            return None
        if 200 <= response.status_code < 300:
            self._pause_s = self.FIRST_PAUSE_S
            return response
        self._fail(f"it answered {response.status_code}")
        return None

    def end_pause(self) -> None:
        """Send the next request even if the pause has not passed."""
        self._paused_until = 0.0

    def close(self) -> None:
        self._client.close()

    def _fail(self, reason: str) -> None:
        self.failures, self.last_failure = self.failures + 1, reason
        self._paused_until = time.monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, self.LONGEST_PAUSE_S)


def open_client(target: Target) -> httpx.Client:
    """For paths of the service, with its token.

    Certificates are verified; proxies of the environment are used except on loopback.
    """
    return httpx.Client(
        base_url=target.url,
        headers={"Authorization": f"Bearer {target.token}"},
        timeout=httpx.Timeout(ANSWERING_S, connect=CONNECTING_S),
        trust_env=not is_loopback(target.url),
    )


def json_object(response: httpx.Response) -> dict[str, Any]:
    """The answer's JSON object; empty if it is anything else, such as a sign-in page."""
    try:
        body = response.json()
    except (ValueError, RecursionError):  # RecursionError: thousands of lists in one another
        return {}
    return body if isinstance(body, dict) else {}
