"""httperf (text; the command line it prints first says what was asked).

Loop: open with --rate or --period, which start connections (sessions with --wsess) at a rate;
else closed, one connection after another. Latency unit: ms with one decimal. With one reply per
connection the latency is the Connection time (connect and reply); with more it is the mean of
the Reply time only, response and transfer. Success: 2xx and 3xx. Percentiles: the median alone,
the middle of a bin of 1 ms. The request rate counts requests sent; reply rates are samples of
5 s, in a shorter run there is none and zeros are printed. With -v twice the lifetimes of the
connections are a histogram with bins of 1 ms.
"""

from collections.abc import Sequence

from backend.formats.httperf.command import Command, command_of, joined
from backend.formats.httperf.report import BURST, TOTAL, Report
from backend.formats.model import Entry, FormatError
from backend.formats.refusals import read_or_refuse
from backend.formats.runs import of_lines
from backend.formats.text import Line, Source

# The parts of a run, in order.
COMMAND, BURSTS, TOTALS = range(3)
MARKS = ("Maximum connect burst length:", "test-duration", "send-buffer=")
ENDS = ("Errors: fd-unavail",)


def claims(source: Source) -> str | None:
    """Why this is httperf's output, or None."""
    for line in source.lines:
        if line.text.startswith(TOTAL) and "replies" in line.text:
            return f"line {line.number} has httperf's totals"
        if line.text.startswith(BURST):
            return f"line {line.number} has httperf's connect burst length"
        command = command_of(line)
        if command is not None and command.is_echo:
            return f"line {line.number} is the command as httperf prints it"
    return None


def read(sources: Sequence[Source]) -> list[Entry]:
    """Every run in the sources, in order."""
    runs = [
        of_lines(read_or_refuse(Report(block, command).trial), block)
        for source in sources
        for block, command in _runs(joined(_sure_lines(source)))
    ]
    if not runs:
        raise FormatError(
            "The httperf output is cut off in its first line.",
            line=sources[0].artefact.first_line,
            found=sources[0].first_line,
            expected="the whole report, on lines as httperf printed it",
        )
    return runs


def _sure_lines(source: Source) -> list[Line]:
    """The lines, without a last one that may have been cut off within a number."""
    lines = source.lines
    if source.text.endswith(("\n", "\r")) or lines[-1].text.startswith("Errors: fd-unavail"):
        return lines
    return lines[:-1]


def _runs(lines: Sequence[Line]) -> list[tuple[list[Line], Command]]:
    """The lines of each run and its command, which is empty if the text has none.

    A run begins where something stands that comes earlier in a run than what stood before.
    """
    runs: list[tuple[list[Line], Command]] = []
    reached = TOTALS
    for line in lines:
        command = command_of(line)
        place = _place(line, command)
        if place is not None:
            if place <= reached and not _is_echo(runs, reached, command):
                runs.append(([], Command()))
            if command is not None:
                runs[-1] = (runs[-1][0], command)
            reached = place
        if runs:
            runs[-1][0].append(line)
    return [run for run in runs if run[1].is_echo or _place_of_any(run[0])]


def _place(line: Line, command: Command | None) -> int | None:
    """Where in a run such a line stands; None for those that do not begin a part of it."""
    if command is not None:
        return COMMAND
    if line.text.startswith(BURST):
        return BURSTS
    return TOTALS if line.text.startswith(TOTAL) else None


def _place_of_any(block: Sequence[Line]) -> bool:
    return any(line.text.startswith((BURST, TOTAL)) for line in block)


def _is_echo(
    runs: Sequence[tuple[list[Line], Command]], reached: int, command: Command | None
) -> bool:
    """Whether a command is httperf's echo of the one that stands right before it."""
    if not runs or reached != COMMAND or command is None:
        return False
    typed = runs[-1][1]
    return not typed.is_echo or typed.options.items() <= command.options.items()
