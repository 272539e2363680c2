"""Texts of any size that are the hardest for a reader of a load tool's output.

Each is a capture in which one kind of line is what it is not: repeated without an end, cut short so
that it nearly matches, or endless itself, in its spaces, digits or separators. In a JSON document,
lists, members and texts grow instead. What stands around outputs in logs grows too.
"""

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from backend.testing.damage import Case, captures
from backend.testing.reports import WRK

# A longer capture is a log, whose lines are alike.
LONGEST_CAPTURE = 64 << 10
SEPARATORS = (" ", "\t", ",", ":", "/", '"', "|")
# Lines that programs and people put around outputs: each is looked for in every text.
SURROUNDINGS = {
    "prompts": b"$ wrk -t1 -c1 http://h/\n",
    "prompt without an end": b"user@host: ~/x ",
    "pipeline": b"$ " + b"time wrk | " * 90 + b"\n",
    "assignments": b"$ " + b"A=1 " * 900 + b"wrk http://h/\n",
    "GitHub's prefix": b"job\tstep\t2026-01-31T12:00:00.0000000Z \n",
    "times": b"[2026-01-31T12:00:00Z] \n",
    "names of services": b"web-1  | \n",
    "many names": b"".join(b"web-%d  | x\n" % number for number in range(2000)),
    "runner's lines": b"##[group]Run x\n##[endgroup]\n",
    "colours": b"\x1b[0m",
    "titles of terminals": b"\x1b]0;",
    "tags": b"<br",
    "closed tags": b"<td></td>",
    "entities": b"&lt;&amp;",
    "quotes of mails": b"> > >",
    "broken documents": b'{"a": [\n',
    "prompts before documents": b'x {"a": \n',
    "lists": b"[",
    "objects": b'{"a":',
    "documents": b'{"a":1}',
    "whole numbers": b"9",
    "rules of TechEmpower": b"-" * 57 + b"\n",
    "unknown reports": b"\nRequests/sec: 123\nLatency p99: 5\n",
    "unknown documents": b'\n{"mean": 1, "max": 2}\n\nand\n',
    "unknown tables": b"\na,b,c,d\n1,2,3,4\n",
    "drawn tables": b"\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "fences": b"```\nx\n```\n",
    "outputs of another tool": f"\n{WRK}\ntime wrk: 1 s\n".encode(),
    "thousands": b"1\xc2\xa0000",
    "apostrophes": b"1'000",
    "bytes of Windows-1252": b"\xb5",
    "carriage returns": b"\r",
    "blank lines": b"\n",
    "spaces": b" ",
}


@dataclass(frozen=True, slots=True)
class WorstOutput:
    """How one text is made: `build` gives about so many bytes of it."""

    tool: str
    name: str
    build: Callable[[int], bytes]


def worst_outputs(tool: str) -> Iterator[WorstOutput]:
    """The hardest texts for the reader of one tool, each kind of line once."""
    seen: set[str] = set()
    for case in captures():
        if case.tool != tool:
            continue
        for file, data in case.files.items():
            if len(data) <= LONGEST_CAPTURE and b"\0" not in data:
                yield from _of_capture(case, file, data.decode(errors="replace"), seen)


def _of_capture(case: Case, file: str, text: str, seen: set[str]) -> Iterator[WorstOutput]:
    lines = text.split("\n")
    where = f"{case.name}/{file}"
    if not seen:
        yield from _surrounded(case.tool, where, text.encode())
    document = _document(text)
    # The lines of a document are read as one.
    for at, line in enumerate(lines if document is None else lines[:1]):
        shape = re.sub(r"[0-9.]+", "0", line)[:200]
        if not line.strip() or shape in seen:
            continue
        seen.add(shape)
        around = "\n".join(lines[:at]), "\n".join(lines[at + 1 :])
        for change, piece in _changes(line):
            yield WorstOutput(case.tool, f"{where}:{at + 1} {change}", _filler(around, *piece))
    for path in _places(document):
        place = ".".join(map(str, path)) or "the top"
        shape = re.sub("[0-9]+", "0", place)
        if shape not in seen:
            seen.add(shape)
            yield WorstOutput(case.tool, f"{where} grown at {place}", _grower(document, path))


def _surrounded(tool: str, where: str, capture: bytes) -> Iterator[WorstOutput]:
    for name, piece in SURROUNDINGS.items():

        def before(size: int, piece: bytes = piece) -> bytes:
            return piece * (size // len(piece)) + b"\n" + capture

        def after(size: int, piece: bytes = piece) -> bytes:
            return capture + b"\n" + piece * (size // len(piece))

        yield WorstOutput(tool, f"{where} behind {name}", before)
        yield WorstOutput(tool, f"{where} before {name}", after)
    whole = capture + b"\n"
    wholes = {
        "": whole,
        " between unknown reports": whole + SURROUNDINGS["unknown reports"],
        " between carriage returns": whole.replace(b"\n", b"\r"),
    }
    for name, piece in wholes.items():

        def again(size: int, piece: bytes = piece) -> bytes:
            return piece * (size // len(piece) + 1)

        yield WorstOutput(tool, f"{where} repeated{name}", again)


def _changes(line: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """The name of each change, with what stands before, what is repeated and what stands behind."""
    yield "repeated", ("", line + "\n", "")
    yield "nearly, repeated", ("", line[:-1] + "\n", "")
    yield "endless", ("", line, "")
    for separator in SEPARATORS:
        begin, middle, end = line.partition(separator)
        if middle:
            yield f"endless at {separator!r}", (begin, separator, end)
    if digit := re.search("[0-9]", line):
        yield "endless digits", (line[: digit.start()], digit[0], line[digit.end() :])
    yield "endless word", (line, "x", "")


def _filler(around: tuple[str, str], begin: str, piece: str, end: str) -> Callable[[int], bytes]:
    def build(size: int) -> bytes:
        repeated = piece * (size // len(piece.encode()) + 1)
        return f"{around[0]}\n{begin}{repeated}{end}\n{around[1]}".encode()

    return build


def _document(text: str) -> Any:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return document if isinstance(document, dict | list) else None


def _grower(document: Any, path: tuple[Any, ...]) -> Callable[[int], bytes]:
    """Builds documents in which the list, object or text at a place has grown."""

    def build(size: int) -> bytes:
        whole = {"": copy.deepcopy(document)}
        parent: Any = whole
        *above, last = ("", *path)
        for step in above:
            parent = parent[step]
        parent[last] = _grown(parent[last], size)
        return orjson.dumps(whole[""])

    return build


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something can grow; of the items of a list, the first stands for all."""
    if isinstance(value, dict | list | str):
        yield path
    if isinstance(value, dict):
        # Of members that a tool names by a number, one stands for all.
        shapes = {re.sub("[0-9.]+", "0", str(key)): key for key in value}
        for key in shapes.values():
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield from _places(value[0], (*path, 0))


def _grown(value: Any, size: int) -> Any:
    if isinstance(value, str):
        return (value or "x") * (size // max(len(value.encode()), 1) + 1)
    piece = len(orjson.dumps(value)) or 1
    if isinstance(value, list):
        return (value or [0]) * (size // piece + 1)
    members = list(value.items()) or [("", 0)]
    rounds = range(size // (piece + 4 * len(members)) + 1)
    more = {_numbered(key, number): item for number in rounds for key, item in members}
    return {**value, **more}


def _numbered(key: str, number: int) -> str:
    """Another member's name of the same kind: a number stays a number."""
    return str(number) if key.isdigit() else f"{key}{number}"
