"""TechEmpower's results.json held against the outputs beside it.

    {"frameworks": ["gemini", …], "rawData": {"json": {"0": [{"totalRequests": 123, …}, …]}}}

A test has the results of each framework, by the place of its name, in the order of the loads.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from backend.formats.archive_facts import (
    NO_FACTS,
    ArchiveFacts,
    UnreadableFile,
    files_named,
    limited,
    read_object,
)
from backend.formats.archive_texts import TECHEMPOWER_NOTES
from backend.formats.model import ParsedTrial, RawArtefact
from backend.formats.techempower import RAW

SUMMARY = "results.json"
TITLE = "a results.json of TechEmpower"
_QUERIES = re.compile(r", \d+ queries$")
# The test and the framework.
Key = tuple[str, str]


class Summary(NamedTuple):
    """What is read of a results.json."""

    frameworks: list[str]
    raw_data: dict[str, Any]

    def levels(self) -> dict[Key, Sequence[Mapping[str, Any]]]:
        """The results of each test and framework, in the order of the loads."""
        return {
            (test, self._name_of(number)): [each for each in levels if isinstance(each, dict)]
            for test, by_framework in self.raw_data.items()
            if isinstance(by_framework, dict)
            for number, levels in by_framework.items()
            if levels and isinstance(levels, list)
        }

    def _name_of(self, number: str) -> str:
        """The framework at this place; later rounds have the name itself."""
        is_place = number.isascii() and number.isdigit() and len(number) < 6
        place = int(number) if is_place else len(self.frameworks)
        return self.frameworks[place] if place < len(self.frameworks) else number


def facts_of(artefacts: Sequence[RawArtefact], trials: Sequence[ParsedTrial]) -> ArchiveFacts:
    """What the archive says beside its outputs; nothing of an archive of another kind."""
    if not files_named(artefacts, RAW) or not all(trial.server for trial in trials):
        return NO_FACTS
    return ArchiveFacts(
        TECHEMPOWER_NOTES, limited(_remarks(files_named(artefacts, SUMMARY), trials))
    )


def _remarks(summaries: Sequence[RawArtefact], trials: Sequence[ParsedTrial]) -> Iterator[str]:
    if len(summaries) > 1:
        yield (
            f"The archive has {len(summaries)} files named {SUMMARY}. They are not held against "
            "the outputs. Upload each folder of results alone."
        )
    if len(summaries) == 1:
        try:
            document = read_object(summaries[0], TITLE)
            yield from _differences(_summary_of(document), _counts(trials))
        except UnreadableFile as unreadable:
            yield str(unreadable)


def _summary_of(document: Mapping[str, Any]) -> Summary:
    frameworks, raw_data = document.get("frameworks"), document.get("rawData")
    if not isinstance(frameworks, list) or not isinstance(raw_data, dict):
        raise UnreadableFile(f"{SUMMARY} is not {TITLE}: not read.")
    return Summary([str(name) for name in frameworks], raw_data)


def _counts(trials: Sequence[ParsedTrial]) -> dict[Key, list[int | None]]:
    """The requests that each output counts, warm-ups left out, by test and framework."""
    counts: dict[Key, list[int | None]] = {}
    for trial in trials:
        if not trial.is_warmup:
            test = _QUERIES.sub("", str(trial.workload.get("name") or ""))
            counts.setdefault((test, trial.server["name"]), []).append(_requests_of(trial))
    return counts


def _requests_of(trial: ParsedTrial) -> int | None:
    """The number that wrk prints, and the total of weighttp."""
    return trial.requested_requests if trial.tool == "weighttp" else trial.requests_completed


def _differences(summary: Summary, counts: Mapping[Key, Sequence[int | None]]) -> Iterator[str]:
    levels = summary.levels()
    for key, measured in counts.items():
        yield from _compared(key, levels.get(key, ()), measured)
    if absent := len(levels.keys() - counts.keys()):
        yield (
            f"Tests of a framework that are in {SUMMARY} alone: {absent:,}. Their outputs are not "
            "in the archive, or cannot be read."
        )


def _compared(
    key: Key, levels: Sequence[Mapping[str, Any]], measured: Sequence[int | None]
) -> Iterator[str]:
    test, framework = key
    place = f"{framework[:150]}, {test[:150] or 'unknown test'}"
    if len(levels) != len(measured):
        yield (
            f"{place}: the number of results is {len(levels):,} in {SUMMARY} and "
            f"{len(measured):,} in the raw file."
        )
        return
    for number, (level, requests) in enumerate(zip(levels, measured, strict=True), 1):
        total = level.get("totalRequests")
        if total != requests:
            yield (
                f"{place}, result {number}: the number of requests is {_count_text(total)} in "
                f"{SUMMARY} and {_count_text(requests)} in the raw file."
            )


def _count_text(count: object) -> str:
    """Such as 12,345; `unknown` for everything that is no count."""
    is_count = isinstance(count, int) and not isinstance(count, bool)
    return f"{count:,}"[:40] if is_count else "unknown"
