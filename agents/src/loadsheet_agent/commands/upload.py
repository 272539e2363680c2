"""`loadsheet upload FILE...`: bring saved output of a load tool to the service."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from loadsheet_agent.commands import common
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.envelope import file_envelope
from loadsheet_agent.upload.parts import COMPRESSED_STARTS
from loadsheet_agent.upload.redaction import Redactor
from loadsheet_agent.upload.spool import OWN_NAMES, Entry


def run(arguments: Namespace) -> Exit:
    target = common.read_target(arguments)
    if target is None:
        raise UsageError("no address to upload to; set LOADSHEET_URL or give --url.")
    paths = [_checked(Path(name)) for name in arguments.files]
    said = _said(arguments)
    entry = common.open_spool(arguments).create()
    names = _copy(paths, entry)
    redactor = Redactor({os.environ.get("LOADSHEET_TOKEN") or "", target.token})
    texts = [name for name in names if _is_text(entry.directory / name)]
    hidden = [name for name in texts if redactor.file(entry.directory / name)]
    if hidden:
        common.say(f"Secrets were taken out of the copy of {', '.join(hidden)}.")
    envelope = {**file_envelope(entry.id, tool=arguments.tool), **_about(arguments, said, names)}
    entry.commit(redactor.value(envelope), names)
    delivery = common.deliver(entry, target, arguments.max_wait)
    common.report(entry.id, delivery, as_json=arguments.json, more={"files": names})
    return delivery.exit_code


def _about(arguments: Namespace, said: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """What the sender says of the files; with anything said of the trial they are one trial."""
    at = None if arguments.at is None else _instant(arguments.at)
    labels = _pairs(arguments.label, "--label")
    about: dict[str, Any] = {}
    if at or labels:
        about["run"] = {"started_at": at, "finished_at": at, "labels": labels}
    if any(said.values()):
        times = {"started_at": at, "finished_at": at}
        about["trials"] = [{"ordinal": 0, **said, **times, "artefacts": names}]
    if arguments.host is not None:
        about["hosts"] = {"server": {"name": arguments.host}}
    return about


def _said(arguments: Namespace) -> dict[str, Any]:
    server = {
        "name": arguments.server,
        "version": arguments.server_version,
        "runtime": arguments.runtime,
        "configuration": _pairs(arguments.config, "--config"),
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
    # The tool alone is a hint for reading, as ever; it does not make one trial of many files.
    parts = {"server": _given(server), "workload": _given(workload), "load": _given(load)}
    if set(parts["load"]) == {"tool"} and not parts["server"] and not parts["workload"]:
        return {}
    if (parts["workload"] or parts["load"]) and not parts["server"]:
        raise UsageError("what the files measured is described, but not whom; add --server NAME.")
    return parts


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, {})}


def _pairs(flags: list[str], name: str) -> dict[str, str]:
    pairs = [flag.partition("=") for flag in flags]
    bad = next((key for key, equals, _ in pairs if not equals or not key), None)
    if bad is not None:
        raise UsageError(f"{name} {bad!r} is not understood; expected KEY=VALUE.")
    return {key: value for key, _, value in pairs}


def _instant(text: str) -> str:
    """ISO 8601 in UTC; a time without a zone is this machine's, a date alone its midnight."""
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise UsageError(
            f"--at {text!r} is no time; expected as 2016-09-14 or 2016-09-14T12:30:00Z."
        ) from error
    moment = moment.astimezone(timezone.utc)
    if moment > datetime.now(timezone.utc):
        raise UsageError(f"--at {text!r} lies in the future; expected when it was measured.")
    return moment.isoformat().replace("+00:00", "Z")


def _checked(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path} is not a file; give the saved output of a load tool.")
    if not path.stat().st_size:
        raise UsageError(f"{path} is empty; give the saved output of a load tool.")
    return path


def _is_text(path: Path) -> bool:
    """A compressed or binary file is sent as it is: masking bytes in it would break it."""
    with path.open("rb") as file:
        start = file.read(8192)
    return b"\0" not in start and not start.startswith(COMPRESSED_STARTS)


def _copy(paths: list[Path], entry: Entry) -> list[str]:
    """Into the spool, because the originals may be gone when a retry is due."""
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
