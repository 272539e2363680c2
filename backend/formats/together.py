"""Joins readings of one trial from several artefacts, without averaging."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from backend.formats.model import FIGURES, Entry, FormatError, Latency, ParsedTrial
from backend.formats.refusals import not_one_trial
from backend.formats.text import Source

Item = TypeVar("Item")
# What the artefacts of one trial must agree on, whatever they round.
EXACT = ("tool_version", "loop", "connections", "requests_completed", "requests_ok")
DISTRIBUTION = ("latency_origin", "latency_resolution_us", "samples", "histogram")


def joined(trials: Sequence[tuple[str, ParsedTrial]]) -> ParsedTrial:
    """One trial of several readings of it, each with its artefact's name, the best first.

    A figure comes from the first that has it. Where a later one contradicts a count, that is a
    disagreement. The latencies of every request come from the first that has them.
    """
    (best_name, best), *others = trials
    for name, other in others:
        contradictions = tuple(_contradictions(best_name, best, name, other))
        best = replace(
            _filled(best, other),
            disagreements=best.disagreements + other.disagreements + contradictions,
            incomplete=best.incomplete or other.incomplete,
        )
    return best


def with_samples(
    trial: ParsedTrial, rows: ParsedTrial, disagreements: Iterable[str]
) -> ParsedTrial:
    """The trial with the latency of every request, and how the two contradict each other."""
    samples: dict[str, Any] = {field: getattr(rows, field) for field in DISTRIBUTION}
    return replace(
        trial,
        timeline=rows.timeline or trial.timeline,
        disagreements=(*trial.disagreements, *disagreements),
        **samples,
    )


def one_of(readings: Sequence[Entry]) -> ParsedTrial:
    """The only run of an artefact; raises FormatError for a refused one, or for several."""
    if len(readings) != 1:
        raise not_one_trial(
            found=f"{len(readings)} runs in one of them",
            expected="several files of one trial, or one file with several runs",
        )
    if isinstance(readings[0], FormatError):
        raise readings[0]
    return readings[0]


def runs_of_one(
    read: Callable[[Source], list[Entry]], sources: Sequence[Source], *, tool: str, expected: str
) -> list[Entry]:
    """The runs of the one source that has any; raises FormatError where none has, or several."""
    runs_by_file = [runs for source in sources if (runs := read(source))]
    if len(runs_by_file) != 1:
        raise FormatError(
            f"The {tool} files have no result, or several.",
            found=", ".join(source.artefact.name for source in sources),
            expected=expected,
        )
    return runs_by_file[0]


def split_sources(
    sources: Sequence[Source], *tests: Callable[[Source], object]
) -> list[list[Source]]:
    """The sources by the first test that holds for each, one list a test; the rest as the last."""
    groups: list[list[Source]] = [[] for _ in (*tests, None)]
    for source in sources:
        place = next((at for at, holds in enumerate(tests) if holds(source)), len(tests))
        groups[place].append(source)
    return groups


def read_each(read: Callable[[Source], Iterable[Item]], sources: Sequence[Source]) -> list[Item]:
    """What `read` gives of every source, in order."""
    return [item for source in sources for item in read(source)]


def _contradictions(
    name: str, best: ParsedTrial, other_name: str, other: ParsedTrial
) -> Sequence[str]:
    pairs = [(field, getattr(best, field), getattr(other, field)) for field in EXACT]
    return [
        f"{field} is {first} in {name} and {second} in {other_name}"
        for field, first, second in pairs
        if first is not None and second is not None and first != second
    ]


def _filled(best: ParsedTrial, other: ParsedTrial) -> ParsedTrial:
    """The best reading, with what only the other one has."""
    changes: dict[str, Any] = {field: getattr(other, field) for field in _missing(best, other)}
    counted = {name: count for name, count in best.errors.items() if count is not None}
    return replace(
        best,
        errors={**other.errors, **counted},
        tool_errors={**other.tool_errors, **best.tool_errors},
        extra={**other.extra, **best.extra},
        **changes,
    )


def _missing(best: ParsedTrial, other: ParsedTrial) -> list[str]:
    """The fields to take from the other reading."""
    names = (*FIGURES, "server_software", "status_counts")
    fields = [field for field in names if getattr(best, field) is None]
    if best.latency == Latency():
        fields.append("latency")
    if best.histogram is None and (other.histogram is not None or best.latency_origin is None):
        fields += DISTRIBUTION
    if best.elapsed_s is None:
        fields.append("exact_elapsed_s")
    if best.outcome.failed is None:
        fields += ("attempts", "failed")
    return fields if best.timeline else [*fields, "timeline"]
