"""Chooses the tool and reads its output: the only entry point of the formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from backend.formats.commands import Command
from backend.formats.model import Entry, FormatError, ParsedTrial, RawArtefact
from backend.formats.prefixes import plain_texts
from backend.formats.refusals import refuse_impossible
from backend.formats.sections import Section, sections_by_commands, sections_by_tools
from backend.formats.techempower import HeadedOutput, headed_outputs
from backend.formats.text import Line, Source
from backend.formats.tools import TOOLS, Tool, claims_of, program_names
from backend.formats.unmeasured import without_unmeasured

# Raised whenever a reading of the same bytes can change.
PARSER_VERSION = "11"


@dataclass(frozen=True)
class _Text:
    """A text as its tool wrote it, and which tools claim it, with their reasons."""

    source: Source
    notes: tuple[str, ...] = ()

    @cached_property
    def claims(self) -> Mapping[str, str]:
        return claims_of(self.source)


def parse(artefacts: Sequence[RawArtefact], *, tool: str | None = None) -> list[Entry]:
    """The trials or refusals in the artefacts, which are of one trial.

    One artefact may hold several runs, of several tools too: each gives an entry, in order.
    Detection needs no hint; `tool` only refuses what another tool wrote. Raises FormatError when
    there is nothing to read.
    """
    plain = [text for artefact in artefacts for text in plain_texts(artefact)]
    texts = [_Text(Source(text.artefact), text.notes) for text in plain]
    entries = _read_texts(texts, is_one_file=len(artefacts) == 1, tool=tool)
    if len(entries) == 1 and isinstance(entries[0], FormatError):
        raise entries[0]
    return entries


def _read_texts(texts: Sequence[_Text], *, is_one_file: bool, tool: str | None) -> list[Entry]:
    headed = _headed(texts)
    if headed:
        return [entry for output in headed for entry in _read_headed(output, tool)]
    is_one = is_one_file or sum(bool(text.claims) for text in texts) == 1
    return _read_each(texts, tool) if is_one else _read(texts, tool)


def _headed(texts: Sequence[_Text]) -> list[HeadedOutput]:
    """The outputs of raw files of TechEmpower; none where another file has an output too."""
    outputs: list[HeadedOutput] = []
    for text in texts:
        headed = headed_outputs(text.source) if text.claims else []
        if text.claims and not headed:
            return []
        outputs += headed
    return outputs


def _read_headed(output: HeadedOutput, tool: str | None) -> list[Entry]:
    return [
        output.described(entry) if isinstance(entry, ParsedTrial) else entry
        for entry in _entries(_read, [_Text(output.source)], tool)
    ]


def _read_each(texts: Sequence[_Text], tool: str | None) -> list[Entry]:
    """The runs of each text in turn; those that no tool claims are passed over, if not all are."""
    claimed = [text for text in texts if text.claims]
    if len(claimed) <= 1:
        return _read_text((claimed or texts)[0], tool)
    return [entry for text in claimed for entry in _entries(_read_text, text, tool)]


def _entries(read: Any, *arguments: Any) -> list[Entry]:
    """What is read, or the refusal as the only entry."""
    try:
        entries: list[Entry] = read(*arguments)
    except FormatError as refused:
        return [refused]
    return entries


def _read_text(text: _Text, tool: str | None) -> list[Entry]:
    """The runs of one text: of each of its sections, where it has several tools or commands."""
    source = text.source
    if source.is_binary or source.is_log or not text.claims:
        return _read([text], tool)
    by_commands = sections_by_commands(source)
    if len(text.claims) > 1:
        are_of_one_tool = all(len(claims_of(section.source)) == 1 for section in by_commands)
        has_cuts = len(by_commands) > 1 and are_of_one_tool
        sections = by_commands if has_cuts else sections_by_tools(source)
        return _read_sections(sections, text, tool)
    if not by_commands:
        return _read([text], tool)
    whole, apart = _entries(_read, [text], tool), _read_sections(by_commands, text, tool)
    return apart if _says_no_less(apart, whole) else whole


def _read_sections(sections: Sequence[Section], text: _Text, tool: str | None) -> list[Entry]:
    entries: list[Entry] = []
    for section in sections:
        runs = _entries(_read, [_Text(section.source, text.notes)], tool)
        lines = section.line_numbers if len(sections) > 1 else None
        command = section.command if len(runs) == 1 else None
        entries += [_of_section(run, lines, command) for run in runs]
    return entries


def _of_section(entry: Entry, lines: tuple[int, int] | None, command: Command | None) -> Entry:
    if isinstance(entry, FormatError):
        return entry
    is_its = command is not None and entry.tool in command.tools
    return replace(entry, command=command.text if command and is_its else "", lines=lines)


def _says_no_less(apart: Sequence[Entry], whole: Sequence[Entry]) -> bool:
    """Whether sections say what the whole text says, or are read where that is refused."""
    if all(isinstance(entry, ParsedTrial) for entry in apart) and len(apart) >= len(whole):
        read = [entry for entry in whole if isinstance(entry, ParsedTrial)]
        return len(read) < len(whole) or _figures(apart) == _figures(whole)
    return False


def _figures(entries: Sequence[Entry]) -> list[dict[str, Any] | None]:
    return [
        replace(entry, command="", lines=None).as_dict() if isinstance(entry, ParsedTrial) else None
        for entry in entries
    ]


def _read(texts: Sequence[_Text], tool: str | None) -> list[Entry]:
    chosen, why = _choose(texts, tool)
    claimed = [text for text in texts if text.claims]
    entries = chosen.read([text.source for text in claimed])
    if not entries:
        raise FormatError(
            f"This is output of {chosen.name}, but it has no result of a run.",
            found=why,
            expected=f"a whole report of {chosen.name}",
        )
    notes = tuple(dict.fromkeys(note for text in claimed for note in text.notes))
    return [
        _checked(replace(entry, tool=entry.tool or chosen.name, detected_by=why, notes=notes))
        if isinstance(entry, ParsedTrial)
        else entry
        for entry in entries
    ]


def _checked(trial: ParsedTrial) -> Entry:
    """The trial without what was not measured, or a refusal of what cannot be."""
    return refuse_impossible(without_unmeasured(trial))


def _choose(texts: Sequence[_Text], hint: str | None) -> tuple[Tool, str]:
    """The tool that wrote the texts, and why. Raises FormatError where the hint says another."""
    reasons: dict[str, str] = {}
    for text in texts:
        reasons = {**text.claims, **reasons}
    if not reasons:
        raise _unrecognised([text.source for text in texts])
    if len(reasons) > 1:
        names = " and ".join(sorted(reasons))
        raise FormatError(
            f"These files are output of {names}. One trial has one tool.",
            found="; ".join(reasons.values()),
            expected="output of one tool in one trial",
        )
    ((name, why),) = reasons.items()
    if hint not in (None, name):
        raise FormatError(
            f"This output is from {name}, not from {hint}.", found=why, expected=f"output of {hint}"
        )
    return TOOLS[name], why


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
