"""Sends an entry of the spool, and reports the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadsheet_agent.commands.output import put, put_json, say
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.api_client import open_client
from loadsheet_agent.upload.delivery import Delivery, Uploader
from loadsheet_agent.upload.spool import Entry
from loadsheet_agent.upload.target import Target


def deliver(entry: Entry, target: Target, max_wait_s: float | None) -> Delivery:
    """Send the entry until it is stored, refused, or `max_wait_s` has passed."""
    with open_client(target) as client:
        uploader = Uploader(target=target, client=client, max_wait_s=max_wait_s, say=say)
        return uploader.deliver(entry)


def report(upload_id: str, delivery: Delivery, *, as_json: bool, more: Mapping[str, Any]) -> None:
    """Print how the delivery ended. `more`: further members of the JSON."""
    if as_json:
        put_json({**delivery_json(upload_id, delivery), **more})
    elif delivery.exit_code in (Exit.OK, Exit.UNREAD):
        put(delivery_text(upload_id, delivery))
    else:
        say(delivery_text(upload_id, delivery))


def delivery_text(upload_id: str, delivery: Delivery) -> str:
    """How the delivery ended, and what to do where it failed."""
    detail = f": {delivery.detail}" if delivery.detail else ""
    link = f" {delivery.result_url}" if delivery.result_url else ""
    if delivery.exit_code is Exit.OK and delivery.state == "parsed":
        remark = f"\n  {delivery.detail}" if delivery.detail else ""
        return f"Result:{link or ' ' + upload_id}{remark}"
    texts = {
        Exit.OK: f"Stored; the service is still reading it (state {delivery.state}).{link}",
        Exit.UNREAD: f"Stored, but not read ({delivery.state}){detail}.{link}",
        Exit.SPOOLED: f"Not uploaded{detail}. {upload_id} waits in the spool; "
        "`loadsheet spool retry` sends it.",
        Exit.REJECTED: f"Refused for good{detail}",
        Exit.HELD: f"Not uploaded{detail}. {upload_id} waits in the spool.",
    }
    return texts[delivery.exit_code]


def delivery_json(upload_id: str, delivery: Delivery) -> dict[str, Any]:
    return {
        "id": upload_id,
        "exit_code": int(delivery.exit_code),
        "state": delivery.state,
        "result_url": delivery.result_url,
        "detail": delivery.detail,
    }
