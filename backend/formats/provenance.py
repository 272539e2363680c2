"""Which printed numbers a reading stands on: each is altered in turn, and what changes is read
from it.

Exact and the same for every tool: nothing is said of a figure that the parser itself did not
show. The price is one reading for each number, so only short outputs are traced.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.errors import WorkFailed
from backend.formats.decoding import decode, is_binary
from backend.formats.model import FormatError, ParsedTrial, RawArtefact
from backend.formats.reading import parse

MAX_BYTES = 64 << 10
MAX_NUMBERS = 1200
# Of CPU time: a busy machine must not change what is traced.
BUDGET_S = 3.0

# Digits with the separators that may stand among them; a sign or a unit is not part of it.
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_STEPS = (1, 9, 2, 8, 3, 7, 4, 6, 5)
# Entries that the parser writes itself: not figures of the output.
_NO_FIGURES = (
    *("tool", "latency_origin", "incomplete", "command", "lines", "notes"),
    *("server", "workload", "publication"),
)


class NotTraced(WorkFailed):
    """These artefacts are not traced; the message says why, as a sentence."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A number in a text and the figures that change with it.

    Without figures: the reading is refused with another number here, since it must agree with
    others. `start` and `end` count characters of the text; `line` is counted from 1.
    """

    artefact: int
    start: int
    end: int
    line: int
    figures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """The texts as they were read, the figures of the trial, and the numbers they stand on.

    Figures are named by their path in the contract ("latency_us.percentiles.99"); `histogram`
    stands for the whole distribution.
    """

    texts: tuple[str, ...]
    figures: Mapping[str, Any]
    marks: tuple[Mark, ...]


def trace(
    artefacts: Sequence[tuple[str, bytes]], *, entry: int = 0, tool: str | None = None
) -> Trace:
    """The marks of the trial that is the `entry`-th result in the artefacts (name, bytes).

    Raises NotTraced for text that is too long and for binary files, FormatError for text that
    cannot be read.
    """
    texts = [_text_of(data) for _, data in artefacts]
    names = [name for name, _ in artefacts]
    part, entry = _part_of(names, texts, entry, tool)
    numbers = [
        (index, (start, end))
        for index, text in enumerate(texts)
        for start, end in _numbers(text)
        if part.start <= start < part.stop
    ]
    if len(numbers) > MAX_NUMBERS:
        raise NotTraced(
            f"The output holds {len(numbers)} numbers; at most {MAX_NUMBERS} are traced."
        )
    reader = _Reader(names, texts, entry, tool, part)
    marks = tuple(reader.marks(numbers))
    return Trace(tuple(texts), reader.figures, marks)


def _part_of(
    names: Sequence[str], texts: Sequence[str], entry: int, tool: str | None
) -> tuple[range, int]:
    """The characters that the entry is read from, and which entry of these it is.

    Where a text has outputs of several tools, to read each number's alteration in all of them
    would take too long.
    """
    whole = range(max(map(len, texts), default=0) + 1)
    try:
        trials = _trials(names, texts, tool)
    except FormatError:
        return whole, entry
    lines = trials[entry].lines if len(texts) == 1 and entry < len(trials) else None
    # The lines of a text without its prefixes are not those of this text.
    if lines is None or trials[entry].notes:
        return whole, entry
    rows = texts[0].split("\n")
    start = sum(len(row) + 1 for row in rows[: lines[0] - 1])
    length = sum(len(row) + 1 for row in rows[lines[0] - 1 : lines[1]])
    before = sum(trial.lines == lines for trial in trials[:entry])
    return range(start, start + length), before


def _trials(names: Sequence[str], texts: Sequence[str], tool: str | None) -> list[ParsedTrial]:
    artefacts = [
        RawArtefact.of(name, text.encode(errors="replace"))
        for name, text in zip(names, texts, strict=True)
    ]
    entries = parse(artefacts, tool=tool)
    return [entry for entry in entries if isinstance(entry, ParsedTrial)]


def _text_of(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise NotTraced(f"The output has more than {MAX_BYTES >> 10} KiB, which is too long.")
    if is_binary(data):
        raise NotTraced("The output is a binary file, so its numbers cannot be traced.")
    return _CONTROL.sub("", decode(data))


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    for number in _NUMBER.finditer(text):
        yield number.span()


class _Reader:
    """Reads the artefacts again and again, each time with one number altered."""

    def __init__(
        self,
        names: Sequence[str],
        texts: Sequence[str],
        entry: int,
        tool: str | None,
        part: range,
    ) -> None:
        self.names, self.texts, self.entry, self.tool = names, texts, entry, tool
        self.part = part
        self.printed = frozenset(text[start:end] for text in texts for start, end in _numbers(text))
        self.deadline = time.process_time() + BUDGET_S
        self.figures = self._read(texts)

    def marks(self, numbers: Sequence[tuple[int, tuple[int, int]]]) -> Iterator[Mark]:
        for index, (start, end) in numbers:
            if time.process_time() > self.deadline:
                raise NotTraced("Reading the output once for each of its numbers takes too long.")
            text = self.texts[index]
            changed = self._changed_with(index, start, end)
            if changed is not None:
                yield Mark(index, start, end, text.count("\n", 0, start) + 1, changed)

    def _changed_with(self, index: int, start: int, end: int) -> tuple[str, ...] | None:
        """The figures that change with the number.

        Empty: every altered number is refused. None: an altered number changes nothing.
        """
        text, is_refused = self.texts[index], False
        for altered in _altered(text[start:end], self.printed):
            texts = list(self.texts)
            texts[index] = text[:start] + altered + text[end:]
            try:
                figures = self._read(texts)
            except FormatError:
                is_refused = True
                continue
            if changed := _differences(self.figures, figures):
                return changed
        return () if is_refused else None

    def _read(self, texts: Sequence[str]) -> dict[str, Any]:
        parts = [text[self.part.start : self.part.stop] for text in texts]
        trials = _trials(self.names, parts, self.tool)
        if self.entry >= len(trials):
            raise FormatError(f"The output holds {len(trials)} results, not {self.entry + 1}.")
        return figures_of(trials[self.entry])


def _altered(number: str, printed: frozenset[str]) -> Iterator[str]:
    """The number with another last digit, then with another first digit; its length stays.

    Never a number printed elsewhere: "98" altered to "99" could be read as the label p99.
    """
    last, first = int(number[-1]), int(number[0])
    lasts = (number[:-1] + str((last + step) % 10) for step in _STEPS)
    firsts = (str((first + step) % 10) + number[1:] for step in _STEPS if (first + step) % 10)
    for candidates in (lasts, firsts if len(number) > 1 else ()):
        fresh = next((candidate for candidate in candidates if candidate not in printed), None)
        if fresh is not None:
            yield fresh


def figures_of(trial: ParsedTrial) -> dict[str, Any]:
    """Every figure that is known, by its path, and the histogram as its bytes."""
    figures: dict[str, Any] = {}
    _flatten("", trial.as_dict(), figures)
    if trial.histogram is not None and trial.histogram.count:
        figures["histogram"] = trial.histogram.encode()
    return {name: value for name, value in figures.items() if name not in _NO_FIGURES}


def _flatten(path: str, value: Any, figures: dict[str, Any]) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _flatten(f"{path}.{name}" if path else str(name), inner, figures)
    elif value is not None:
        figures[path] = value


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """The figures of `before` that are missing or different in `after`."""
    return tuple(name for name, value in before.items() if after.get(name) != value)
