"""What every load tool module offers: how it is called for one typed load point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class LoadPoint:
    url: str
    method: str
    keepalive: bool
    connections: int
    duration_s: float
    threads: int


@dataclass(frozen=True)
class Command:
    """`stdout` names the artefact of what the tool prints; `files` those it writes itself."""

    argv: tuple[str, ...]
    stdout: str
    files: tuple[str, ...] = ()


class Tool(Protocol):
    # `version_pattern` must have one group; tools print their version in their own ways.
    name: str
    loop: str
    version_flag: str
    version_pattern: str

    def refusal(self, point: LoadPoint) -> str | None:
        """Why this tool cannot do this load point exactly, or None."""

    def threads(self, point: LoadPoint) -> int:
        """Threads really used: never more than asked for."""

    def command(self, point: LoadPoint, prefix: str) -> Command:
        """The argument list; file names are relative to the trial's working directory."""


def whole_seconds(name: str, point: LoadPoint) -> str | None:
    if point.duration_s == int(point.duration_s) and point.duration_s >= 1:
        return None
    return (
        f"{name} takes whole seconds, not {point.duration_s:g}; "
        "use a whole number from 1 for duration_s and warmup_s"
    )
