"""The parts of one text, each cut and read once."""

from functools import cached_property

from backend.formats.parts import TEXT, Part
from backend.formats.text import Source


class TextParts:
    """One text, of which parts are read on trial."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.first, self.last = source.artefact.first_line, source.last_number
        self._parts: dict[tuple[int, int, str], Part] = {}

    @cached_property
    def whole(self) -> Part:
        return Part(self.source, TEXT, self.first, self.last)

    def part(self, first: int, last: int, kind: str = TEXT) -> Part:
        key = (first, last, kind)
        if key not in self._parts:
            is_whole = (first, last) == (self.first, self.last)
            source = self.source if is_whole else self.source.part(first, last)
            self._parts[key] = Part(source, kind, first, last)
        return self._parts[key]

    def row(self, number: int) -> str:
        """The line of this number as it was sent."""
        return self.source.raw_lines[number - self.first]

    def is_blank(self, first: int, last: int) -> bool:
        rows = self.source.raw_lines[first - self.first : last - self.first + 1]
        return not any(map(str.strip, rows))
