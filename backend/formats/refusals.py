"""Refusals that several formats share, and how a refused run becomes an entry among others."""

import re
from collections.abc import Callable
from itertools import chain
from typing import Any

from backend.formats.bounds import LONGEST_TEXT
from backend.formats.model import Entry, FormatError, ParsedTrial
from backend.formats.numbers import LIMIT
from backend.formats.text import REPORT_BYTES, Document
from backend.visible_text import shortened

# Raised while reading a document that lacks a key or has a value of the wrong kind.
FAULTS = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError)


SEND_ALONE = "Send the report alone, without the rest of the file."
# What a database keeps of a number of connections. All other counts: as `LIMIT`.
MOST_CONNECTIONS = 2**31 - 1
# The name of a percentile. Only ASCII digits: all readers take these for the same number.
_PERCENTILE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,1000})?")
_COUNTS = ("threads", "requested_requests", "requests_completed", "requests_ok", "bytes_received")


def refuse_impossible(trial: ParsedTrial) -> Entry:
    """The trial, or a refusal of a count that no test reaches or a percentile without a number."""
    limits = {"connections": MOST_CONNECTIONS, **dict.fromkeys(_COUNTS, LIMIT)}
    for name, most in limits.items():
        count = getattr(trial, name)
        if count is not None and count > most:
            words = name.replace("_", " ")
            return FormatError(
                f"This output of {trial.tool} has an impossible number of {words}.",
                found=f"{words}: {count:,}",
                expected=f"at most {most:,}",
            )
    names = chain(trial.latency.percentiles, *(part.percentiles for part in trial.timeline))
    if (wrong := next((name for name in names if not _is_percentile(name)), None)) is not None:
        return FormatError(
            f"This output of {trial.tool} has a percentile whose name is not a number.",
            found=shortened(wrong, LONGEST_TEXT),
            expected="a number from 0 to 100, such as 99.9",
        )
    return trial


def _is_percentile(name: str) -> bool:
    return _PERCENTILE.fullmatch(name) is not None and float(name) <= 100


def several_totals(title: str, count: int, named: str, line: int | None = None) -> FormatError:
    """The refusal of a table with several rows of totals: nothing tells which rows belong to which
    run."""
    return FormatError(
        f"The {title} has the rows of several runs.",
        line=line,
        found=f"{count} rows of all requests, each with {named}",
        expected="one row of all requests: a file for each run, or each below its own header",
    )


def read_or_refuse(read: Callable[..., ParsedTrial], *arguments: Any) -> Entry:
    """The trial, or its refusal: the other runs of the input are read all the same."""
    try:
        return read(*arguments)
    except FormatError as refused:
        # Its traceback would keep all that was read for it: an input may have 100,000 of them.
        return refused.with_traceback(None)


def read_figures(
    read: Callable[..., ParsedTrial],
    *arguments: Any,
    title: str,
    expected: str,
    line: int | None = None,
) -> Entry:
    """The trial, or a refusal where a figure is missing or of another kind.

    `title` names what is read ("fortio JSON"), `line` is where it begins.
    """
    try:
        return read(*arguments)
    except FormatError as refused:
        return refused.with_traceback(None)
    except FAULTS as fault:
        return FormatError(
            f"The {title} has a missing or invalid figure.",
            line=line,
            found=fault_in(fault),
            expected=expected,
        )


def fault_in(fault: Exception) -> str:
    """What is wrong in a document, in words for its sender instead of Python's message."""
    if isinstance(fault, KeyError):
        return f"no {fault.args[0]}"
    return str(fault) if isinstance(fault, ValueError) else "a value of another kind"


def broken_document(document: Document, *, title: str, expected: str) -> FormatError:
    """The refusal of JSON that ends too early, cannot be read or stands in a long file."""
    if document.long_file:
        return in_long_file(document.long_file, title=title, line=document.line)
    return FormatError(
        f"The {title} is cut off or damaged.",
        line=document.fault_line,
        found=document.fault,
        expected=expected,
    )


def read_json(
    read: Callable[..., ParsedTrial],
    document: Document,
    *arguments: Any,
    tool: str,
    expected: str,
) -> Entry:
    """The trial that a document is, or a refusal where it is broken or lacks a figure."""
    title = f"{tool} JSON"
    if document.value is None:
        return broken_document(document, title=title, expected=expected)
    return read_figures(
        read, document.value, *arguments, title=title, line=document.line, expected=expected
    )


def in_long_file(size: str, *, title: str, line: int, what_to_do: str = SEND_ALONE) -> FormatError:
    """The refusal of a report in a file of which only the head is looked at."""
    return FormatError(
        f"The {title} is in a file of more than {REPORT_BYTES >> 20} MiB, which is not read. "
        f"{what_to_do}",
        line=line,
        found=size,
        expected=f"a report of at most {REPORT_BYTES >> 20} MiB",
    )


def not_one_trial(*, found: str, expected: str) -> FormatError:
    """The refusal of files that cannot be of one trial."""
    return FormatError("These files do not belong to one trial.", found=found, expected=expected)
