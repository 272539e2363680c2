"""The records of simulation.log: one a line, with cells that each version orders otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.formats.numbers import LONGEST_MS

LOG_MARKS = ("REQUEST", "RUN\t", "\tRUN\t", "ACTION\t")
KINDS = ("RUN", "USER", "REQUEST", "GROUP", "ERROR", "ASSERTION", "SCENARIO", "ACTION")
ENDS_WITH_KIND = f"(?:{'|'.join(KINDS)})$"
REQUESTS = ("REQUEST", "ACTION")
STATUSES = ("OK", "KO")
MOST_DIGITS = 15
EXPECTED = "REQUEST, groups, name, start, end, OK or KO, message, with tabs between them"


@dataclass(frozen=True, slots=True)
class Layout:
    """Which cells of a record are its kind and a request's figures; it is that of a version."""

    kind: int
    start: int
    end: int
    status: int
    # Cells behind the message, which the test itself wrote.
    has_extra: bool = False


LAYOUTS = (
    # Since 3.4; since 3.0 with the user's number; 2.2 and 2.3 with the scenario, too.
    Layout(0, 3, 4, 5),
    Layout(0, 4, 5, 6),
    Layout(0, 5, 6, 7, has_extra=True),
    # 2.0 and 2.1: first sent, last sent, first received, last received. 1.x in its own order.
    Layout(2, 5, 8, 9, has_extra=True),
    Layout(0, 4, 7, 8, has_extra=True),
)


def kind_of(cells: Sequence[str]) -> str:
    """The kind of a record; "" for a line that is no record."""
    for at in (0, 2):
        if len(cells) > max(at, 1) and cells[at] in KINDS:
            return cells[at]
    return ""


def layout_of(cells: Sequence[str]) -> Layout | None:
    """The layout that a record of a request has; None for another line."""
    return next((layout for layout in LAYOUTS if fits(cells, layout)), None)


def fits(cells: Sequence[str], layout: Layout) -> bool:
    """Whether a record is of a request, in this layout, with a duration that can be."""
    if len(cells) <= layout.status or cells[layout.kind] not in REQUESTS:
        return False
    if cells[layout.status] not in STATUSES:
        return False
    return _can_last(cells[layout.start], cells[layout.end]) and _can_end(cells, layout)


def _can_last(start: str, end: str) -> bool:
    """Whether two cells are times in ms, the second one at most LONGEST_MS later."""
    if not all(cell.isascii() and cell.isdigit() for cell in (start, end)):
        return False
    return max(len(start), len(end)) <= MOST_DIGITS and 0 <= int(end) - int(start) <= LONGEST_MS


def _can_end(cells: Sequence[str], layout: Layout) -> bool:
    """Whether what stands behind the status fits: a message, and in some layouts more."""
    if not layout.has_extra:
        return len(cells) <= layout.status + 2
    return not "".join(cells[layout.status + 1 :][:1]).endswith(KINDS)


def is_run(cells: Sequence[str]) -> bool:
    """Whether a record is of a run: with the time of its start."""
    return kind_of(cells) == "RUN" and any(len(cell) == 13 and cell.isdigit() for cell in cells)


def tabbed(line: str) -> str:
    """A line with the tabs that a paste made blanks."""
    line = line.rstrip("\r").lstrip(" ")
    words = line.split()
    if "\t" in line or len(words) < 4:
        return line
    if words[0] == "RUN" and words[3].isdigit():
        return "\t".join([*words[:4], " ".join(words[4:-1]), words[-1]])
    if words[0] in REQUESTS:
        return _tabbed_request(line, words)
    return "\t".join(words) if words[0] in KINDS else line


def _tabbed_request(line: str, words: Sequence[str]) -> str:
    for at in range(3, len(words)):
        if words[at] in STATUSES and words[at - 1].isdigit() and words[at - 2].isdigit():
            figures, message = words[at - 2 : at + 1], " ".join(words[at + 1 :])
            return "\t".join([REQUESTS[0], "", " ".join(words[1 : at - 2]), *figures, message])
    return line


def version_of(cells: Sequence[str]) -> str | None:
    """The version in the record RUN; since 3.0, before it is the layout's."""
    has_version = cells[0] == "RUN" and len(cells) == 6 and cells[5][:1].isdigit()
    return cells[5].strip() if has_version else None
