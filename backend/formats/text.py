"""Getting from bytes as people really send them to clean lines, documents and numbers.

Line splits and string methods only: everything here is linear in the input.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import SEEK_END
from itertools import pairwise
from string import whitespace
from typing import Any

import orjson

from backend.formats.model import RawArtefact

# Longer than any report: what is longer is a log, of which only the head is looked at as text.
REPORT_BYTES = 16 << 20
HEAD_BYTES = 64 << 10
# Broken documents that are told of: each costs a look at all of the text before it.
MOST_FAULTS = 50
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# No-break, narrow no-break, figure and thin space, apostrophes.
SEPARATORS = ("\u00a0", "\u202f", "\u2007", "\u2009", "'", "\u2019")
# What a mail puts before the lines it quotes.
QUOTING = ">\u00a0" + whitespace
HTML_MARKS = ("<br", "</td>", "</th>", "</pre>", "<pre")
TIME_UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
BINARY_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
# As Go prints durations, the micro sign in both its forms.
GO_UNITS_US = {
    **TIME_UNITS_US,
    "ns": 1e-3,
    "µs": 1.0,
    "μs": 1.0,
}
# Words of transport errors, as Go's HTTP clients say them; the first class with one is taken.
ERROR_WORDS = (
    ("timeout", ("timeout", "timed out", "deadline exceeded")),
    ("connect", ("dial", "refused", "no such host", "unreachable", "no route to host")),
    ("write", ("write:", "broken pipe")),
    ("read", ("EOF", "reset", "read:", "closed connection", "closed idle connection")),
)
# How such errors end.
ERROR_ENDINGS = (
    "EOF",
    "refused",
    "reset by peer",
    "timeout",
    "headers)",
    "body)",
    "host",
    "broken pipe",
)
DECIMAL_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True, slots=True)
class Line:
    """A cleaned line and its number in the input, from 1."""

    number: int
    text: str

    @property
    def words(self) -> list[str]:
        return self.text.split()


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object or array in the text; `value` is None where it is broken or cut off."""

    # Of its first character, from 1.
    line: int
    value: Any
    # Why it is None, and where: a line of the input.
    fault: str = ""
    fault_line: int = 0


@dataclass(frozen=True)
class Source:
    """One artefact; its text is read when it is first asked for.

    Of a log longer than REPORT_BYTES, `data`, `text`, `lines` and `documents` hold the head
    only; the rest is for `logs.line_chunks`.
    """

    artefact: RawArtefact

    @cached_property
    def _looked_at(self) -> tuple[bool, bytes]:
        """Whether this is a log, and the bytes that are looked at as text."""
        with self.artefact.open() as stream:
            if _is_long(stream):
                return True, read_up_to(stream, HEAD_BYTES)
            start = read_up_to(stream, REPORT_BYTES + 1)
        is_log = len(start) > REPORT_BYTES
        return is_log, start[:HEAD_BYTES] if is_log else start

    @property
    def is_log(self) -> bool:
        """Whether this is too long for a report."""
        return self._looked_at[0]

    @property
    def data(self) -> bytes:
        return self._looked_at[1]

    @cached_property
    def text(self) -> str:
        return decode(self.data)

    @cached_property
    def lines(self) -> list[Line]:
        return clean_lines(self.text)

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, without its surroundings."""
        return self.text[:HEAD_BYTES].lstrip().partition("\n")[0].rstrip()

    @cached_property
    def documents(self) -> list[Document]:
        return list(find_documents(self))

    @property
    def is_empty(self) -> bool:
        return not self.data.strip()

    @property
    def is_binary(self) -> bool:
        return b"\0" in self.data[:4096] and not self.data.startswith(UTF16_MARKS)


def _is_long(stream: Any) -> bool:
    """Whether a stream is longer than a report, as far as that can be told without reading it."""
    if not stream.seekable():
        return False
    size: int = stream.seek(0, SEEK_END)
    stream.seek(0)
    return size > REPORT_BYTES


def read_up_to(stream: Any, count: int) -> bytes:
    """`count` bytes of a stream, fewer only at its end."""
    pieces, left = [], count
    while left and (piece := stream.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def find_documents(source: Source) -> Iterator[Document]:
    """Every JSON object or array in the text, in order; what stands around it is passed over.

    Linear: after a broken one the search goes on behind the fault, never before it.
    """
    # For most inputs this is the answer, at the speed of a C library.
    if source.text.lstrip()[:1] in ("{", "["):
        try:
            value = orjson.loads(source.text)
        except orjson.JSONDecodeError:
            pass
        else:
            first = source.text[: len(source.text) - len(source.text.lstrip())].count("\n") + 1
            yield Document(first, value)
            return
    if "{" in source.text or "[" in source.text:
        yield from _documents_among(source.lines)


def _documents_among(lines: Sequence[Line]) -> Iterator[Document]:
    text = "\n".join(line.text for line in lines)
    decoder = json.JSONDecoder()
    offset = behind = faults = 0
    for line in lines:
        begin, begins = offset + _json_start(line.text), offset
        offset += len(line.text) + 1
        if begin < behind or begin < begins:
            continue
        if faults == MOST_FAULTS:
            return
        # What was appended to a file without a line feed goes on in the same line.
        while begin >= 0:
            try:
                value, behind = decoder.raw_decode(text, begin)
            except json.JSONDecodeError as fault:
                behind, begin, faults = max(fault.pos, begin + 1), -1, faults + 1
                at = lines[min(text.count("\n", 0, fault.pos), len(lines) - 1)].number
                yield Document(line.number, None, fault.msg, at)
            except RecursionError:
                behind, begin = len(text), -1
                yield Document(line.number, None, "nested too deep", line.number)
            except ValueError:  # Python reads no whole number of more than 4,300 digits
                behind, begin = len(text), -1
                yield Document(line.number, None, "a number of too many digits", line.number)
            else:
                begin = behind if text.startswith("{", behind) else -1
                yield Document(line.number, value)


def _json_start(line: str) -> int:
    """Where a JSON value may begin in a line: at its start, or at an object behind a prompt."""
    # "[root@host ~]# command" is a prompt.
    if line.startswith("{") or (line.startswith("[") and not is_prompt(line)):
        return 0
    return line.find('{"')


def blocks(lines: Sequence[Line], starts: Sequence[int]) -> list[list[Line]]:
    """The lines from each start to the next, the last one to the end."""
    return [list(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]


def decode(data: bytes) -> str:
    """Text of UTF-8 (or UTF-16 with its mark), without marks and colour codes.

    A file that was pasted behind other text has its mark in the middle.
    """
    encoding = "utf-16" if data.startswith(UTF16_MARKS) else "utf-8"
    return _without_ansi(data.decode(encoding, errors="replace").replace("\ufeff", ""))


def _without_ansi(text: str) -> str:
    first, *rest = text.split("\x1b[")
    return "".join([first, *(_after_code(piece) for piece in rest)])


def _after_code(piece: str) -> str:
    for position, character in enumerate(piece[:24]):
        if character.isalpha():
            return piece[position + 1 :]
    return piece


def clean_lines(text: str) -> list[Line]:
    """Lines without mail quoting, HTML or surrounding space; a carriage return ends one too.

    Localised separators of thousands (no-break and thin spaces, apostrophes) become commas.
    """
    if any(mark in text for mark in HTML_MARKS):
        text = html.unescape(_without_tags(text))
    elif "&lt;" in text:
        text = html.unescape(text)
    pieces = text.replace("\r\n", "\n").split("\n")
    separators = [mark for mark in SEPARATORS if mark in text]
    return [
        Line(number, _unquoted(_with_commas(part, separators)))
        for number, piece in enumerate(pieces, 1)
        for part in piece.split("\r")
    ]


def _with_commas(line: str, separators: Sequence[str]) -> str:
    """The line with commas for a separator that stands nowhere but between groups of digits."""
    for mark in separators:
        parts = line.split(mark)
        if len(parts) > 1 and all(_separates(*pair) for pair in pairwise(parts)):
            line = ",".join(parts)
    return line


def _separates(before: str, after: str) -> bool:
    """Whether what stands between is a separator of thousands, as in "12 345"."""
    head = before[len(before.rstrip("0123456789")) :]
    group = after[: len(after) - len(after.lstrip("0123456789"))]
    continues = before == head and len(head) == 3
    begins = 1 <= len(head) <= 3 and head[0] != "0"
    return (begins or continues) and len(group) == 3


def _without_tags(text: str) -> str:
    first, *rest = text.split("<")
    return first + "".join(_after_tag(piece) for piece in rest)


def _after_tag(piece: str) -> str:
    tag, closed, tail = piece.partition(">")
    return " " + tail if closed and "\n" not in tag else "<" + piece


def _unquoted(line: str) -> str:
    line = line.strip()
    return line.lstrip(QUOTING) if line.startswith(">") else line


def _ungrouped(word: str) -> str:
    """A number without the commas between its thousands; nothing where they are something else."""
    if "," not in word:
        return word
    whole_part, point, decimals = word.partition(".")
    head, *groups = whole_part.split(",")
    # "0,620" and "12,5" have a decimal comma.
    grouped = 1 <= len(head) <= 3 and head[0] != "0" and all(len(group) == 3 for group in groups)
    return f"{head}{''.join(groups)}{point}{decimals}" if grouped and "," not in decimals else ""


def is_prompt(line: str) -> bool:
    """Whether a line is a shell's prompt, with or without a command, or a fence of Markdown."""
    return line.startswith("```") or any(
        word.endswith(("$", "#", "%")) for word in line.split(maxsplit=2)[:2]
    )


def number(word: str) -> float | None:
    """The finite, non-negative number a word is, thousands separated by commas allowed.

    A comma is believed between groups of three digits only: elsewhere it may be a decimal one.
    """
    plain = _ungrouped(word)
    # float() takes more than people write ("1_0", "infinity", "٣"): only plain digits here.
    if not plain.isascii() or not plain.replace(".", "", 1).isdigit() or len(plain) > 30:
        return None
    return float(plain)


def whole(word: str) -> int | None:
    """The whole number a word is."""
    plain = _ungrouped(word)
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


def duration_us(word: str) -> float | None:
    """The µs of a duration as Go prints it ("1m2.5s", "29.8ms", "0s"); None if it is none."""
    total, digits, unit = 0.0, "", ""
    for character in f"{word}0":
        if (character.isdigit() or character == ".") and unit:
            value, factor = number(digits), GO_UNITS_US.get(unit)
            if value is None or factor is None:
                return None
            total, digits, unit = total + value * factor, "", ""
        if character.isdigit() or character == ".":
            digits += character
        else:
            unit += character
    # Six digits after the point: what multiplying decimals by 1000 adds is noise.
    return round(total, 6) if word and digits == "0" else None


def error_class(text: str) -> str:
    """The class of a transport error that a tool gives as free text; "other" if unknown."""
    # The address of a request may hold any word: what counts stands behind it.
    method, _, rest = text.partition(" ")
    if method.isalpha() and rest.lstrip('"').startswith("http"):
        text = rest.partition(" ")[2]
    for name, words in ERROR_WORDS:
        if any(word in text for word in words):
            return name
    return "other"


def is_whole_error(text: str) -> bool:
    """Whether a transport error at the end of a text has all of its words."""
    return text.endswith(ERROR_ENDINGS)


def counted_classes(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts of free error texts by class, 0 for the classes that none is of."""
    classes = dict.fromkeys(("connect", "read", "write", "timeout", "other"), 0)
    for text, count in counts.items():
        classes[error_class(text)] += count
    return classes


def fault_in(fault: Exception) -> str:
    """What is wrong in a document, for people: a fault of Python's own is said in our words."""
    if isinstance(fault, KeyError):
        return f"no {fault.args[0]}"
    return str(fault) if isinstance(fault, ValueError) else "a value of another kind"
