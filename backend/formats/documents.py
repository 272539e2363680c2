"""Cuts a text into documents: the reports, JSON documents, tables and XML that load tools wrote,
and what no tool is known to have written.

Every line of the text is in one part, in order. What follows a command line is its output. A JSON
document or a table is a part of its own, unless a report around it is not read without it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from backend.formats.blocks import DRAWN, JSON, LONGEST, TABLE, Block, find_blocks
from backend.formats.commands import Command, find_commands, may_have_commands
from backend.formats.model import FIGURES, FormatError, ParsedTrial
from backend.formats.parts import (
    TEXT,
    Part,
    is_known_alike,
    is_start,
    reads_alike,
    says_more,
    trials_in,
)
from backend.formats.same_run import with_same_runs
from backend.formats.surroundings import regions_around
from backend.formats.table_rows import with_all_rows, with_leads_apart
from backend.formats.text import Source
from backend.formats.text_parts import TextParts
from backend.formats.tools import TABLE_HEADS, is_claimed
from backend.formats.unclaimed_blocks import with_reports_whole
from backend.formats.unread import reports_around

MOST_COMMANDS = 1000
# A document and what stands around it are held against each other up to so many lines.
MOST_LINES = 5000


def documents_of(source: Source) -> list[Part]:
    """The parts of a text in order; blank lines between them are in none."""
    cutter = _Cutter(source)
    if source.is_binary or source.is_log or len(source.text) > LONGEST:
        return [cutter.whole]
    whole = with_same_runs(cutter.parts(cutter.first, cutter.last))
    return _by_commands(cutter, whole) if cutter.sections else whole


def _by_commands(cutter: _Cutter, whole: list[Part]) -> list[Part]:
    """The outputs of each command; the parts of the whole text where these are more."""
    by_commands = [cutter.parts(section.first, section.last) for section in cutter.sections]
    apart = with_same_runs(list(chain.from_iterable(by_commands)))
    if _loses(apart, whole):
        return whole
    for section in cutter.sections:
        own = [part for part in apart if section.first <= part.first <= section.last]
        _name_command(section.command, own)
    return apart


def _loses(apart: Sequence[Part], whole: Sequence[Part]) -> bool:
    """Whether the outputs of commands are fewer trials than the whole text has, or cut off."""
    ours, theirs = (
        trials_in([entry for part in parts for entry in part.entries]) for parts in (apart, whole)
    )
    are_cut = [sum(trial.incomplete for trial in trials) for trials in (ours, theirs)]
    return len(ours) < len(theirs) or are_cut[0] > are_cut[1]


def _name_command(command: Command | None, parts: Sequence[Part]) -> None:
    """Give the command to its output, where there is no other output of a load tool."""
    read = [part for part in parts if part.claims]
    if command is not None and len(read) == 1 and len(read[0].entries) == 1:
        read[0].command = command if read[0].tool in command.tools else None
        read[0].first = min(read[0].first, command.line)


@dataclass(frozen=True, slots=True)
class _Section:
    """The lines below a command, or above the first one."""

    first: int
    last: int
    command: Command | None = None


class _Cutter(TextParts):
    """Cuts one text."""

    @cached_property
    def blocks(self) -> list[Block]:
        return find_blocks(self.source)

    @cached_property
    def sections(self) -> list[_Section]:
        """A section for each command line that starts a load tool; none without such lines."""
        if not may_have_commands(self.source.text):
            return []
        inside = {at for block in self.blocks for at in range(block.first + 1, block.last + 1)}
        commands = [
            command
            for command in find_commands(self.source.raw_lines, self.first)[:MOST_COMMANDS]
            if command.line not in inside
        ]
        if not commands:
            return []
        starts = [command.line for command in commands]
        ends = [*(start - 1 for start in starts[1:]), self.last]
        above = [_Section(self.first, starts[0] - 1)] if starts[0] > self.first else []
        return above + list(map(_Section, starts, ends, commands))

    def parts(self, first: int, last: int) -> list[Part]:
        """The parts of these lines, in order."""
        parts = self._elements(first, last)
        if len(parts) > 1:
            parts = _merged(parts, self._with_next_of_tool)
            parts = with_all_rows(self, parts)
            parts = with_reports_whole(self, parts)
            parts = with_leads_apart(self, parts)
            parts = _merged(parts, self._with_surroundings)
            parts = self._with_starts(parts)
        apart = [each for part in parts for each in _by_tools(part)]
        return [each for part in apart for each in self._without_others(part)]

    def _without_others(self, part: Part) -> list[Part]:
        """The part, or the parts of it, where another tool's output stands around its runs."""
        if part.kind != TEXT or part.tool is None:
            return [part]
        for region in regions_around(part):
            first, last = region.lines[0].number, region.lines[-1].number
            other = self.part(first, min(last, part.last))
            is_other = len(region.lines) > 1 and other.claims and part.tool not in other.claims
            if not is_other or not region.is_needless(first, last):
                continue
            above = self.parts(part.first, first - 1) if first > part.first else []
            below = self.parts(last + 1, part.last) if last < part.last else []
            return [*above, *self.parts(other.first, other.last), *below]
        return self._without_reports(part)

    def _without_reports(self, part: Part) -> list[Part]:
        """The part, and what around its runs looks like a report that no tool knows."""
        parts, first = list[Part](), part.first
        for begin, end in reports_around(part):
            if begin > first:
                parts.append(self.part(first, begin - 1))
            parts.append(self.part(begin, end))
            first = end + 1
        if first == part.first:
            return [part]
        return [*parts, self.part(first, part.last)] if first <= part.last else parts

    def _elements(self, first: int, last: int) -> list[Part]:
        """The blocks, and the texts between them."""
        blocks = [
            block
            for block in self.blocks
            if first <= block.first and block.last <= last and not self._is_of_report(block)
        ]
        parts, at = list[Part](), first
        for block in blocks:
            if not self.is_blank(at, block.first - 1):
                parts.append(self.part(at, block.first - 1))
            part = self.part(block.first, block.last, block.kind)
            part.fault, part.fault_line = block.fault, block.fault_line
            parts.append(part)
            at = block.last + 1
        if not self.is_blank(at, last):
            parts.append(self.part(at, last))
        if len(parts) == 1:
            return [self.part(first, last, parts[0].kind)]
        return parts

    def _is_of_report(self, block: Block) -> bool:
        """Whether a table is one of those in a tool's report, such as Gatling's, or JSON is of a
        line of a log."""
        if block.is_behind:
            return not self.part(block.first, block.last, block.kind).claims
        if any(row.startswith(TABLE_HEADS) for row in self._heads_of(block)):
            return True
        return block.kind == DRAWN and bool(self.part(block.first, block.last).claims)

    def _heads_of(self, block: Block) -> list[str]:
        """The first line of a table, and the one above the rule above it."""
        at = block.first
        has_rule = block.kind == DRAWN and at - 1 > self.first
        has_rule = has_rule and self.row(at - 1).lstrip(" >").startswith("+")
        rows = [at, at - 2] if has_rule else [at]
        return [self.row(row).lstrip(" >") for row in rows]

    def _with_next_of_tool(self, part: Part, following: Part) -> Part | None:
        """Two JSON documents in a row that one tool wrote, which may replace each other. One that
        is broken belongs to those above it, if the tool says so."""
        if not part.kind == following.kind == JSON or part.tool is None:
            return None
        both = self.part(part.first, following.last, JSON)
        if following.tool == part.tool and is_known_alike(following, part):
            # Else each of many documents would be looked for in those above it.
            vars(both)["claims"] = part.claims
            return both
        if following.tool == part.tool:
            return None
        is_broken = following.fault and not following.claims and both.tool == part.tool
        return both if is_broken and not reads_alike(both.entries, part.entries) else None

    def _with_surroundings(self, part: Part, following: Part) -> Part | None:
        """A document with lines that no tool claims, where it says more with them; a table with
        the report of which it has the responses."""
        claimed = [each for each in (part, following) if each.claims]
        if not claimed or following.last - part.first > MOST_LINES:
            return None
        both = self.part(part.first, following.last, claimed[0].kind)
        if both.claims.keys() != claimed[0].claims.keys():
            return None
        if len(claimed) == 1:
            return both if _is_more_together(both, part, following) else None
        is_table = TABLE in (part.kind, following.kind)
        return both if is_table and _is_read_together(both, claimed) else None

    def _with_starts(self, parts: Sequence[Part]) -> list[Part]:
        """Parts of which each document has what its tool printed before the run."""
        started: list[Part] = []
        for part in parts:
            before = started[-1] if started else None
            start = None if before is None else self._start_of(part, before)
            if before is None or start is None:
                started.append(part)
                continue
            above = [self.part(before.first, start - 1)] if start > before.first else []
            started[-1:] = [*above, self.part(start, part.last, part.kind)]
        return started

    def _start_of(self, document: Part, before: Part) -> int | None:
        """The line where the start of a document's run begins at the end of a text."""
        tool = document.tool
        if tool is None or document.kind == TEXT or before.kind != TEXT:
            return None
        ends_refused = before.entries and isinstance(before.entries[-1], FormatError)
        if not ends_refused or tool not in before.claims:
            return None
        last = before.last
        start = _last(before.first, last, lambda at: is_claimed(tool, self.source.part(at, last)))
        if not is_start(tool, self.part(start, last)):
            return None
        # Comments above it are of the same output.
        while start > before.first and self.row(start - 1).startswith("#"):
            start -= 1
        return start


def _is_more_together(both: Part, part: Part, following: Part) -> bool:
    """Whether a document says more with the text beside it that no tool claims."""
    document, other = (part, following) if part.claims else (following, part)
    is_document = document.kind != TEXT and other.kind == TEXT
    return is_document and says_more(both.entries, document.entries)


def _is_read_together(both: Part, apart: Sequence[Part]) -> bool:
    """Whether a report and rows are one trial of both, which has the report's own figures."""
    if len({part.tool for part in apart}) > 1 or not _is_one_trial(both):
        return False
    if any(reads_alike(both.entries, each.entries) for each in apart):
        return False
    text = next((each for each in apart if each.kind == TEXT), apart[0])
    return len(text.trials) == 1 and _keeps(text.trials[0], both.trials[0])


def _is_one_trial(part: Part) -> bool:
    """Whether a part is one trial that does not contradict itself."""
    is_one = len(part.trials) == len(part.entries) == 1
    return is_one and not part.trials[0].disagreements


def _keeps(report: ParsedTrial, joint: ParsedTrial) -> bool:
    return all(getattr(report, name) in (None, getattr(joint, name)) for name in FIGURES)


def _by_tools(part: Part) -> list[Part]:
    try:
        return part.apart
    except FormatError:
        return [part]


def _merged(parts: Sequence[Part], merge: Callable[[Part, Part], Part | None]) -> list[Part]:
    """Parts of which neighbours are one, where `merge` gives one for them."""
    merged: list[Part] = []
    for part in parts:
        merged.append(part)
        while len(merged) > 1 and (both := merge(merged[-2], merged[-1])) is not None:
            merged[-2:] = [both]
    return merged


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The last number for which this holds, as it does for those before."""
    return low + bisect_left(range(low + 1, high + 1), True, key=lambda at: not holds(at))
