"""From bytes as people send them to clean lines and documents.

Line splits and string methods only: everything here is linear in the input.
"""

from __future__ import annotations

import io
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import Any, BinaryIO, NamedTuple

import orjson

from backend.formats.decoding import UTF16_MARKS, decode, is_binary
from backend.formats.model import FormatError, RawArtefact

# Longer than any report: what is longer is a log, of which only the head is looked at as text.
REPORT_BYTES = 16 << 20
HEAD_BYTES = 64 << 10
# Of more blank lines in a row, the rest are left out: a line costs more than its one byte.
MOST_BLANKS = 100
# At most so many broken documents are reported: each costs a search of the text before it.
MOST_FAULTS = 50

# No-break, narrow no-break, figure and thin space, apostrophes.
SEPARATORS = ("\u00a0", "\u202f", "\u2007", "\u2009", "'", "\u2019")

# How a list in JSON begins: "[12:34:56] started", "[INFO]" and "[200] 5 responses" are none.
_LIST = re.compile(r'\[\s*(?:$|[{\["\]]|-?\d[\d.eE+-]{0,40}\s*(?:,|\]$))')


class Line(NamedTuple):
    """A cleaned line and its number in the input, from 1."""

    number: int
    text: str

    @property
    def words(self) -> list[str]:
        return self.text.split()

    def refusal(self, reason: str, *, expected: str | None = None) -> FormatError:
        """Why an input with this line gives no trial."""
        return FormatError(reason, line=self.number, found=self.text, expected=expected)


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object or array in the text; `value` is None if it is broken or cut off."""

    # Of its first and its last character, from 1.
    line: int
    last_line: int
    value: Any
    # Why it is None, and where: a line of the input.
    fault: str = ""
    fault_line: int = 0
    # The size of the long file of which only the head was looked at, where it is None for that.
    long_file: str = ""


_number, _line = attrgetter("number"), attrgetter("line")


@dataclass(frozen=True)
class Source:
    """One artefact; its text is read when it is first asked for.

    Of a log longer than REPORT_BYTES, `data`, `text`, `lines` and `documents` hold the head
    only; the rest is for `logs.line_chunks`.
    """

    artefact: RawArtefact

    @cached_property
    def _looked_at(self) -> tuple[str, bytes]:
        """The size of a log in words, else nothing, and the bytes that are looked at as text."""
        with self.artefact.open() as stream:
            size = _size_of(stream)
            if size is not None and size > REPORT_BYTES:
                return f"{size:,} bytes", read_up_to(stream, HEAD_BYTES)
            start = read_up_to(stream, REPORT_BYTES + 1)
        if len(start) > REPORT_BYTES:
            return f"more than {REPORT_BYTES:,} bytes when unpacked", start[:HEAD_BYTES]
        return "", start

    @property
    def is_log(self) -> bool:
        """Whether this is too long for a report."""
        return bool(self.size_of_log)

    @property
    def size_of_log(self) -> str:
        """How long this is, in words, where it is too long for a report."""
        return self._looked_at[0]

    @property
    def data(self) -> bytes:
        return self._looked_at[1]

    @cached_property
    def text(self) -> str:
        return decode(self.data)

    @cached_property
    def lines(self) -> list[Line]:
        return clean_lines(self.text, self.artefact.first_line)

    @cached_property
    def raw_lines(self) -> list[str]:
        """The lines as they were sent, without their line feeds."""
        return self.text.split("\n")

    @property
    def last_number(self) -> int:
        """The number of the last line."""
        return self.artefact.first_line + len(self.raw_lines) - 1

    def lines_between(self, first: int, last: int) -> list[Line]:
        """The lines from one number to another."""
        begin, end = (bisect_left(self.lines, at, key=_number) for at in (first, last + 1))
        return self.lines[begin:end]

    def documents_between(self, first: int, last: int) -> list[Document]:
        """The documents that begin on these lines."""
        begin, end = (bisect_left(self.documents, at, key=_line) for at in (first, last + 1))
        return self.documents[begin:end]

    def part(self, first: int, last: int) -> Source:
        """The lines from one number to another, in which they have the same numbers."""
        above = self.artefact.first_line
        rows, is_end = self.raw_lines[first - above : last - above + 1], last >= self.last_number
        text = "\n".join(rows) + ("" if is_end else "\n")
        artefact = RawArtefact(self.artefact.name, lambda: self._stream(first, last), first)
        part = Source(artefact)
        # As they would be read again.
        vars(part)["text"] = text
        end = [] if is_end else [Line(last + 1, "")]
        vars(part)["lines"] = self.lines_between(first, last) + end
        return part

    def _stream(self, first: int, last: int) -> BinaryIO:
        above, rows = self.artefact.first_line, self._byte_lines
        end = b"" if last >= self.last_number else b"\n"
        return io.BytesIO(b"\n".join(rows[first - above : last - above + 1]) + end)

    @cached_property
    def _byte_lines(self) -> list[bytes]:
        """The lines as bytes, with the codes of terminals where these are in UTF-8."""
        rows = self.data.split(b"\n")
        is_same = len(rows) == len(self.raw_lines) and not self.data.startswith(UTF16_MARKS)
        return rows if is_same else self.text.encode(errors="replace").split(b"\n")

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, without its surroundings."""
        return self.text[:HEAD_BYTES].lstrip().partition("\n")[0].rstrip()

    @cached_property
    def documents(self) -> list[Document]:
        return list(find_documents(self))

    def objects(self, keys: Collection[str]) -> list[Document]:
        """The documents that are JSON objects with all of these keys."""
        # The search for words is at the speed of C, and few texts have documents of the tool.
        if not all(f'"{key}"' in self.text for key in keys):
            return []
        return [
            document
            for document in self.documents
            if isinstance(document.value, dict) and document.value.keys() >= set(keys)
        ]

    @property
    def is_empty(self) -> bool:
        return not self.data.strip()

    @property
    def is_binary(self) -> bool:
        return is_binary(self.data)


def _size_of(stream: Any) -> int | None:
    """The bytes of a stream; None if that cannot be told without reading it."""
    if not stream.seekable():
        return None
    size: int = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return size


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
            text, first_line = source.text, source.artefact.first_line
            above = text.count("\n", 0, len(text) - len(text.lstrip()))
            last_line = first_line + text.count("\n", 0, len(text.rstrip()))
            yield Document(first_line + above, last_line, value)
            return
    if "{" in source.text or "[" in source.text:
        for document in documents_among(source.lines):
            is_cut = source.is_log and document.value is None
            yield replace(document, long_file=source.size_of_log) if is_cut else document


def documents_among(lines: Sequence[Line]) -> Iterator[Document]:
    text = "\n".join(line.text for line in lines)
    numbers = [line.number for line in lines]
    offset = behind = faults = 0
    for at, line in enumerate(lines):
        begin, begins = offset + _json_start(line.text), offset
        offset += len(line.text) + 1
        if begin < behind or begin < begins:
            continue
        # What was appended to a file without a line feed goes on in the same line.
        while begin >= 0:
            document, behind = _document_at(text, begin, at, numbers)
            yield document
            faults += document.value is None
            begin = behind if document.value is not None and text.startswith("{", behind) else -1
        if faults == MOST_FAULTS:
            return


def _document_at(text: str, begin: int, at: int, numbers: Sequence[int]) -> tuple[Document, int]:
    """The value that begins there, and where the search goes on behind it or behind its fault.

    `at` is the place of its line in `numbers`, the numbers of the lines.
    """
    line, end = numbers[at], numbers[-1]
    try:
        value, behind = json.JSONDecoder().raw_decode(text, begin)
    except json.JSONDecodeError as fault:
        fault_at = min(at + text.count("\n", begin, fault.pos), len(numbers) - 1)
        last = numbers[_last_of_broken(text, fault.pos, at, fault_at)]
        broken = Document(line, last, None, fault.msg, numbers[fault_at])
        return broken, max(fault.pos, begin + 1)
    except RecursionError:
        return Document(line, end, None, "nested too deep", line), len(text)
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        return Document(line, end, None, "a number of too many digits", line), len(text)
    last = numbers[at + text.count("\n", begin, behind - 1)]
    return Document(line, last, value), behind


def _last_of_broken(text: str, fault: int, first: int, fault_at: int) -> int:
    """The place of the last line of a broken document: where the fault begins a line, the line
    before it, for what begins there is something else."""
    is_begin = not text[text.rfind("\n", 0, fault) + 1 : fault].strip()
    return max(fault_at - 1, first) if is_begin else fault_at


def _json_start(line: str) -> int:
    """Where a JSON value may begin in a line: at its start, or at an object behind a prompt."""
    if line.startswith("{"):
        return 0
    if line.startswith("["):
        # "[root@host ~]# command" is a prompt.
        return 0 if _LIST.match(line) and not is_prompt(line) else line.find('{"')
    return line.find('{"')


def blocks(lines: Sequence[Line], starts: Sequence[int]) -> list[list[Line]]:
    """One block of lines from each start to the next start or the end."""
    return [list(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]


def clean_lines(text: str, first: int = 1) -> list[Line]:
    """Lines without surrounding space; a carriage return ends one too.

    Of blank lines in a row, those after MOST_BLANKS are left out. Localised separators of thousands
    (no-break and thin spaces, apostrophes) become commas.
    """
    clean, lines, blanks = _cleaner(text), list[Line](), 0
    if "\r" not in text:
        rows = list(map(clean, text.split("\n")))
        # As mostly, there are few blank lines.
        if rows.count("") <= MOST_BLANKS:
            return list(map(Line, range(first, first + len(rows)), rows))
    for number, piece in enumerate(text.replace("\r\n", "\n").split("\n"), first):
        for part in piece.split("\r"):
            line = clean(part)
            blanks = 0 if line else blanks + 1
            if blanks <= MOST_BLANKS:
                lines.append(Line(number, line))
    return lines


def _cleaner(text: str) -> Callable[[str], str]:
    """Cleans a line of the text; of most texts, lines have nothing but spaces to lose."""
    separators = [mark for mark in SEPARATORS if mark in text]
    if not separators:
        return str.strip
    return lambda line: _with_commas(line, separators).strip()


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


def is_prompt(line: str) -> bool:
    """Whether a line is a shell's prompt, with or without a command, or a fence of Markdown."""
    return line.startswith("```") or any(
        word.endswith(("$", "#", "%")) for word in line.split(maxsplit=2)[:2]
    )


def first_with(lines: Iterable[Line], label: str) -> Line | None:
    """The first line that begins with the label."""
    return next((line for line in lines if line.text.startswith(label)), None)


def last_line(lines: Sequence[Line]) -> Line:
    """The last line that is not blank; the very last where all are."""
    return next((line for line in reversed(lines) if line.text), lines[-1])
