"""`loadsheet upload FILE...`: upload saved output of a load tool."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from loadsheet_agent.commands.delivery_report import deliver, report
from loadsheet_agent.commands.options import read_pairs
from loadsheet_agent.commands.output import say
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.plan.server_texts import SERVER_TEXTS
from loadsheet_agent.upload.envelope import file_envelope
from loadsheet_agent.upload.packed import redact
from loadsheet_agent.upload.redaction import Redactor
from loadsheet_agent.upload.spool import OWN_NAMES, Entry, open_spool
from loadsheet_agent.upload.target import require_target


def run(arguments: Namespace) -> Exit:
    target = require_target(arguments.url, arguments.token)
    paths = [_checked(Path(name)) for name in arguments.files]
    description = _describe_upload(arguments)
    entry = open_spool(arguments.spool).create()
    names = _copy(paths, entry)
    redactor = Redactor({os.environ.get("LOADSHEET_TOKEN") or "", target.token})
    redacted = _redact(entry, names, redactor)
    if redacted:
        say(f"Secrets were removed from the copy of {', '.join(redacted)}.")
    for trial in description.get("trials", ()):
        trial["artefacts"] = names
    envelope = {**file_envelope(entry.id, tool=arguments.tool), **description}
    entry.commit(redactor.value(envelope), names)
    delivery = deliver(entry, target, arguments.max_wait)
    report(entry.id, delivery, as_json=arguments.json, more={"files": names})
    return delivery.exit_code


def _describe_upload(arguments: Namespace) -> dict[str, Any]:
    """Run, trial and host as the flags describe them; where they describe a trial, it is one."""
    at = None if arguments.at is None else _instant(arguments.at)
    labels = read_pairs(arguments.label, "--label")
    times = {"started_at": at, "finished_at": at}
    description: dict[str, Any] = {}
    if at or labels:
        description["run"] = {**times, "labels": labels}
    trial = _describe_trial(arguments)
    if trial:
        description["trials"] = [{"ordinal": 0, **trial, **times}]
    if arguments.host is not None:
        description["hosts"] = {"server": {"name": arguments.host}}
    return description


def _describe_trial(arguments: Namespace) -> dict[str, Any]:
    """Server, workload and load as the flags describe them; empty if they describe no trial."""
    server = {
        "name": arguments.server,
        "version": arguments.server_version,
        **{name: getattr(arguments, name) for name in SERVER_TEXTS},
        "configuration": read_pairs(arguments.config, "--config"),
    }
    workload = {
        "name": arguments.workload,
        "method": arguments.method,
        "path": arguments.path,
        "payload_bytes": arguments.payload_bytes,
        "keepalive": arguments.keepalive,
        "tls": arguments.tls,
    }
    load = {
        "tool": arguments.tool,
        "tool_version": arguments.tool_version,
        "connections": arguments.connections,
        "rate_rps": arguments.rate,
        "loop": "open" if arguments.rate is not None else None,
        "duration_s": arguments.duration,
    }
    # The tool alone is a hint for reading; it does not make one trial of many files.
    trial = {"server": _given(server), "workload": _given(workload), "load": _given(load)}
    if trial["server"]:
        return trial
    if trial["workload"] or set(trial["load"]) - {"tool"}:
        raise UsageError("the flags describe a trial, but not its server; add --server NAME.")
    return {}


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, {})}


def _instant(text: str) -> str:
    """ISO 8601 in UTC. A time without a zone is local time; a date alone is its local midnight."""
    try:
        instant = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise UsageError(
            f"--at {text!r} is not a time; expected a form like 2016-09-14 or 2016-09-14T12:30:00Z."
        ) from error
    instant = instant.astimezone(timezone.utc)
    if instant > datetime.now(timezone.utc):
        raise UsageError(f"--at {text!r} lies in the future; give the time of the measurement.")
    return instant.isoformat().replace("+00:00", "Z")


def _checked(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path} is not a file; give the saved output of a load tool.")
    if not path.stat().st_size:
        raise UsageError(f"{path} is empty; give the saved output of a load tool.")
    return path


def _redact(entry: Entry, names: list[str], redactor: Redactor) -> list[str]:
    """The files from whose copy in the spool secrets were removed."""
    try:
        return [name for name in names if redact(entry.directory / name, redactor)]
    except UsageError:
        entry.remove()
        raise


def _copy(paths: list[Path], entry: Entry) -> list[str]:
    """Copy the files to the spool, because the originals may be gone at a later try."""
    names: list[str] = []
    try:
        for path in paths:
            name = _free_name(path, {*names, *OWN_NAMES})
            shutil.copyfile(path, entry.directory / name)
            names.append(name)
    except OSError as error:
        entry.remove()
        raise UsageError(f"{path} could not be copied to the spool ({error.strerror}).") from error
    return names


def _free_name(path: Path, taken: set[str]) -> str:
    name, number = path.name, 1
    while name in taken or name.endswith(".part"):
        number += 1
        name = f"{path.stem}-{number}{'.txt' if path.suffix == '.part' else path.suffix}"
    return name
