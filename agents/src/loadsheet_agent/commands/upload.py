"""`loadsheet upload FILE...`: bring saved output of a load tool to the service."""

from __future__ import annotations

import shutil
from argparse import Namespace
from pathlib import Path

from loadsheet_agent.commands import common
from loadsheet_agent.envelope import file_envelope
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.spool import OWN_NAMES, Entry


def run(arguments: Namespace) -> Exit:
    target = common.read_target(arguments)
    if target is None:
        raise UsageError("no address to upload to; set LOADSHEET_URL or give --url.")
    paths = [_checked(Path(name)) for name in arguments.files]
    entry = common.open_spool(arguments).create()
    names = _copy(paths, entry)
    entry.commit(file_envelope(entry.id, tool=arguments.tool), names)
    delivery = common.deliver(entry, target, arguments.max_wait)
    common.report(entry.id, delivery, as_json=arguments.json, more={"files": names})
    return delivery.exit_code


def _checked(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path} is not a file; give the saved output of a load tool.")
    if not path.stat().st_size:
        raise UsageError(f"{path} is empty; give the saved output of a load tool.")
    return path


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
