"""The load tools whose output is read, and which of them claim a text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from backend.formats.model import Entry, FormatError
from backend.formats.text import Source


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
    # It keeps connections unless its command says otherwise.
    keeps_connections: bool = False
    # Its bytes are those of bodies: others count headers too, or tell the two apart.
    counts_bodies_only: bool = False
    # It prints latencies with two decimals, in the unit that suits the figure: 12.34ms, 1.02s.
    prints_two_decimals: bool = False
    # The option without which it prints no percentiles.
    percentile_option: str | None = None
    # Its files are tables of printed figures: nobody runs it.
    is_table: bool = False
    # Each text with figures of a run has one of these words: a text without them is the start of a
    # run, whose JSON document or table follows. Empty for a tool that prints no such start.
    figure_marks: Sequence[str] = ()
    # How the tables in its reports begin, which are no documents of their own.
    table_heads: tuple[str, ...] = ()
    # Words of a line behind which a report has no figures of its own, or few. Below it, another
    # tool's report may follow.
    ends: Sequence[str] = ()


def _tool(name: str) -> Tool:
    package: Any = import_module(f"backend.formats.{name}")
    return Tool(
        name,
        package.MARKS,
        package.claims,
        package.read,
        package.__doc__ or "",
        getattr(package, "claims_binary", None),
        getattr(package, "KEEPS_CONNECTIONS", False),
        getattr(package, "COUNTS_BODIES_ONLY", False),
        getattr(package, "PRINTS_TWO_DECIMALS", False),
        getattr(package, "PERCENTILE_OPTION", None),
        getattr(package, "IS_TABLE", False),
        getattr(package, "FIGURE_MARKS", ()),
        getattr(package, "TABLE_HEADS", ()),
        getattr(package, "ENDS", ()),
    )


# The one table of tools: a package with its tests and captures, and its name here.
TOOLS = {
    name: _tool(name)
    for name in (
        *("ab", "artillery", "autocannon", "bombardier", "fortio", "gatling", "h2load"),
        *("hdrhistogram", "hey", "httparena", "httperf", "jmeter", "k6", "locust", "nighthawk"),
        *("oha", "plow", "published", "rewrk", "siege", "taurus", "tsung", "vegeta", "weighttp"),
        *("wrk", "wrk2"),
    )
}


# How tables within reports begin.
TABLE_HEADS = tuple(head for tool in TOOLS.values() for head in tool.table_heads)


def program_names() -> list[str]:
    """The names of the load tools that people run."""
    return [name for name, tool in TOOLS.items() if not tool.is_table]


def claims_of(source: Source) -> dict[str, str]:
    """Which tools claim the source, and why."""
    if source.is_binary:
        asked = ((name, _claim(tool, source)) for name, tool in TOOLS.items())
    else:
        text = source.text
        marked = (tool for tool in TOOLS.values() if _has_mark(tool, text))
        asked = ((tool.name, tool.claims(source)) for tool in marked)
    return {name: why for name, why in asked if why is not None}


def is_claimed(name: str, source: Source) -> bool:
    """Whether the tool of this name claims the source."""
    return _claim(TOOLS[name], source) is not None


def read_alone(name: str, sources: Sequence[Source]) -> list[Entry]:
    """What a tool reads in sources that it claims, or its refusal as the only entry."""
    try:
        return TOOLS[name].read(sources) or [_without_result(name)]
    except FormatError as refused:
        return [refused.with_traceback(None)]


def _without_result(name: str) -> FormatError:
    return FormatError(
        f"This is output of {name}, but it has no result of a run.",
        expected=f"a whole report of {name}",
    )


def _claim(tool: Tool, source: Source) -> str | None:
    if source.is_binary:
        return None if tool.claims_binary is None else tool.claims_binary(source)
    return tool.claims(source) if _has_mark(tool, source.text) else None


def _has_mark(tool: Tool, text: str) -> bool:
    # A loop takes half as long as `any`, and each text is searched for a hundred marks.
    for mark in tool.marks:  # noqa: SIM110
        if mark in text:
            return True
    return False
