"""What the commands share: where the spool is, and telling how a delivery ended."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loadsheet_agent.exits import Exit
from loadsheet_agent.upload import login
from loadsheet_agent.upload.api_client import measure_offset
from loadsheet_agent.upload.delivery import (
    Courier,
    Delivery,
    Target,
    make_target,
    open_client,
)
from loadsheet_agent.upload.spool import Entry, Spool


def open_spool(arguments: Namespace) -> Spool:
    given = arguments.spool or os.environ.get("LOADSHEET_SPOOL")
    # Absolute: load tools run inside it, whatever directory the command was typed in.
    spool = Spool(Path(given).absolute() if given else _default_spool())
    spool.sweep()
    return spool


def _default_spool() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state).absolute() / "loadsheet" / "spool"


def read_target(arguments: Namespace) -> Target | None:
    """Flags, else the environment, else what `loadsheet login` kept; None when there is none."""
    url = arguments.url or os.environ.get("LOADSHEET_URL")
    token = arguments.token or os.environ.get("LOADSHEET_TOKEN")
    kept = login.read_login()
    if kept is not None and (not url or url.rstrip("/") == kept.url):
        url, token = url or kept.url, token or kept.token
    if not url and not arguments.token:
        return None  # a token that merely lies in the environment is no mistake
    return make_target(url, token)


def clock_facts(target: Target | None) -> dict[str, Any] | None:
    """How far the service's clock is from ours; None when it was not asked or did not answer."""
    if target is None:
        return None
    offset = measure_offset(target)
    return None if offset is None else asdict(offset)


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def put(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def put_json(value: Mapping[str, Any]) -> None:
    put(json.dumps(value, ensure_ascii=False))


def deliver(entry: Entry, target: Target, max_wait_s: float | None) -> Delivery:
    with open_client(target) as client:
        courier = Courier(target=target, client=client, max_wait_s=max_wait_s, say=say)
        return courier.deliver(entry)


def delivery_text(upload_id: str, delivery: Delivery) -> str:
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


def report(upload_id: str, delivery: Delivery, *, as_json: bool, more: Mapping[str, Any]) -> None:
    if as_json:
        put_json({**delivery_json(upload_id, delivery), **more})
    elif delivery.exit_code in (Exit.OK, Exit.UNREAD):
        put(delivery_text(upload_id, delivery))
    else:
        say(delivery_text(upload_id, delivery))
