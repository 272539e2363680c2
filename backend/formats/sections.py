"""Cuts a text with outputs of several runs or tools into sections, each with output of one tool.

Command lines are the surest places to cut. Without them a cut is where one tool's output is over
and the other's begins; if more than one place could be meant and the figures depend on it, the
text is refused.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from backend.formats.commands import Command, find_commands, may_have_commands
from backend.formats.model import Entry, FormatError, ParsedTrial, RawArtefact
from backend.formats.text import Source, is_prompt
from backend.formats.tools import TOOLS, claims_of, is_claimed

# Looking for cuts reads a text again and again.
LONGEST_WITH_COMMANDS, LONGEST_WITHOUT = 4 << 20, 256 << 10
MOST_COMMANDS, MOST_CUTS = 1000, 50
# Blank lines at which an output is tried to be over, the last ones.
MOST_ENDS = 20
# So many lines are looked at first, then twice as many.
FIRST_LOOK = 32


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text: lines from `start` to before `end`, counted from 0."""

    source: Source
    start: int
    end: int
    command: Command | None = None

    @property
    def line_numbers(self) -> tuple[int, int]:
        """The first and the last line, from 1."""
        return self.start + 1, self.end


def sections_by_commands(source: Source) -> list[Section]:
    """A section for each command line that starts a load tool; none without such lines."""
    if len(source.data) > LONGEST_WITH_COMMANDS or not may_have_commands(source.text):
        return []
    text = _Text(source)
    commands = find_commands(text.lines)[:MOST_COMMANDS]
    if not commands:
        return []
    ends = [*(command.position for command in commands[1:]), len(text.lines)]
    sections = [
        text.section(command.position, end, command)
        for command, end in zip(commands, ends, strict=True)
    ]
    before = text.section(0, commands[0].position)
    return [section for section in (before, *sections) if claims_of(section.source)]


def sections_by_tools(source: Source) -> list[Section]:
    """A section for each change of tool. Raises FormatError where a place is not certain."""
    if len(source.data) > LONGEST_WITHOUT:
        raise _not_certain(claims_of(source), 1, "a text of more than 256 KiB")
    text = _Text(source)
    cuts = [*text.cuts(), len(text.lines)]
    return [text.section(start, end) for start, end in pairwise(cuts)]


@dataclass
class _Text:
    """The lines of a text, parts of which are read on trial."""

    source: Source

    @cached_property
    def lines(self) -> list[str]:
        return self.source.text.split("\n")

    def section(self, start: int, end: int, command: Command | None = None) -> Section:
        return Section(self.part(start, end), start, end, command)

    def part(self, start: int, end: int) -> Source:
        """The lines as a source, in which they have the numbers that they have here."""
        is_last = end == len(self.lines)
        body = "\n".join(self.lines[start:end]) + ("" if is_last else "\n")
        whole = self.source.artefact
        data = body.encode(errors="replace")
        return Source(replace(RawArtefact.of(whole.name, data), first_line=start + 1))

    def cuts(self) -> list[int]:
        """Where the sections begin."""
        cuts = [0]
        while len(cuts) <= MOST_CUTS:
            tools = list(claims_of(self.part(cuts[-1], len(self.lines))))
            if len(tools) < 2:
                return cuts
            cuts.append(self._next_cut(cuts[-1], tools))
        raise _not_certain(tools, cuts[-1] + 1, f"more than {MOST_CUTS} outputs")

    def _next_cut(self, start: int, tools: Sequence[str]) -> int:
        """Where the output of the second tool of the lines from `start` begins."""
        ends = self._first_ends(start, tools, fewest=2)
        first, second = sorted(ends, key=ends.__getitem__)[:2]
        begin = self._last_begin(second, start, ends[second])
        if begin < ends[first] or list(claims_of(self.part(start, begin))) != [first]:
            raise _not_certain(tools, begin + 1, self.lines[begin])
        over = self._end_of(first, start, ends[first], begin)
        if (at := self._end_before(first, start, ends[first], over)) is not None:
            raise _not_certain(tools, at + 1, self.lines[over - 1])
        prompts = [at for at in range(over, begin) if is_prompt(self.lines[at].strip())]
        if prompts:
            return prompts[-1]
        end = self._end_of_second(second, begin)
        later, earlier = self._read(second, begin, end), self._read(second, over, end)
        if later == earlier:
            return begin
        if _is_filled(later, earlier):
            return over
        raise _not_certain(tools, over + 1, self.lines[over])

    def _first_ends(self, start: int, tools: Sequence[str], *, fewest: int) -> dict[str, int]:
        """The end of the shortest lines from `start` that are a tool's output, for the tools that
        come first: at least so many."""
        count, near = FIRST_LOOK, list[str]()
        while len(near) < fewest:
            end = min(start + count, len(self.lines))
            near = [tool for tool in tools if is_claimed(tool, self.part(start, end))]
            if end == len(self.lines):
                break
            count *= 2
        return {tool: self._first_end(tool, start, end) for tool in near}

    def _first_end(self, tool: str, start: int, end: int) -> int:
        return _first(start + 1, end, lambda at: is_claimed(tool, self.part(start, at)))

    def _last_begin(self, tool: str, start: int, end: int) -> int:
        """The begin of the shortest lines before `end` that are the tool's output."""
        after = _first(start + 1, end, lambda at: not is_claimed(tool, self.part(at, end)))
        return after - 1

    def _end_of(self, tool: str, start: int, shortest: int, longest: int) -> int:
        """The end of the shortest lines from `start` that say what the longest say."""
        figures = self._read(tool, start, longest)
        return _first(shortest, longest, lambda end: self._read(tool, start, end) == figures)

    def _end_before(self, tool: str, start: int, shortest: int, over: int) -> int | None:
        """A blank line before `over` where the output could be over, too, and said less."""
        blanks = [end for end in range(shortest, over) if not self.lines[end].strip()]
        # The first of blank lines that follow each other.
        ends = [end for end in blanks if self.lines[end - 1].strip()][-MOST_ENDS:]
        return next((end for end in ends if self._is_whole(tool, start, end)), None)

    def _is_whole(self, tool: str, start: int, end: int) -> bool:
        entries = self._entries(tool, start, end)
        return all(isinstance(entry, ParsedTrial) and not entry.incomplete for entry in entries)

    def _end_of_second(self, tool: str, begin: int) -> int:
        """Where a third tool's output begins, at the latest."""
        claimed = claims_of(self.part(begin, len(self.lines)))
        others = [other for other in claimed if other != tool]
        if not others:
            return len(self.lines)
        ends = self._first_ends(begin, others, fewest=1)
        end, other = min((end, other) for other, end in ends.items())
        return self._last_begin(other, begin, end)

    def _read(self, tool: str, start: int, end: int) -> list[Any]:
        """The figures of each run; the reason of a refusal, whose lines do not count here."""
        return [
            entry.reason if isinstance(entry, FormatError) else entry.as_dict()
            for entry in self._entries(tool, start, end)
        ]

    def _entries(self, tool: str, start: int, end: int) -> list[Entry]:
        try:
            return TOOLS[tool].read([self.part(start, end)])
        except FormatError as refused:
            return [refused]


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from `low` on for which this holds, as it does from there to `high`."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _is_filled(before: Any, after: Any) -> bool:
    """Whether figures are the same, or known where they were null."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(_is_filled(value, after.get(key)) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_is_filled, before, after))
    return before is None or before == after


def _not_certain(tools: Iterable[str], line: int, found: str) -> FormatError:
    names = " and ".join(sorted(tools))
    return FormatError(
        f"This text has output of {names}, and where one ends and the next begins is not certain.",
        line=line,
        found=found,
        expected='a file for each, or the command lines between them ("$ wrk -t2 …")',
    )
