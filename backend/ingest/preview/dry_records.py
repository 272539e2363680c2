"""What a preview shows of files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.runs.checks import Finding
from backend.runs.measured.measured import LoadPoint


@dataclass(frozen=True, slots=True)
class DryTrial:
    """A trial as it would be recorded; None is unknown. Times in µs, rates per second."""

    server: str
    # Its name is from the output: nobody named it.
    is_named_by_output: bool
    workload: str
    point: LoadPoint
    figures: Mapping[str, Any]
    findings: Sequence[Finding]
    incomplete: bool
    is_warmup: bool = False
    # What was removed from the text before it was read, as sentences.
    notes: tuple[str, ...] = ()
    # The first and last line of the trial's output, where the file has several.
    lines: tuple[int, int] | None = None
    # The command line above it; empty if there is none.
    command: str = ""


@dataclass(frozen=True, slots=True)
class DryRefusal:
    """Why a result is not read: the sentence, and apart what was found where and expected."""

    sentence: str
    line: int | None = None
    found: str | None = None
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class DryFile:
    """What one file holds, as far as it can be told now.

    `sha256`: of the bytes as they would be kept; empty if they were not read.
    """

    name: str
    trials: tuple[DryTrial, ...]
    refusals: tuple[DryRefusal, ...]
    sha256: str = ""
