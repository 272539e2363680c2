"""Getting from bytes as people really send them to clean lines, and from words to numbers.

Line splits and string methods only: everything here is linear in the input.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from backend.formats.model import RawArtefact

HTML_MARKS = ("<br", "</td>", "</th>", "</pre>", "<pre")
TIME_UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
BINARY_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
DECIMAL_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True, slots=True)
class Line:
    """A cleaned line and its number in the input, from 1."""

    number: int
    text: str

    @property
    def words(self) -> list[str]:
        return self.text.split()


@dataclass(frozen=True)
class Source:
    """One artefact, with its lines cleaned when they are first asked for."""

    artefact: RawArtefact

    @cached_property
    def text(self) -> str:
        return decode(self.artefact.data)

    @cached_property
    def lines(self) -> list[Line]:
        return clean_lines(self.text)

    @property
    def is_empty(self) -> bool:
        return not self.artefact.data.strip()

    @property
    def is_binary(self) -> bool:
        return b"\0" in self.artefact.data[:4096] and not self.artefact.data.startswith(
            (b"\xff\xfe", b"\xfe\xff")
        )


def blocks(lines: Sequence[Line], starts: Sequence[int]) -> list[list[Line]]:
    """The lines from each start to the next, the last one to the end."""
    return [list(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]


def decode(data: bytes) -> str:
    """Text of UTF-8 (or UTF-16 with its mark), without mark and colour codes."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return _without_ansi(data.decode(encoding, errors="replace"))


def _without_ansi(text: str) -> str:
    first, *rest = text.split("\x1b[")
    return "".join([first, *(_after_code(piece) for piece in rest)])


def _after_code(piece: str) -> str:
    for position, character in enumerate(piece[:24]):
        if character.isalpha():
            return piece[position + 1 :]
    return piece


def clean_lines(text: str) -> list[Line]:
    """Lines without mail quoting, HTML or surrounding space; a carriage return ends one too."""
    if any(mark in text for mark in HTML_MARKS):
        text = html.unescape(_without_tags(text))
    elif "&lt;" in text:
        text = html.unescape(text)
    pieces = text.replace("\r\n", "\n").split("\n")
    return [
        Line(number, _unquoted(part))
        for number, piece in enumerate(pieces, 1)
        for part in piece.split("\r")
    ]


def _without_tags(text: str) -> str:
    first, *rest = text.split("<")
    return first + "".join(_after_tag(piece) for piece in rest)


def _after_tag(piece: str) -> str:
    tag, closed, tail = piece.partition(">")
    return " " + tail if closed and "\n" not in tag else "<" + piece


def _unquoted(line: str) -> str:
    line = line.strip()
    while line.startswith(">"):
        line = line[1:].lstrip()
    return line


def number(word: str) -> float | None:
    """The finite, non-negative number a word is, thousands separated by commas allowed."""
    plain = word.replace(",", "")
    # float() takes more than people write ("1_0", "infinity", "٣"): only plain digits here.
    if not plain.isascii() or not plain.replace(".", "", 1).isdigit() or len(plain) > 30:
        return None
    return float(plain)


def whole(word: str) -> int | None:
    """The whole number a word is."""
    plain = word.replace(",", "")
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 18 else None


def split_unit(word: str) -> tuple[str, str]:
    """("27.92", "ms") of "27.92ms"."""
    digits = word.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return digits, word[len(digits) :]


def scaled(word: str, units: Mapping[str, float]) -> float | None:
    """The number of a word such as "27.92ms", in the unit that counts 1; None if it is none."""
    digits, unit = split_unit(word)
    value, factor = number(digits), units.get(unit)
    # Six digits after the point: what multiplying decimals by 1000 adds is noise.
    if value is None or factor is None:
        return None
    product: float = round(value * factor, 6)
    return product


def step_us(word: str) -> float | None:
    """The smallest step a printed time can show, in µs: 10 for "27.92ms", at least 1."""
    digits, unit = split_unit(word)
    factor = TIME_UNITS_US.get(unit)
    if factor is None:
        return None
    decimals = len(digits.partition(".")[2])
    return max(1.0, round(factor / float(10**decimals), 6))
