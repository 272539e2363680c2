"""Chooses the tool and reads its output: the only entry point of the formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from backend.formats.model import Entry, FormatError, ParsedTrial, RawArtefact
from backend.formats.prefixes import plain_texts
from backend.formats.text import Line, Source

# Raised whenever a reading of the same bytes can change.
PARSER_VERSION = "4"


@dataclass(frozen=True, slots=True)
class Tool:
    """A load tool whose output is read."""

    name: str
    # Each output of the tool has one of these words. A fast search for them comes first.
    marks: Sequence[str]
    claims: Callable[[Source], str | None]
    read: Callable[[Sequence[Source]], list[Entry]]
    doc: str
    # As `claims`, for binary files; None for a tool that writes none.
    claims_binary: Callable[[Source], str | None] | None = None


def _tool(name: str) -> Tool:
    package: Any = import_module(f"backend.formats.{name}")
    return Tool(
        package.NAME,
        package.MARKS,
        package.claims,
        package.read,
        package.__doc__ or "",
        getattr(package, "claims_binary", None),
    )


# The one table of tools: a package with its tests and captures, and its name here.
TOOLS = {
    name: _tool(name)
    for name in (
        *("ab", "artillery", "autocannon", "bombardier", "fortio", "gatling", "h2load"),
        *("hdrhistogram", "hey", "httperf", "jmeter", "k6", "locust", "oha", "plow", "siege"),
        *("tsung", "vegeta", "weighttp", "wrk", "wrk2"),
    )
}


def parse(artefacts: Sequence[RawArtefact], *, tool: str | None = None) -> list[Entry]:
    """The trials or refusals in the artefacts; several runs in one paste give several entries.

    Detection needs no hint; `tool` only refuses what another tool wrote. Raises FormatError when
    there is nothing to read.
    """
    texts = [text for artefact in artefacts for text in plain_texts(artefact)]
    sources = [Source(text.artefact) for text in texts]
    chosen, why, claimed = _choose(sources)
    notes = tuple(note for text in texts for note in text.notes)
    if tool is not None and tool != chosen.name:
        raise FormatError(
            f"This output is from {chosen.name}, not from {tool}.",
            tool=chosen.name,
            found=why,
            expected=f"output of {tool}",
        )
    entries = chosen.read(claimed)
    if not entries:
        raise FormatError(
            f"This is output of {chosen.name}, but it has no result of a run.",
            tool=chosen.name,
            found=why,
            expected=f"a whole report of {chosen.name}",
        )
    if len(entries) == 1 and isinstance(entries[0], FormatError):
        raise entries[0]
    return [
        replace(entry, detected_by=why, notes=notes) if isinstance(entry, ParsedTrial) else entry
        for entry in entries
    ]


def _choose(sources: Sequence[Source]) -> tuple[Tool, str, list[Source]]:
    reasons: dict[str, str] = {}
    claimed: dict[str, list[Source]] = {}
    for source in sources:
        for name, why in claims_of(source).items():
            reasons.setdefault(name, why)
            claimed.setdefault(name, []).append(source)
    if not reasons:
        raise _unrecognised(sources)
    if len(reasons) > 1:
        names = " and ".join(sorted(reasons))
        raise FormatError(
            f"These files are output of {names}. One trial has one tool.",
            found="; ".join(reasons.values()),
            expected="output of one tool in one trial",
        )
    ((name, why),) = reasons.items()
    return TOOLS[name], why, claimed[name]


def claims_of(source: Source) -> dict[str, str]:
    """Which tools claim the source, and why."""
    asked = {name: _claim(tool, source) for name, tool in TOOLS.items()}
    return {name: why for name, why in asked.items() if why is not None}


def _claim(tool: Tool, source: Source) -> str | None:
    if source.is_binary:
        return None if tool.claims_binary is None else tool.claims_binary(source)
    return tool.claims(source) if any(mark in source.text for mark in tool.marks) else None


def _unrecognised(sources: Sequence[Source]) -> FormatError:
    reads = f"Loadsheet reads the output of {', '.join(TOOLS)}. See Formats in the documentation."
    expected = "the whole output of a load tool, as the tool printed it"
    if all(source.is_empty for source in sources):
        return FormatError(f"The file is empty. {reads}", expected=expected)
    texts = [source for source in sources if not source.is_binary]
    if all(source.is_empty for source in texts):
        return FormatError(f"We don't recognise this binary file. {reads}", expected=expected)
    lines = (line for source in texts for line in source.lines if line.text)
    first = next(lines, Line(1, ""))
    return FormatError(
        f"We don't recognise this file. {reads}",
        line=first.number,
        found=first.text,
        expected=expected,
    )
