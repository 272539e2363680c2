"""A results tree of the TechEmpower framework benchmarks.

    <results>/<test type>/<framework>/raw     what the load tool printed, one output after another
    <results>/results.json                    the project's own figures, where it kept them

A raw file has a head before each output: a primer, a warm-up, then one output for each number of
connections or of queries. Primer and warm-up are warm-up trials, the test type is the workload and
the framework is the server.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import UsageError
from loadsheet_agent.imports.archive_texts import TECHEMPOWER_NOTES
from loadsheet_agent.imports.imported_run import ImportedRun

ARCHIVE = "techempower"
# At most so many are in one envelope; more are further runs.
TRIALS_PER_RUN = 4_000
# Of a name in a sentence.
LONGEST = 150
RAW = "raw"
SUMMARY = "results.json"
_RULE = re.compile(r"^-{20,}$", re.MULTILINE)
_HEAD = re.compile(r"(?:Running (Primer|Warmup)|(Concurrency|Queries): (\d+) for) \S")
# wrk's count of requests, and that of weighttp.
_TOTAL = re.compile(r"^ *(\d+) requests in |^requests: (\d+) total", re.MULTILINE)
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]")


@dataclass(frozen=True)
class Output:
    """What the load tool printed once. `queries`: in each request, where the test varies them."""

    test: str
    framework: str
    kind: str
    level: int | None
    command: tuple[str, ...]
    text: str

    @property
    def is_warmup(self) -> bool:
        return self.kind in ("Primer", "Warmup")

    @property
    def total(self) -> int | None:
        """The number of requests that the text prints."""
        match = _TOTAL.search(self.text)
        return None if match is None else int(match.group(1) or match.group(2))


@dataclass(frozen=True)
class Results:
    """One folder of results: a run of all frameworks."""

    name: str
    outputs: tuple[Output, ...]
    # Where results.json and the outputs say different things, as sentences.
    differences: tuple[str, ...] = ()


def runs_of(directory: Path) -> list[ImportedRun]:
    """The runs of the results tree. Raises UsageError where it has no results."""
    return [_run(part) for results in read_results(directory) for part in parts_of(results)]


def parts_of(results: Results) -> Iterator[Results]:
    """The results in runs that an envelope can hold; a framework is never divided."""
    part: list[Output] = []
    for outputs in _by_framework(results.outputs).values():
        if part and len(part) + len(outputs) > TRIALS_PER_RUN:
            yield Results(results.name, tuple(part), results.differences)
            part = []
        part += outputs
    if part:
        yield Results(results.name, tuple(part), results.differences)


def _by_framework(outputs: Iterable[Output]) -> dict[tuple[str, str], list[Output]]:
    """The outputs by test and framework."""
    groups: dict[tuple[str, str], list[Output]] = {}
    for output in outputs:
        groups.setdefault((output.test, output.framework), []).append(output)
    return groups


def _run(part: Results) -> ImportedRun:
    names = [file_name(output, number) for number, output in enumerate(part.outputs)]
    trials = [
        _trial(number, name, output)
        for number, (name, output) in enumerate(zip(names, part.outputs))
    ]
    return ImportedRun(
        name=part.name,
        archive=ARCHIVE,
        notes=TECHEMPOWER_NOTES,
        trials=len(trials),
        files={name: output.text.encode() for name, output in zip(names, part.outputs)},
        remarks=part.differences,
        members={"trials": trials},
    )


def _trial(ordinal: int, name: str, output: Output) -> dict[str, Any]:
    return {
        "ordinal": ordinal,
        "artefacts": [name],
        "server": {"name": output.framework},
        "workload": workload_of(output),
        "command": list(output.command),
        "warmup": output.is_warmup,
        "phase": "warmup" if output.is_warmup else "measure",
    }


def read_results(directory: Path) -> list[Results]:
    """Every folder of results below the directory, by name. Raises UsageError without any."""
    raw_files: dict[Path, list[Path]] = {}
    for path in sorted(directory.rglob(RAW)):
        if path.is_file():
            raw_files.setdefault(path.parent.parent.parent, []).append(path)
    if not raw_files:
        raise UsageError(
            f"{directory} has no results of TechEmpower; expected files named "
            "TEST/FRAMEWORK/raw in it or below it."
        )
    return [_read_folder(folder, directory, paths) for folder, paths in sorted(raw_files.items())]


def _read_folder(folder: Path, directory: Path, paths: Sequence[Path]) -> Results:
    outputs = tuple(output for path in paths for output in outputs_of(path))
    name = str(folder.relative_to(directory.parent)) if folder != directory else directory.name
    return Results(name, outputs, tuple(_differences(folder / SUMMARY, outputs)))


def outputs_of(path: Path) -> Iterator[Output]:
    """The outputs of one raw file; a head without an output gives none."""
    pieces = _RULE.split(path.read_text(encoding="utf-8", errors="replace"))
    framework, test = path.parent.name, path.parent.parent.name
    for head, text in zip(pieces, pieces[1:]):
        match = _HEAD.search(head)
        if match is not None and text.strip():
            primer, kind, level = match.groups()
            yield Output(
                test=test,
                framework=framework,
                kind=primer or kind,
                level=None if level is None else int(level),
                command=_command(head),
                text=text.strip("\n") + "\n",
            )


def _command(head: str) -> tuple[str, ...]:
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    try:
        return tuple(shlex.split(lines[-1]))
    except ValueError:
        return ()


def _differences(summary: Path, outputs: Sequence[Output]) -> Iterator[str]:
    """Where the project's own counts of requests are not those of the outputs."""
    if not summary.is_file():
        return
    try:
        document = json.loads(summary.read_text(encoding="utf-8"))
        names, tests = [str(name) for name in document["frameworks"]], dict(document["rawData"])
    # RecursionError: thousands of lists in one another.
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{summary} is not a results.json of TechEmpower ({error}).") from error
    measured = _by_framework(output for output in outputs if not output.is_warmup)
    for test, number, levels in _results_of(tests):
        framework = _name_of(number, names)
        if framework is None:
            yield (
                f"{test[:LONGEST]}: {SUMMARY} has results of framework {number[:LONGEST]}, but not "
                "its name."
            )
        else:
            yield from _compared(test, framework, levels, measured.get((test, framework), []))


def _results_of(tests: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Mapping[str, Any]]]]:
    """The test, the framework's place or name, and its results in the order of the loads."""
    for test, by_framework in tests.items():
        if isinstance(by_framework, dict):
            for number, levels in by_framework.items():
                if isinstance(levels, list):
                    yield test, number, [level for level in levels if isinstance(level, dict)]


def _name_of(number: str, names: Sequence[str]) -> str | None:
    """The framework at this place, None if the place has no name; later rounds have the name
    itself.
    """
    if not (number.isascii() and number.isdigit()):
        return number
    place = int(number) if len(number) < 6 else len(names)
    return names[place] if place < len(names) else None


def _compared(
    test: str, framework: str, levels: Sequence[Mapping[str, Any]], outputs: Sequence[Output]
) -> Iterator[str]:
    place = f"{framework[:LONGEST]}, {test[:LONGEST]}"
    if len(levels) != len(outputs):
        yield (f"{place}: {SUMMARY} has {len(levels)} results, the raw file has {len(outputs)}.")
        return
    for level, output in zip(levels, outputs):
        total = level.get("totalRequests")
        if not isinstance(total, int):
            total = None
        if total != output.total:
            yield (
                f"{place}, {output.kind.lower()} {output.level}: {SUMMARY} has "
                f"{_count(total)} requests, the raw file has {_count(output.total)}."
            )


def _count(total: int | None) -> str:
    return "an unknown number of" if total is None else str(total)


def workload_of(output: Output) -> dict[str, Any]:
    """The workload as an envelope has it. The path differs between frameworks and is left out."""
    name = output.test
    if output.kind == "Queries":
        name = f"{name}, {output.level} queries"
    workload: dict[str, Any] = {"name": name}
    if "Connection: keep-alive" in output.command:
        workload["keepalive"] = True
    return workload


def file_name(output: Output, number: int) -> str:
    """The name of its artefact, different for each number."""
    words = (str(number), output.test, output.framework, output.kind.lower(), output.level)
    return (
        _UNSAFE.sub("_", "-".join(str(word) for word in words if word is not None))[:180] + ".txt"
    )
