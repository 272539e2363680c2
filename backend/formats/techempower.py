"""A raw file of TechEmpower's framework benchmarks: a head before each output of wrk or weighttp.

    ---------------------------------------------------------
     Concurrency: 8 for netty
     wrk -H 'Connection: keep-alive' -d 15 -c 8 -t 8 http://172.16.98.122:8080/
    ---------------------------------------------------------

The framework is the server. Its primer and its warm-up are warm-ups. The path TEST/FRAMEWORK/raw of
a file in an archive says the test, which is the workload.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from backend.formats.model import ParsedTrial, RawArtefact
from backend.formats.text import Line, Source

MARK = "-" * 40
RAW = "raw"
# Two rules with a title and a command between them.
HEAD_LINES = 4
LONGEST_NAME = 150
TITLE = re.compile(r"(?:Running (Primer|Warmup)|(Concurrency|Queries): (\d{1,9}) for) (\S.*)")
KEEPALIVE = "Connection: keep-alive"


@dataclass(frozen=True, slots=True)
class HeadedOutput:
    """An output and what its head says. `queries`: in each request, where the test varies them."""

    source: Source
    lines: tuple[int, int]
    framework: str
    command: str
    is_warmup: bool
    test: str | None = None
    queries: int | None = None

    def described(self, trial: ParsedTrial) -> ParsedTrial:
        """The trial with what the head says of it."""
        return replace(
            trial,
            lines=self.lines,
            command=self.command,
            server={"name": self.framework},
            workload=self._workload(),
            is_warmup=self.is_warmup,
        )

    def _workload(self) -> dict[str, Any]:
        workload: dict[str, Any] = {"keepalive": True} if KEEPALIVE in self.command else {}
        if self.test is None:
            return workload
        name = self.test if self.queries is None else f"{self.test}, {self.queries} queries"
        return {"name": name, **workload}


def headed_outputs(source: Source) -> list[HeadedOutput]:
    """The outputs of a raw file in order, without empty ones; none for a file of another kind."""
    if source.is_binary or source.is_log or MARK not in source.text:
        return []
    lines = source.lines
    heads = list(_heads(lines))
    starts = [at for at, _ in heads]
    outputs = (
        _output(source, lines[at + 1 : at + HEAD_LINES - 1], title, (at + HEAD_LINES, end))
        for (_, title), (at, end) in zip(heads, pairwise([*starts, len(lines)]), strict=True)
    )
    return [output for output in outputs if not output.source.is_empty]


def _heads(lines: Sequence[Line]) -> Iterator[tuple[int, re.Match[str]]]:
    """The place of the first rule of each head, and its title."""
    rules = [at for at, line in enumerate(lines) if _is_rule(line.text)]
    for first, last in pairwise(rules):
        title = TITLE.fullmatch(lines[first + 1].text)
        if last - first == HEAD_LINES - 1 and title is not None:
            yield first, title


def _is_rule(text: str) -> bool:
    return text.startswith(MARK) and not text.strip("-")


def _output(
    source: Source, head: Sequence[Line], title: re.Match[str], place: tuple[int, int]
) -> HeadedOutput:
    warmup, kind, level, framework = title.groups()
    start, end = place
    text = "".join(f"{line.text}\n" for line in source.lines[start:end])
    first_line = source.lines[start].number if start < end else 1
    piece = RawArtefact.of(source.artefact.name, text.encode(errors="replace"))
    return HeadedOutput(
        source=Source(replace(piece, first_line=first_line)),
        lines=(head[0].number - 1, source.lines[end - 1].number),
        framework=framework[:LONGEST_NAME],
        command=head[-1].text,
        is_warmup=warmup is not None,
        test=_test_of(source.artefact.name),
        queries=int(level) if kind == "Queries" else None,
    )


def _test_of(path: str) -> str | None:
    """The test that the path of a raw file says; None for a file without its folders."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    return parts[-3][:LONGEST_NAME] if len(parts) >= 3 and parts[-1] == RAW else None
