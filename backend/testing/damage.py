"""Damaged captures of load tools, the same for the same number, and what a reading must hold."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backend.formats import FormatError, ParsedTrial, RawArtefact, parse

FORMATS = Path(__file__).parents[1] / "formats"
# What a person noted of a capture, and what the tool was given.
NO_OUTPUT = ("cmd", "exit_code", "expected")
NUMBERS = (
    *("0", "-1", "-0.0", "NaN", "nan", "inf", "-inf", "1e999", "1e308", "1e-320", ""),
    *("9223372036854775807", "9223372036854775808", "18446744073709551616", "9" * 40),
    *("0.1", "1,234,567", "1.234,5", "0x10", "1_000", "٣", "½", "null", "true", "[]", '"'),
)
# Words of Python's own errors: a person who sent a file can do nothing with them.
INSIDE_WORDS = (
    *("Traceback (most", "object has no attribute", "NoneType", "object is not", "object at 0x"),
    *("not supported between", "indices must be", "unsupported operand", "positional argument"),
    *("list index out of range", "not enough values to unpack", "unhashable type"),
    *("argument must be", "<class ", "KeyError", "PanicException", "ComputeError"),
)

Files = Mapping[str, bytes]
Damage = Callable[[random.Random, bytes], bytes]


@dataclass(frozen=True, slots=True)
class Case:
    """A capture: the tool, the case's name, and what the tool wrote, by file."""

    tool: str
    name: str
    files: Files


@cache
def captures() -> tuple[Case, ...]:
    """Every capture that the formats' tests use."""
    cases = []
    for folder in sorted(FORMATS.glob("*/tests/captures/*")):
        paths = [path for path in sorted(folder.iterdir()) if not path.name.startswith(NO_OUTPUT)]
        files = {path.name: path.read_bytes() for path in paths if path.stat().st_size}
        if files:
            cases.append(Case(folder.parts[-4], folder.name, files))
    return tuple(cases)


def damaged(seed: int, number: int) -> Case:
    """The damaged capture with this number: one or more of its files are changed."""
    # The same damage is wanted for the same number, not a number that nobody can guess.
    chance = random.Random(f"{seed}:{number}")  # noqa: S311
    case = chance.choice(captures())
    files = dict(case.files)
    names = sorted(files) if chance.random() < 0.3 else [chance.choice(sorted(files))]
    for name in names:
        for _ in range(chance.randint(1, 4)):
            files[name] = chance.choice(DAMAGES)(chance, files[name])
    return Case(case.tool, f"{case.name} {seed}:{number}", files)


def _span(chance: random.Random, data: bytes, most: int = 400) -> tuple[int, int]:
    begin = chance.randint(0, len(data))
    return begin, min(len(data), begin + chance.randint(0, most))


def _edit(chance: random.Random, data: bytes) -> bytes:
    edited = bytearray(data)
    for _ in range(chance.randint(1, 8) if edited else 0):
        edited[chance.randrange(len(edited))] = chance.randrange(256)
    return bytes(edited)


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randint(0, len(data))]


def _behead(chance: random.Random, data: bytes) -> bytes:
    return data[chance.randint(0, len(data)) :]


def _delete(chance: random.Random, data: bytes) -> bytes:
    begin, end = _span(chance, data)
    return data[:begin] + data[end:]


def _duplicate(chance: random.Random, data: bytes) -> bytes:
    begin, end = _span(chance, data, 2000)
    return data[:end] + data[begin:end] * chance.randint(1, 3) + data[end:]


def _swap(chance: random.Random, data: bytes) -> bytes:
    first, second, third, last = sorted(chance.randint(0, len(data)) for _ in range(4))
    return data[:first] + data[third:last] + data[second:third] + data[first:second] + data[last:]


def _insert(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.randbytes(chance.randint(1, 12)) + data[at:]


def _join(chance: random.Random, data: bytes) -> bytes:
    other = chance.choice(list(chance.choice(captures()).files.values()))
    at = chance.choice((0, len(data), chance.randint(0, len(data))))
    return data[:at] + other + data[at:]


def _lines(chance: random.Random, data: bytes) -> bytes:
    """Lines taken out, said twice or put elsewhere."""
    lines = data.split(b"\n")
    for _ in range(chance.randint(1, 4)):
        line = lines.pop(chance.randrange(len(lines))) if len(lines) > 1 else b""
        for _ in range(chance.choice((0, 1, 2))):
            lines.insert(chance.randint(0, len(lines)), line)
    return b"\n".join(lines)


def _header(chance: random.Random, data: bytes) -> bytes:
    """The first line with its columns changed, as another version would write it."""
    head, feed, rest = data.partition(b"\n")
    mark = next((mark for mark in (b"\t", b",", b" ", b'"') if mark in head), b" ")
    words = head.split(mark)
    change = chance.randrange(4)
    if change == 0:
        chance.shuffle(words)
    elif change == 1:
        words.pop(chance.randrange(len(words)))
    elif change == 2:
        words.append(chance.choice(words))
    else:
        mark = chance.choice((b";", b"|", b"\t", b", "))
    return mark.join(words) + feed + rest


def _number(chance: random.Random, data: bytes) -> bytes:
    """A number replaced by one that no tool prints."""
    at = chance.randint(0, len(data))
    digits = b"0123456789."
    begin = next((i for i in range(at, min(len(data), at + 4000)) if data[i] in digits), None)
    if begin is None:
        return data
    end = begin
    while end < len(data) and data[end] in digits:
        end += 1
    return data[:begin] + chance.choice(NUMBERS).encode() + data[end:]


def _spaces(chance: random.Random, data: bytes) -> bytes:
    """What mail programs, terminals and editors do to a text."""
    changes: tuple[tuple[bytes, bytes], ...] = (
        *((b"\t", b" "), (b"\n", b"\r\n"), (b"\n", b"\r"), (b"\n", b"\n> "), (b"  ", b" ")),
        *((b"\n", b"\n\n"), (b'"', b""), (b",", b";"), (b".", b","), (b"\n", b" ")),
    )
    return data.replace(*chance.choice(changes))


DAMAGES: tuple[Damage, ...] = (
    *(_edit, _cut, _behead, _delete, _duplicate, _swap, _insert, _join, _lines, _header),
    *(_number, _number, _number, _spaces),
)


def readings(files: Files) -> list[Files]:
    """Each file alone, then all together."""
    alone: list[Files] = [{name: data} for name, data in files.items()]
    return [*alone, files] if len(files) > 1 else alone


def fault_of(files: Files) -> str | None:
    """What is wrong with the reading of these files as one trial; None if nothing is."""
    try:
        entries = parse([RawArtefact.of(name, data) for name, data in files.items()])
    except FormatError as refused:
        entries = [refused]
    except Exception as fault:
        return f"{type(fault).__name__}: {fault}"
    if not entries:
        return "neither a trial nor a refusal"
    faults = [_fault_of_entry(entry, files) for entry in entries]
    return next(filter(None, faults), None)


def _fault_of_entry(entry: ParsedTrial | FormatError, files: Files) -> str | None:
    if isinstance(entry, FormatError):
        return _fault_of_refusal(entry, files)
    try:
        json.dumps(entry.as_dict(), allow_nan=False)
    except (TypeError, ValueError) as fault:
        return f"a trial that is no JSON: {fault}"
    made = (entry.outcome.attempts, entry.outcome.failed)
    counts = [entry.requests_completed, entry.requests_ok, *made, *entry.errors.values()]
    if any(count is not None and (type(count) is not int or count < 0) for count in counts):
        return f"counts that are none: {counts}"
    return None


def _fault_of_refusal(refused: FormatError, files: Files) -> str | None:
    sentence = str(refused)
    if len(refused.reason) < 15 or not refused.reason.rstrip().endswith((".", "!")):
        return f"a refusal that is no sentence: {sentence!r}"
    # A refusal may quote the input, which may have such words of its own.
    sent = b"\n".join(files.values()).decode(errors="replace")
    leaked = [word for word in INSIDE_WORDS if word in sentence and word not in sent]
    return f"a refusal in words of the program: {sentence!r}" if leaked else None


def smaller(files: Files, fails: Callable[[Files], bool], tries: int = 300) -> Files:
    """Files that fail as these do, with as much taken out as `tries` attempts find."""
    smallest = dict(files)
    for name in sorted(smallest):
        step = max(len(smallest[name]) // 2, 1)
        while step and tries:
            at = 0
            while at < len(smallest[name]) and tries:
                tries -= 1
                trial = {**smallest, name: smallest[name][:at] + smallest[name][at + step :]}
                if fails(trial):
                    smallest = trial
                else:
                    at += step
            step //= 2
    return smallest


def names_of(cases: Sequence[Case]) -> str:
    """The tools that captures are of."""
    return ", ".join(sorted({case.tool for case in cases}))
