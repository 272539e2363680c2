"""What the agent asks and says beside its uploads: who it is, what time it is, how its run goes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from typing import Any

import httpx

from loadsheet_agent.host.clock import Asked, Offset, offset_of
from loadsheet_agent.upload.delivery import Target, open_client
from loadsheet_agent.upload.envelope import agent_identity

ME_PATH = "/api/v1/me"
HEARTBEAT_PATH = "/api/v1/heartbeat"
ASK_TIMEOUT_S = 10.0


class TokenState(Enum):
    GOOD = "good"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Me:
    """Who the service takes us for; what it did not say is None."""

    token: TokenState
    name: str | None = None
    workspace: str | None = None
    workspace_url: str | None = None
    expires_at: str | None = None


def who_am_i(target: Target, *, tell: bool = False) -> Me:
    """Ask whose token this is; `tell`: say which machine asks, so that the Agents page shows it."""
    said: dict[str, Any] = {"json": {"agent": agent_identity()}} if tell else {}
    method, path = ("POST", HEARTBEAT_PATH) if tell else ("GET", ME_PATH)
    try:
        with open_client(target) as client:
            response = client.request(
                method, target.url + path, headers=_headers(target), timeout=ASK_TIMEOUT_S, **said
            )
            body = response.json() if response.status_code == 200 else {}
    except (httpx.HTTPError, ValueError):
        return Me(TokenState.UNKNOWN)
    if response.status_code in (401, 403):
        return Me(TokenState.REFUSED)
    return _me(body) if isinstance(body, dict) else Me(TokenState.UNKNOWN)


def _me(body: Mapping[str, Any]) -> Me:
    places = body.get("workspaces")
    if not isinstance(places, list):
        return Me(TokenState.UNKNOWN)  # something else answers there
    place = places[0] if places and isinstance(places[0], dict) else {}
    return Me(
        TokenState.GOOD,
        name=body.get("name"),
        workspace=place.get("name"),
        workspace_url=place.get("url"),
        expires_at=body.get("expires_at"),
    )


def measure_offset(target: Target, times: int = 8) -> Offset | None:
    """Ask the service for its time several times; None if unreachable.

    It tells the time to the microsecond, so the quickest round trip bounds the error. Where only
    the whole seconds of Date come, the questions are spread over a second, because two answers
    within one second say the same.
    """
    answers: list[Asked] = []
    try:
        with open_client(target) as client:
            client.get(target.url + ME_PATH, headers=_headers(target), timeout=5)  # to connect
            for _ in range(times):
                sent_s = time.time()
                response = client.get(target.url + ME_PATH, headers=_headers(target), timeout=5)
                received_s = time.time()
                told_s = _told_s(response)
                date = response.headers.get("date", "")
                answers.append(Asked(sent_s, received_s, date, told_s))
                if told_s is None:
                    time.sleep(1.1 / times)
    except httpx.HTTPError:
        return None
    return offset_of(answers)


def _told_s(response: httpx.Response) -> float | None:
    """The time of /me, in seconds since 1970; None where the answer is of another kind."""
    try:
        text = str(response.json()["time"]).replace("Z", "+00:00")
        moment = datetime.fromisoformat(text)
    except (ValueError, KeyError, TypeError):
        return None
    return None if moment.tzinfo is None else moment.astimezone(timezone.utc).timestamp()


def _headers(target: Target) -> dict[str, str]:
    return {"Authorization": f"Bearer {target.token}"}


class Line:
    """A connection for what is said between trials. What is not taken is no error of the run.

    After a failure nothing is tried for a minute, so that a service that is away costs a run next
    to nothing.
    """

    QUIET_S = 60.0

    def __init__(self, target: Target) -> None:
        self._target = target
        self._client: httpx.Client | None = None
        self._quiet_until = 0.0
        self.failures = 0
        self.why = ""

    def ask(
        self, method: str, path: str, timeout_s: float, **content: Any
    ) -> httpx.Response | None:
        """The answer of the service, where it is one of success; `timeout_s` is for each step."""
        if time.monotonic() < self._quiet_until:
            self.failures += 1
            return None
        try:
            if self._client is None:
                self._client = open_client(self._target)
            response = self._client.request(
                method,
                self._target.url + path,
                headers=_headers(self._target),
                timeout=timeout_s,
                **content,
            )
        except httpx.HTTPError as error:
            self._fail(str(error) or type(error).__name__)
            return None
        if 200 <= response.status_code < 300:
            return response
        self._fail(f"it answered {response.status_code}")
        return None

    def try_again(self) -> None:
        """Do not wait for the minute to pass."""
        self._quiet_until = 0.0

    def _fail(self, why: str) -> None:
        self.failures, self.why = self.failures + 1, why
        self._quiet_until = time.monotonic() + self.QUIET_S

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
