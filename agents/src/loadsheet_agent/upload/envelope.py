"""The part of an envelope that every upload has: its id, and who sends it."""

from __future__ import annotations

import socket
from typing import Any

from loadsheet_agent import AGENT_NAME, __version__

SCHEMA = 1


def agent_identity() -> dict[str, str]:
    """This program and the machine it runs on, as the service lists them."""
    return {"name": AGENT_NAME, "version": __version__, "hostname": socket.gethostname()}


def file_envelope(upload_id: str, tool: str | None = None) -> dict[str, Any]:
    """An envelope without a run; `tool` names the load tool where the sender knows it."""
    envelope: dict[str, Any] = {"schema": SCHEMA, "id": upload_id, "agent": agent_identity()}
    if tool is not None:
        envelope["tool"] = tool
    return envelope
