"""An artefact as clean lines: encodings, terminals, mail and web pages are undone here once."""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from backend.formats.model import FormatError, RawArtefact

LINE_LIMIT = 4096
# A tag of these on a line says that the line is HTML, not text with a < in it.
_TAGS = ("<br", "</td", "</th", "</p>", "</table", "<table", "</i>")
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF8_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A cleaned line and its 1-based number in the artefact."""

    number: int
    text: str


class Source:
    """One artefact, decoded when somebody asks."""

    def __init__(self, artefact: RawArtefact) -> None:
        self.name = artefact.name
        self.data = _utf8(artefact.data)

    @property
    def blank(self) -> bool:
        return not self.data.strip()

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    @cached_property
    def lines(self) -> list[Line]:
        return list(self._lines())

    @cached_property
    def terminated(self) -> bool:
        """Whether the last line ends: if not, its last figure may be cut."""
        return self.data.endswith((b"\n", b"\r"))

    @cached_property
    def binary(self) -> bool:
        """Whether the start has bytes that no text has."""
        head = self.data[:4096]
        text = head.decode("utf-8", "replace")
        strange = sum(1 for char in text if char == "\ufffd" or (char < " " and char not in _SPACE))
        return b"\0" in head or strange > len(text) // 10

    def _lines(self) -> Iterator[Line]:
        text = self.text
        if "\n" not in text:
            text = text.replace("\r", "\n")
        for number, raw in enumerate(text.split("\n"), 1):
            yield Line(number, clean(raw))


_SPACE = "\t\n\r\f\x1b"


def _utf8(data: bytes) -> bytes:
    encoding = _UTF16.get(data[:2])
    if encoding is not None:
        return data[2:].decode(encoding, "replace").encode("utf-8", "replace")
    return data.removeprefix(_UTF8_BOM)


def clean(raw: str) -> str:
    """The line as its tool printed it, without spaces around."""
    # What a terminal would show: the text after the last carriage return (progress bars).
    line = raw.rstrip("\r").rpartition("\r")[2][:LINE_LIMIT]
    if "\x1b" in line:
        line = _without_escapes(line)
    if "<" in line and any(tag in line.lower() for tag in _TAGS):
        line = _without_tags(line)
    if "&" in line:
        line = html.unescape(line)
    line = line.replace("\ufeff", "").replace("\xa0", " ").strip()
    while line.startswith(">"):  # quoted mail
        line = line[1:].lstrip()
    return line


def _without_escapes(line: str) -> str:
    """Drop terminal control sequences: ESC [ parameters, then one letter."""
    first, *rest = line.split("\x1b")
    return first + "".join(_after_sequence(piece) for piece in rest)


def _after_sequence(piece: str) -> str:
    if not piece.startswith("["):
        return piece[1:]
    for index, char in enumerate(piece[1:], 1):
        if "@" <= char <= "~":
            return piece[index + 1 :]
    return ""


def _without_tags(line: str) -> str:
    first, *rest = line.split("<")
    return first + " ".join(piece.partition(">")[2] for piece in rest)


def is_whole(text: str) -> bool:
    """Whether the text is a whole number that fits 64 bits."""
    return text.isascii() and text.isdigit() and len(text) <= 18


def is_real(text: str) -> bool:
    """Whether the text is a plain non-negative decimal number."""
    before, _, after = text.partition(".")
    digits = before + after
    return digits.isascii() and digits.isdigit() and len(digits) <= 40


def whole(text: str, *, line: int, tool: str) -> int:
    """A whole number, or a refusal that says where."""
    if not is_whole(text):
        raise FormatError(
            f"The {tool} output is damaged",
            tool=tool,
            line=line,
            found=text,
            expected="a whole number",
        )
    return int(text)


def real(text: str, *, line: int, tool: str) -> float:
    """A decimal number, or a refusal that says where."""
    if not is_real(text):
        raise FormatError(
            f"The {tool} output is damaged", tool=tool, line=line, found=text, expected="a number"
        )
    return float(text)


def split_unit(text: str) -> tuple[str, str]:
    """A figure and what follows it: "3.84ms" is ("3.84", "ms"), "12 kB" is ("12", "kB")."""
    end = 0
    while end < len(text) and (text[end].isdigit() or text[end] in ".,-"):
        end += 1
    return text[:end], text[end:].strip()


def scaled(value: float, factor: float) -> float:
    """`value` in a smaller unit, without the binary noise of the product (0.93 x 1024)."""
    return round(value * factor, 6)
