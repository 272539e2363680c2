"""A part of a text: lines that one load tool wrote, or that none is known to have written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from backend.formats.blocks import JSON
from backend.formats.commands import Command
from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.text import Source
from backend.formats.tool_changes import parts_by_tools, parts_of_rows
from backend.formats.tools import TOOLS, claims_of, read_alone

TEXT = "text"


@dataclass(eq=False)
class Part:
    """Lines from one number to another, and the lines of the same run that stand elsewhere."""

    source: Source
    kind: str
    first: int
    last: int
    # The command line above it, if what follows is of one run.
    command: Command | None = None
    # Why a JSON document cannot be read, and at which line.
    fault: str = ""
    fault_line: int = 0
    # What else of the text is of the same run.
    others: list[Part] = field(default_factory=list)
    # The names of outputs on its lines (output_names.py), each made once.
    names: dict[tuple[int, int], str] = field(default_factory=dict)

    @cached_property
    def claims(self) -> Mapping[str, str]:
        """The load tools that claim it, each with its reason."""
        return claims_of(self.source)

    @property
    def tool(self) -> str | None:
        """The load tool that wrote it; None for none, or several."""
        return next(iter(self.claims)) if len(self.claims) == 1 else None

    @property
    def sources(self) -> list[Source]:
        return [self.source, *(other.source for other in self.others)]

    @cached_property
    def apart(self) -> list[Part]:
        """The part itself, or a part for each change of tool; raises FormatError where a place
        is not certain."""
        if len(self.claims) < 2:
            return [self]
        find = parts_of_rows if self.kind == JSON else parts_by_tools
        return [self._lines(first, last) for first, last in find(self.source, self.claims)]

    def _lines(self, first: int, last: int) -> Part:
        last = min(last, self.last)
        return Part(self.source.part(first, last), self.kind, first, last)

    @cached_property
    def entries(self) -> list[Entry]:
        """Every run in it, as its tools read it."""
        if len(self.claims) > 1:
            try:
                return [entry for part in self.apart for entry in part.entries]
            except FormatError as refused:
                return [refused]
        return [] if self.tool is None else read_alone(self.tool, self.sources)

    @property
    def trials(self) -> list[ParsedTrial]:
        return trials_in(self.entries)


def lines_of_entries(part: Part) -> list[tuple[int, int]]:
    """The first and the last line of each entry. All lines of the part are of one, where its tool
    does not say where each run begins."""
    count, whole = len(part.entries), (part.first, part.last)
    starts = _starts_of(part) if count > 1 else []
    if (
        count < 2
        or len(starts) < count
        or any(after <= before for before, after in pairwise(starts))
    ):
        return [whole] * count
    firsts = [part.first, *starts[1:]]
    return list(zip(firsts, [*(first - 1 for first in firsts[1:]), part.last], strict=True))


def _starts_of(part: Part) -> list[int]:
    """Where the runs begin that say it; of JSON, its documents."""
    starts = [entry.lines[0] for entry in part.entries if entry.lines is not None]
    if len(starts) < len(part.entries) and part.kind == JSON:
        documents = part.source.documents
        return [each.line for each in documents] if len(documents) == len(part.entries) else []
    return starts


def is_known_alike(part: Part, other: Part) -> bool:
    """Whether a tool knows two parts by the same reason: a log's rows are no summaries."""
    ours, theirs = (re.sub(r"\d+", "", " ".join(each.claims.values())) for each in (part, other))
    return ours == theirs


def is_start(tool: str, part: Part) -> bool:
    """Whether lines are what the tool prints before a run, without a figure of its result."""
    figures = TOOLS[tool].figure_marks
    has_figures = any(mark in part.source.text for mark in figures)
    return part.kind == TEXT and bool(figures) and tool in part.claims and not has_figures


def trials_in(entries: Sequence[Entry]) -> list[ParsedTrial]:
    return [entry for entry in entries if isinstance(entry, ParsedTrial)]


def figures_in(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The figures of each trial."""
    return [trial.figures() for trial in trials_in(entries)]


def reads_alike(entries: Sequence[Entry], others: Sequence[Entry]) -> bool:
    """Whether two readings have the same figures and the same reasons of refusals."""
    return figures_in(entries) == figures_in(others) and _reasons(entries) == _reasons(others)


def says_more(entries: Sequence[Entry], others: Sequence[Entry]) -> bool:
    """Whether a reading has more trials than another one, or knows more figures of as many. Of
    readings without trials: whether it has other reasons."""
    ours, theirs = figures_in(entries), figures_in(others)
    if len(ours) != len(theirs):
        return len(ours) > len(theirs)
    if not ours and entries and others:
        return _reasons(entries) != _reasons(others)
    return ours != theirs and _known(ours) > _known(theirs)


def _reasons(entries: Sequence[Entry]) -> list[str]:
    return [entry.reason for entry in entries if isinstance(entry, FormatError)]


def _known(value: Any) -> int:
    """How many figures are known; that an output is cut off is none."""
    if isinstance(value, Mapping):
        return sum(_known(item) for name, item in value.items() if name != "incomplete")
    if isinstance(value, list | tuple):
        return sum(map(_known, value))
    return int(value is not None)
