"""What an importer makes of an archive: a run to upload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ImportedRun:
    """A run of an archive: its files by name, and what its envelope says of it.

    `trials`: how many it has. `notes`: what the archive can tell and what it cannot. `remarks`:
    where the archive contradicts itself or lacks results, as sentences. `members`: further members
    of the envelope, such as its trials or hosts.
    """

    name: str
    archive: str
    notes: str
    trials: int
    files: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()
    members: Mapping[str, Any] = field(default_factory=dict)
