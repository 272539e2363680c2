"""Chooses the tool and reads its output: the only entry point of the formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from backend.formats.documents import documents_of
from backend.formats.model import Entry, FormatError, ParsedTrial, RawArtefact
from backend.formats.output_names import name_of, name_of_files
from backend.formats.parts import Part, lines_of_entries
from backend.formats.prefixes import plain_texts
from backend.formats.refusals import refuse_impossible
from backend.formats.techempower import HeadedOutput, headed_outputs
from backend.formats.text import Line, Source
from backend.formats.tools import program_names, read_alone
from backend.formats.unmeasured import without_unmeasured
from backend.formats.unread import unread_in

# Raised whenever a reading of the same bytes can change.
PARSER_VERSION = "13"


@dataclass(frozen=True)
class _Text:
    """A text as its tool wrote it, and what is in it."""

    source: Source
    notes: tuple[str, ...] = ()

    @cached_property
    def parts(self) -> list[Part]:
        return documents_of(self.source)

    @cached_property
    def claims(self) -> Mapping[str, str]:
        """The tools that wrote parts of it, each with its reason."""
        return {tool: why for part in self.parts for tool, why in part.claims.items()}


def parse(artefacts: Sequence[RawArtefact], *, tool: str | None = None) -> list[Entry]:
    """The trials or refusals in the artefacts, which are of one trial.

    One artefact may hold several runs, of several tools too: each gives an entry, in order. So does
    what looks like output and is not read, where another part of its text is read. Detection needs
    no hint; `tool` only refuses what another tool wrote. Raises FormatError when there is nothing
    to read.
    """
    plain = [text for artefact in artefacts for text in plain_texts(artefact)]
    texts = [_Text(Source(text.artefact), text.notes) for text in plain]
    entries = _read_texts(texts, is_one_file=len(artefacts) == 1, tool=tool)
    if len(entries) == 1 and isinstance(entries[0], FormatError):
        raise entries[0]
    return entries


def _read_texts(texts: Sequence[_Text], *, is_one_file: bool, tool: str | None) -> list[Entry]:
    if headed := _headed(texts):
        return list(chain.from_iterable(_read_headed(output, tool) for output in headed))
    claimed = [text for text in texts if text.claims]
    if not claimed:
        raise _unrecognised([text.source for text in texts])
    if is_one_file or len(claimed) == 1:
        return list(chain.from_iterable(_read_text(text, tool) for text in claimed))
    return _read_together(claimed, tool)


def _headed(texts: Sequence[_Text]) -> list[HeadedOutput]:
    """The outputs of raw files of TechEmpower; none where another file has an output too."""
    by_text = [headed_outputs(text.source) for text in texts]
    others = (text for text, headed in zip(texts, by_text, strict=True) if not headed)
    if not any(by_text) or any(text.claims for text in others):
        return []
    return [output for headed in by_text for output in headed]


def _read_headed(output: HeadedOutput, tool: str | None) -> list[Entry]:
    text = _Text(output.source)
    if not text.claims:
        return [_unrecognised([output.source])]
    return [
        output.described(entry) if isinstance(entry, ParsedTrial) else entry
        for entry in _read_text(text, tool)
    ]


def _read_text(text: _Text, tool: str | None) -> list[Entry]:
    """The runs of one text in the order of their lines, and what of it is not read."""
    runs = [run for part in text.parts for run in _runs_in(part, tool)]
    return [_finished(run, text, is_alone=len(runs) == 1) for run in runs]


@dataclass(frozen=True, slots=True)
class _Run:
    """An entry, its lines, and which of its part's entries it is."""

    entry: Entry
    lines: tuple[int, int]
    part: Part
    place: int = 0


def _runs_in(part: Part, tool: str | None) -> Iterator[_Run]:
    if part.tool is not None and tool not in (None, part.tool):
        other = _of_another_tool(part.tool, part.claims[part.tool], tool)
        yield _Run(other, (part.first, part.last), part)
    else:
        entries = zip(part.entries, lines_of_entries(part), strict=True)
        for place, (entry, lines) in enumerate(entries):
            yield _Run(entry, lines, part, place)
    for lines, rest in unread_in(part):
        yield _Run(rest, lines, part)


def _finished(run: _Run, text: _Text, *, is_alone: bool) -> Entry:
    """The entry with what the text says of it: its tool, its command, its lines, its name."""
    part, entry = run.part, run.entry
    lines = None if is_alone else run.lines
    if isinstance(entry, FormatError):
        entry.lines = lines
        if entry.line is None and lines is not None:
            entry.line = lines[0]
        return entry
    beside = (
        f"Lines {other.first} to {other.last} are of the same run, as {other.kind}."
        for other in part.others
    )
    tool = part.tool or ""
    finished = replace(
        entry,
        tool=entry.tool or tool,
        detected_by=part.claims.get(tool, ""),
        command=part.command.text if part.command is not None else "",
        lines=lines,
        notes=(*text.notes, *beside),
        output_name=name_of(entry, part, run.place, run.lines),
    )
    return _checked(finished)


def _read_together(texts: Sequence[_Text], hint: str | None) -> list[Entry]:
    """The runs of the files of one trial; raises FormatError where they are not of one tool."""
    tool, why = _choose(texts, hint)
    sources = list(chain.from_iterable(map(_sources_of, texts)))
    notes = tuple(dict.fromkeys(chain.from_iterable(text.notes for text in texts)))
    parts = list(chain.from_iterable(text.parts for text in texts))
    claimed = [part for part in parts if part.claims]
    rests = [rest for part in parts for _, rest in unread_in(part)]
    entries = enumerate(read_alone(tool, sources))
    return [
        _of_files(entry, place, claimed, (tool, why, notes)) for place, entry in entries
    ] + rests


def _of_files(
    entry: Entry, place: int, parts: Sequence[Part], known: tuple[str, str, tuple[str, ...]]
) -> Entry:
    """The entry of several files with its tool, why it is that tool's, and the files' notes."""
    if isinstance(entry, FormatError):
        return entry
    tool, why, notes = known
    return _checked(
        replace(
            entry,
            tool=entry.tool or tool,
            detected_by=why,
            notes=notes,
            lines=None,
            output_name=name_of_files(entry, parts, place),
        )
    )


def _sources_of(text: _Text) -> list[Source]:
    """A source for each kind of document in a file."""
    parts = [part for part in text.parts if part.claims]
    is_mixed = len({part.kind for part in parts}) > 1
    return [source for part in parts for source in part.sources] if is_mixed else [text.source]


def _checked(trial: ParsedTrial) -> Entry:
    """The trial without what was not measured, or a refusal of what cannot be."""
    return refuse_impossible(without_unmeasured(trial))


def _choose(texts: Sequence[_Text], hint: str | None) -> tuple[str, str]:
    """The tool that wrote the texts, and why. Raises FormatError where the hint says another."""
    reasons: dict[str, str] = {}
    for text in texts:
        reasons = {**text.claims, **reasons}
    if len(reasons) > 1:
        names = " and ".join(sorted(reasons))
        raise FormatError(
            f"These files are output of {names}. One trial has one tool.",
            found="; ".join(reasons.values()),
            expected="output of one tool in one trial",
        )
    ((name, why),) = reasons.items()
    if hint not in (None, name):
        raise _of_another_tool(name, why, hint)
    return name, why


def _of_another_tool(name: str, why: str, hint: str | None) -> FormatError:
    return FormatError(
        f"This output is from {name}, not from {hint}.", found=why, expected=f"output of {hint}"
    )


def _unrecognised(sources: Sequence[Source]) -> FormatError:
    names = ", ".join(program_names())
    reads = f"Loadsheet reads the output of {names}. See Formats in the documentation."
    expected = "the whole output of a load tool, as the tool printed it"
    if all(source.is_empty for source in sources):
        return FormatError(f"The file is empty. {reads}", expected=expected)
    texts = [source for source in sources if not source.is_binary]
    if all(source.is_empty for source in texts):
        return FormatError(f"We don't recognise this binary file. {reads}", expected=expected)
    lines = (line for source in texts for line in source.lines if line.text)
    first = next(lines, Line(1, ""))
    return first.refusal(f"We don't recognise this file. {reads}", expected=expected)
