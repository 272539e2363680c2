"""Finds where the output of one tool is over and the output of another tool begins, in a text
without command lines between them.

If more than one place could be meant and the figures depend on it, the text is refused.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from backend.formats.commands import is_border
from backend.formats.model import FormatError, ParsedTrial, is_filled
from backend.formats.text import Source
from backend.formats.tools import claims_of, is_claimed, read_alone

# Looking for cuts reads a text again and again.
LONGEST = 256 << 10
MOST_CUTS = 50
# Blank lines at which an output is tried to be over, the last ones.
MOST_ENDS = 20
# So many lines are looked at first, then twice as many.
FIRST_LOOK = 32


def parts_by_tools(source: Source, tools: Iterable[str]) -> list[tuple[int, int]]:
    """The first and the last line of each output, where one tool's output follows another's.

    Raises FormatError where a place is not certain.
    """
    first = source.artefact.first_line
    if len(source.text) > LONGEST:
        raise _not_certain(tools, first, "a text of more than 256 KiB")
    text = _Text(source)
    cuts = [*text.cuts(), len(text.lines)]
    return [(first + start, first + end - 1) for start, end in pairwise(cuts)]


def parts_of_rows(source: Source, tools: Iterable[str]) -> list[tuple[int, int]]:
    """As `parts_by_tools`, of a text in which each line is of one tool by itself.

    Raises FormatError where a text has too many.
    """
    first, last = source.artefact.first_line, source.last_number
    places: list[tuple[int, int]] = []
    while len(claims_of(rest := source.part(first, last))) > 1:
        if len(places) > MOST_CUTS:
            raise _not_certain(tools, first, f"more than {MOST_CUTS} outputs")
        begin, end = rest.artefact.first_line, rest.last_number
        # Where the second tool begins.
        cut = _first(begin, end, lambda at: len(claims_of(source.part(begin, at))) > 1)  # noqa: B023
        places.append((first, cut - 1))
        first = cut
    return [*places, (first, last)]


@dataclass
class _Text:
    """The lines of a text, parts of which are read on trial."""

    source: Source

    @property
    def lines(self) -> list[str]:
        return self.source.raw_lines

    def part(self, start: int, end: int) -> Source:
        """The lines from `start` to before `end`, counted from 0."""
        above = self.source.artefact.first_line
        return self.source.part(above + start, above + end - 1)

    def number(self, at: int) -> int:
        return self.source.artefact.first_line + at

    def cuts(self) -> list[int]:
        """Where the sections begin."""
        cuts = [0]
        while len(cuts) <= MOST_CUTS:
            tools = list(claims_of(self.part(cuts[-1], len(self.lines))))
            if len(tools) < 2:
                return cuts
            cuts.append(self._next_cut(cuts[-1], tools))
        raise _not_certain(tools, self.number(cuts[-1]), f"more than {MOST_CUTS} outputs")

    def _next_cut(self, start: int, tools: Sequence[str]) -> int:
        """Where the output of the second tool of the lines from `start` begins."""
        ends = self._first_ends(start, tools, fewest=2)
        first, second = sorted(ends, key=ends.__getitem__)[:2]
        begin = self._last_begin(second, start, ends[second])
        if begin < ends[first] or list(claims_of(self.part(start, begin))) != [first]:
            raise _not_certain(tools, self.number(begin), self.lines[begin])
        over = self._end_of(first, start, ends[first], begin)
        if (at := self._end_before(first, start, ends[first], over)) is not None:
            raise _not_certain(tools, self.number(at), self.lines[over - 1])
        if over == begin and self._may_end_above(first, start, begin):
            raise _not_certain(tools, self.number(begin), self.lines[begin - 1])
        prompt = self._last_prompt(over, begin)
        if prompt is not None:
            return prompt
        end = self._end_of_second(second, begin)
        later, earlier = self._read(second, begin, end), self._read(second, over, end)
        if later == earlier:
            return begin
        if is_filled(later, earlier):
            # What neither needs stays with the first: it may be a further part of its report.
            return _first(over + 1, begin, lambda at: self._read(second, at, end) != earlier) - 1
        raise _not_certain(tools, self.number(over), self.lines[over])

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

    def _last_prompt(self, start: int, end: int) -> int | None:
        return next(
            (at for at in range(end - 1, start - 1, -1) if _is_prompt(self.lines[at].strip())), None
        )

    def _may_end_above(self, tool: str, start: int, begin: int) -> bool:
        """Whether the last line before `begin` may as well be the first of the next output."""
        if not self.lines[begin - 1].strip() or not self._is_whole(tool, start, begin - 1):
            return False
        return self._read(tool, start, begin - 1) != self._read(tool, start, begin)

    def _is_whole(self, tool: str, start: int, end: int) -> bool:
        entries = read_alone(tool, [self.part(start, end)])
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
            entry.reason if isinstance(entry, FormatError) else entry.figures()
            for entry in read_alone(tool, [self.part(start, end)])
        ]


def _is_prompt(text: str) -> bool:
    return bool(text) and is_border(text)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from `low` on for which this holds, as it does from there to `high`."""
    return low + bisect_left(range(low, high), True, key=holds)


def _not_certain(tools: Iterable[str], line: int, found: str) -> FormatError:
    names = " and ".join(sorted(tools))
    return FormatError(
        f"This text has output of {names}, and where one ends and the next begins is not certain.",
        line=line,
        found=found,
        expected='a file for each, or the command lines between them ("$ wrk -t2 …")',
    )
