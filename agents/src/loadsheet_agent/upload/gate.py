"""Asking the service for its verdict about a build. The service judges; the agent only asks."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import Any

import httpx

from loadsheet_agent.errors import NoVerdictError, UsageError
from loadsheet_agent.upload.api_client import json_object, open_client
from loadsheet_agent.upload.retry import RETRY_STATUSES, delay_s, parse_retry_after
from loadsheet_agent.upload.target import Target

GATE_PATH = "/api/v1/gate"
VERDICTS = ("improved", "unchanged", "regressed", "too_noisy", "not_comparable")
# 409: the candidate is still being measured.
WAITED_STATUSES = RETRY_STATUSES | {409}

Question = Sequence[tuple[str, str]]


def ask_verdict(
    target: Target, question: Question, *, max_wait_s: float, say: Callable[[str], None]
) -> dict[str, Any]:
    """The answer of the service, asked again for `max_wait_s` while it has none.

    Raises UsageError for a question that it does not understand, and NoVerdictError.
    """
    end_s = time.monotonic() + max_wait_s
    with open_client(target) as client:
        for attempt in range(1000):
            answer, reason, retry_after_s = _ask(client, target, question)
            if answer is not None:
                return answer
            wait_s = delay_s(attempt, draw=random.random(), retry_after_s=retry_after_s)  # noqa: S311
            if time.monotonic() + wait_s > end_s:
                break
            say(f"No verdict yet: {reason} Asking again in {wait_s:.0f} s.")
            time.sleep(wait_s)
    raise NoVerdictError(f"no verdict from {target.url}: {reason}")


def _ask(
    client: httpx.Client, target: Target, question: Question
) -> tuple[dict[str, Any] | None, str, float | None]:
    """The answer, or why there is none yet and how long the service asks to wait."""
    try:
        response = client.get(GATE_PATH, params=list(question))
    except httpx.HTTPError as error:
        return None, f"it was not reached ({error or type(error).__name__}).", None
    body = json_object(response)
    if response.status_code == 200 and body.get("verdict") in VERDICTS:
        return body, "", None
    reason = _reason(response.status_code, body)
    if response.status_code == 400:
        raise UsageError(reason)
    if response.status_code not in WAITED_STATUSES:
        raise NoVerdictError(f"no verdict from {target.url}: {reason}")
    now = datetime.now(timezone.utc)
    return None, reason, parse_retry_after(response.headers.get("retry-after"), now)


def _reason(status: int, body: dict[str, Any]) -> str:
    """What the service says, else that something else answers at the address."""
    detail, hint = str(body.get("detail") or ""), str(body.get("hint") or "")
    if not detail:
        return f"it answered {status} without a verdict; is this the address of Loadsheet?"
    return " ".join(filter(None, [detail, hint]))
