"""The results of HttpArena, which are in the folder `site/data` of its repository.

    <data>/<test>-<connections>.json    a result of each framework, or none yet
    <data>/current.json                 the machine

The service reads the files of results as they are. Each folder with results is a run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import UsageError
from loadsheet_agent.imports.archive_texts import HTTPARENA_NOTES, MACHINE, host_of
from loadsheet_agent.imports.imported_run import ImportedRun

ARCHIVE = "httparena"
# What every result has; the other files of the folder do not.
KEYS = frozenset(("framework", "rps", "p99_latency"))


def runs_of(directory: Path) -> list[ImportedRun]:
    """A run for each folder of results below the directory. Raises UsageError without any."""
    rows = {path: rows for path in sorted(directory.rglob("*.json")) if (rows := _rows(path))}
    folders = sorted({path.parent for path in rows})
    if not folders:
        raise UsageError(
            f"{directory} has no results of HttpArena; expected files such as "
            "site/data/baseline-512.json in it or below it."
        )
    return [
        _run(folder, directory, {path: rows[path] for path in rows if path.parent == folder})
        for folder in folders
    ]


def _rows(path: Path) -> list[Mapping[str, Any]]:
    """The results in a file; empty for a file of another kind."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    # RecursionError: thousands of lists in one another.
    except (ValueError, OSError, RecursionError):
        return []
    if not isinstance(document, list):
        return []
    return [row for row in document if isinstance(row, dict) and row.keys() >= KEYS]


def _run(
    folder: Path, directory: Path, rows: Mapping[Path, list[Mapping[str, Any]]]
) -> ImportedRun:
    machine = host_of(_machine_document(folder / MACHINE))
    return ImportedRun(
        name=str(folder.relative_to(directory.parent)) if folder != directory else directory.name,
        archive=ARCHIVE,
        notes=HTTPARENA_NOTES,
        trials=sum(map(len, rows.values())),
        files={path.name: path.read_bytes() for path in rows},
        remarks=tuple(f"{path.name} has no results." for path in _empty_files(folder)),
        members={"hosts": {"server": machine}} if machine else {},
    )


def _empty_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.json")) if path.read_bytes().strip() == b"[]"]


def _machine_document(path: Path) -> dict[str, Any]:
    """The file of the machine; empty without one. Raises UsageError for another kind of file."""
    try:
        machine = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read ({error}); expected a JSON object.") from error
    if not isinstance(machine, dict):
        raise UsageError(
            f"{path} is not a JSON object; expected the machine with its cpu and cores."
        )
    return machine
