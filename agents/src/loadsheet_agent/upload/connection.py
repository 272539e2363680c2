"""Connections to the service: clients, and answers that are JSON objects."""

from __future__ import annotations

from typing import Any

import httpx

from loadsheet_agent.addresses import is_loopback
from loadsheet_agent.upload.target import Target

CONNECTING_S, ANSWERING_S = 10.0, 60.0


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
