"""The lines above and below the runs of a tool's text, some of which the tool may not need."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backend.formats.model import ParsedTrial, is_filled
from backend.formats.parts import Part, figures_in, lines_of_entries
from backend.formats.text import Line
from backend.formats.tools import TOOLS, is_claimed, read_alone

# As the reason names the line that a tool is known by.
_NAMED_LINE = re.compile(r"\bline (\d+)\b")


@dataclass(frozen=True, slots=True)
class Region:
    """Lines above the first run of a part, or below the figures of a run."""

    part: Part
    trial: ParsedTrial
    # Of the run, with these.
    run: tuple[int, int]
    lines: Sequence[Line]
    is_above: bool

    def is_needless(self, first: int, last: int) -> bool:
        """Whether the run reads the same without these lines and those on their outer side."""
        begin, end = (last + 1, self.run[1]) if self.is_above else (self.run[0], first - 1)
        if begin > end or self.part.tool is None:
            return False
        source = self.part.source.part(begin, end)
        if not is_claimed(self.part.tool, source):
            return False
        figures = figures_in(read_alone(self.part.tool, [source]))
        # Below another output's last line, a tool may not trust the end of its own.
        known = {**self.trial.figures(), "incomplete": None}
        return len(figures) == 1 and is_filled(known, figures[0])


def regions_around(part: Part) -> Iterator[Region]:
    """The lines around each run of a text of one tool that are not blank."""
    if part.tool is None:
        return
    why, ends = part.claims[part.tool], TOOLS[part.tool].ends
    for place, entry, (first, last) in _known_places(part):
        is_all = (first, last) == (part.first, part.last)
        own = part.source.lines if is_all else part.source.part(first, last).lines
        above = _above(own, entry, why) if place == 0 else []
        below = own[_end_of(own, ends) :]
        for lines, is_above in ((above, True), (below, False)):
            if any(line.text for line in lines):
                yield Region(part, entry, (first, last), lines, is_above)


def _known_places(part: Part) -> Iterator[tuple[int, ParsedTrial, tuple[int, int]]]:
    """Each trial with its place among the entries and its lines, if it is known where it begins."""
    entries, places = part.entries, lines_of_entries(part)
    if len(entries) > 1 and places[0] == (part.first, part.last):
        return
    for place, (entry, lines) in enumerate(zip(entries, places, strict=True)):
        if isinstance(entry, ParsedTrial):
            yield place, entry, lines


def _above(lines: Sequence[Line], entry: ParsedTrial, why: str) -> Sequence[Line]:
    """The lines above where the tool says that the run begins, or that it knows the run by."""
    start = entry.lines[0] if entry.lines is not None else 0
    named = _NAMED_LINE.search(why)
    if start <= lines[0].number and named is not None:
        first = next(paragraphs_in(lines), [])
        return first if first and int(named[1]) > first[-1].number else []
    return [line for line in lines if line.number < start]


def _end_of(lines: Sequence[Line], ends: Sequence[str]) -> int:
    """Behind the first line that a report may end with; behind all where there is none."""
    # A loop takes half as long as `any`.
    for at, line in enumerate(lines):
        for end in ends:
            if end in line.text:
                return at + 1
    return len(lines)


def paragraphs_in(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines between blank ones."""
    paragraph: list[Line] = []
    for line in [*lines, Line(0, "")]:
        if line.text:
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
