"""Two captures of load tools below each other in one text, and whether anything of them is lost.

Each run must be read with the figures that it has alone, or a refusal must name its lines. Outputs
of one run may be one trial, which says so.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from backend.formats import FormatError, ParsedTrial, RawArtefact, parse
from backend.formats.model import Entry
from backend.formats.parts import trials_in
from backend.testing.damage import captures

# Longer captures are logs of many requests: each is read many times here.
LONGEST = 64 << 10
# What stands between the two: nothing, a blank line, or the command of the second.
GLUES = ("", "\n", "command")
# What a figure may lose where the text goes on: an output that may have been cut off is read
# with care.
PROMPT = "$ {tool} http://127.0.0.1:8080/\n"


@dataclass(frozen=True, slots=True)
class Output:
    """One file of a capture."""

    tool: str
    name: str
    text: str

    @property
    def label(self) -> str:
        return f"{self.tool}/{self.name}"


@cache
def outputs() -> tuple[Output, ...]:
    """The files of all captures that are texts of one load tool, and are read alone."""
    return tuple(
        Output(case.tool, f"{case.name}/{name}", text)
        for case in captures()
        for name, data in case.files.items()
        if (text := _text_of(data)) is not None and any(_alone(text))
    )


def _text_of(data: bytes) -> str | None:
    if len(data) > LONGEST or b"\0" in data:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if text.endswith("\n") else text + "\n"


def _read(text: str) -> list[Entry]:
    try:
        return parse([RawArtefact.of("pair", text.encode())])
    except FormatError as refused:
        return [refused]


@cache
def _alone(text: str) -> tuple[ParsedTrial, ...]:
    return tuple(entry for entry in _read(text) if isinstance(entry, ParsedTrial))


def pair_of(first: Output, second: Output, glue: str) -> str:
    """The text of both."""
    if glue == "command":
        return "".join(PROMPT.format(tool=each.tool) + each.text for each in (first, second))
    return first.text + glue + second.text


def loss_in(first: Output, second: Output, glue: str) -> str | None:
    """What of the two is neither read nor named in a refusal, or what neither has; None if all is
    well."""
    text = pair_of(first, second, glue)
    entries = _read(text)
    trials = trials_in(entries)
    refusals = [entry for entry in entries if isinstance(entry, FormatError)]
    if not trials or _is_summed(first, second, trials):
        return None
    last = text.count("\n") + 1
    above = last - second.text.count("\n")
    for output, begin, end in ((first, 1, above), (second, above, last)):
        if not _is_read(output, trials) and not _is_named(refusals, begin, end):
            return f"{output.label} has other figures or none"
    return _made_up(trials, (*_alone(first.text), *_alone(second.text)))


def _is_read(output: Output, trials: Sequence[ParsedTrial]) -> bool:
    return all(
        _is_among(trial, trials) or _is_replaced(trial, output, trials)
        for trial in _alone(output.text)
    )


def _is_replaced(trial: ParsedTrial, output: Output, trials: Sequence[ParsedTrial]) -> bool:
    """Whether a trial is what became, in the same capture, of one that still ran."""
    capture = output.label.rpartition("/")[0] + "/"
    ended = [
        each.figures()
        for other in outputs()
        if other.label.startswith(capture)
        for each in _alone(other.text)
        if not each.incomplete and (each.attempts or 0) >= (trial.attempts or 0)
    ]
    return trial.incomplete and any(each.figures() in ended for each in trials)


def _is_among(trial: ParsedTrial, trials: Sequence[ParsedTrial]) -> bool:
    return trial.figures() in [each.figures() for each in trials] or _is_joined(trial, trials)


def _made_up(trials: Sequence[ParsedTrial], known: Sequence[ParsedTrial]) -> str | None:
    shown = [trial.figures() for trial in known]
    for trial in trials:
        if trial.figures() not in shown and "of the same run" not in " ".join(trial.notes):
            return f"a trial of {trial.tool} that neither has"
    return None


def _is_summed(first: Output, second: Output, trials: Sequence[ParsedTrial]) -> bool:
    """Whether the rows of two logs are those of one: nothing in them tells where one ends."""
    samples = [trial.samples for each in (first, second) for trial in _alone(each.text)]
    known = [count for count in samples if count]
    return first.tool == second.tool and any(trial.samples == sum(known) for trial in trials)


def _is_joined(trial: ParsedTrial, trials: Sequence[ParsedTrial]) -> bool:
    """Whether another trial says that it has this run too."""
    return any(
        "of the same run" in note and _agrees(trial, each) for each in trials for note in each.notes
    )


def _agrees(trial: ParsedTrial, other: ParsedTrial) -> bool:
    pairs = [
        (getattr(trial, name), getattr(other, name))
        for name in ("requests_completed", "requests_ok")
    ]
    return all(ours == theirs or None in (ours, theirs) for ours, theirs in pairs)


def _is_named(refusals: Sequence[FormatError], begin: int, end: int) -> bool:
    """Whether a refusal is of lines in the range, or of the whole text."""
    for refused in refusals:
        first, last = refused.lines or (refused.line or 1, refused.line or end)
        if first <= end and last >= begin:
            return True
    return False


def pairs(
    seed: int | None = None, count: int | None = None
) -> Iterator[tuple[Output, Output, str]]:
    """All pairs in both orders, with each glue; or so many of them by chance."""
    every = outputs()
    if count is None:
        yield from ((one, other, glue) for one in every for other in every for glue in GLUES)
        return
    # The same pairs are wanted for the same number, not a number that nobody can guess.
    chance = random.Random(seed)  # noqa: S311
    for _ in range(count):
        yield chance.choice(every), chance.choice(every), chance.choice(GLUES)
