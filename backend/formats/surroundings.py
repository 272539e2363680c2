"""The lines above and below the runs of a tool's text, some of which the tool may not need."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backend.formats.model import ParsedTrial, is_filled
from backend.formats.parts import Part, figures_in, lines_of_entries
from backend.formats.text import Line
from backend.formats.tools import TOOLS, is_claimed, read_alone

# Of a line with up to three figures, "Requests/sec:   93.35" or "http_reqs....: 500", and of a row
# in boxes. The rows of other tables have the same names in each table of one report.
_LABEL = re.compile(r"[A-Za-z][\w/%()\[\],+-]*(?: [\w/%()\[\],+-]+)*(?= {0,80}[:=]| {2}|\.{3})")
_FIGURE = re.compile(r"\d[\d.,]*")
MOST_FIGURES = 3
BAR = "\u2502"
LONGEST_LINE = 200
# Behind the end of a report, so many of its labels again are of another one.
FEWEST_AGAIN = 2
OF_RUN = ("elapsed_s", "reported_rps")
# As the reason names the line that a tool is known by.
_NAMED_LINE = re.compile(r"\bline (\d+)\b")


@dataclass(frozen=True)
class Region:
    """Lines above the first run of a part, or below the figures of a run."""

    part: Part
    trial: ParsedTrial
    # Of the run, with these.
    run: tuple[int, int]
    lines: Sequence[Line]
    is_above: bool

    @cached_property
    def _labels(self) -> set[str]:
        return _labels_of(self.part.source.part(self.run[0], self.lines[0].number - 1).lines)

    def is_known(self, first: int, last: int) -> bool:
        """Whether the tool of the run claims these lines, too."""
        tool = self.part.tool
        return tool is not None and is_claimed(tool, self.part.source.part(first, last))

    def has_labels_of_run(self, paragraph: Sequence[Line]) -> bool:
        """Whether lines have labels again that the report above them has."""
        return not self.is_above and len(_labels_of(paragraph) & self._labels) >= FEWEST_AGAIN

    def is_of_another(self, first: int, last: int) -> bool:
        """Whether these lines below the report, and all after them, are the end of another report.

        Without them the report has the same time and rate, but other figures. A whole later report
        would have replaced the time and the rate too.
        """
        figures, known = self._figures_without(first, last), self.trial.figures()
        if figures is None or any(figures[name] != known[name] for name in OF_RUN):
            return False
        return not is_filled({**known, "incomplete": None}, figures)

    def is_needless(self, first: int, last: int) -> bool:
        """Whether the run reads the same without these lines and those on their outer side."""
        figures = self._figures_without(first, last)
        # Below another output's last line, a tool may not trust the end of its own.
        known = {**self.trial.figures(), "incomplete": None}
        return figures is not None and is_filled(known, figures)

    def _figures_without(self, first: int, last: int) -> dict[str, Any] | None:
        """The figures of the run without these lines and those on their outer side; None if it is
        not one run then."""
        begin, end = (last + 1, self.run[1]) if self.is_above else (self.run[0], first - 1)
        if begin > end or self.part.tool is None:
            return None
        source = self.part.source.part(begin, end)
        if not is_claimed(self.part.tool, source):
            return None
        figures = figures_in(read_alone(self.part.tool, [source]))
        return figures[0] if len(figures) == 1 else None


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
    """Each trial with its place among the entries and its lines; none where the tool does not say
    where each run begins."""
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


def _labels_of(lines: Sequence[Line]) -> set[str]:
    return {label for line in lines if (label := _label_of(line.text))}


def _label_of(text: str) -> str:
    if len(text) > LONGEST_LINE:
        return ""
    if text.startswith(BAR):
        name, _, cells = text.strip(f"{BAR} ").partition(BAR)
        return name.strip().lower() if _FIGURE.search(cells) else ""
    label = _LABEL.match(text)
    figures = _FIGURE.findall(text, label.end()) if label else ()
    return label[0].lower() if label and 0 < len(figures) <= MOST_FIGURES else ""


def paragraphs_in(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines between blank ones."""
    paragraph: list[Line] = []
    for line in [*lines, Line(0, "")]:
        if line.text:
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
