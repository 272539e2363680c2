"""Joins readings of one trial from several artefacts, without averaging.

A part never outranks the whole: the rows of a log that hold fewer than 99 % of the requests that a
report counts are evidence, and the figures are the report's.
"""

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
# Below this share of the requests that a report counts, rows are a part: the head or the tail of a
# log, which may hold its fastest requests alone.
WHOLE_SHARE = 0.99
COUNTS = ("requests_completed", "requests_ok")
# What is true of all requests though it stands beside a part of them.
DESCRIPTION = ("tool_version", "url", "server_software")


def joined(trials: Sequence[tuple[str, ParsedTrial]]) -> ParsedTrial:
    """One trial of several readings of it, each with its artefact's name, the best first.

    A figure comes from the first that has it. Where a later one contradicts a count, that is a
    disagreement. The latencies of every request come from the first that has them. A reading of a
    part of the requests gives no figure.
    """
    (best_name, best), *others = wholes_of(trials)
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
    """The trial with the latency of every request, and how the two contradict each other.

    Without the latencies where the rows are a part of the requests.
    """
    if not covers(rows, trial):
        return with_part_noted(trial, rows, disagreements)
    samples: dict[str, Any] = {field: getattr(rows, field) for field in DISTRIBUTION}
    return replace(
        trial,
        timeline=rows.timeline or trial.timeline,
        disagreements=(*trial.disagreements, *disagreements),
        **samples,
    )


def covers(part: ParsedTrial, whole: ParsedTrial) -> bool:
    """Whether rows hold the requests that another reading counts, or nobody can tell."""
    return all(
        counted >= WHOLE_SHARE * of_all for counted, of_all in _counts_of_both(part, whole).values()
    )


def with_part_noted(
    whole: ParsedTrial, part: ParsedTrial, disagreements: Iterable[str]
) -> ParsedTrial:
    """The whole, which says how many of its requests the rows beside it hold."""
    counts = _counts_of_both(part, whole)
    name, (counted, of_all) = min(counts.items(), key=lambda item: item[1][0] / max(item[1][1], 1))
    requests = "successful requests" if name == "requests_ok" else "requests"
    sentence = (
        f"The rows beside the report hold {counted:,} of its {of_all:,} {requests}, so the "
        "latencies are those that the report prints."
    )
    described = {name: getattr(whole, name) or getattr(part, name) for name in DESCRIPTION}
    return replace(
        whole,
        partial_samples=sentence,
        disagreements=(*whole.disagreements, *disagreements),
        **described,
    )


def wholes_of(trials: Sequence[tuple[str, ParsedTrial]]) -> list[tuple[str, ParsedTrial]]:
    """The readings without those that are rows of a part of the requests.

    The first of them notes what the others hold.
    """
    are_parts = [_is_part(rows, trials) for _, rows in trials]
    parts = [named for named, is_part in zip(trials, are_parts, strict=True) if is_part]
    wholes = [named for named, is_part in zip(trials, are_parts, strict=True) if not is_part]
    if not parts or not wholes:
        return list(trials)
    (whole_name, whole), *others = wholes
    for name, part in parts:
        if not covers(part, whole):
            contradictions = _contradictions(whole_name, whole, name, part)
            whole = with_part_noted(whole, part, contradictions)
    return [(whole_name, whole), *others]


def _is_part(rows: ParsedTrial, trials: Sequence[tuple[str, ParsedTrial]]) -> bool:
    return rows.histogram is not None and not all(covers(rows, whole) for _, whole in trials)


def _counts_of_both(part: ParsedTrial, whole: ParsedTrial) -> dict[str, tuple[int, int]]:
    """The counts that both have, by name."""
    pairs = ((name, getattr(part, name), getattr(whole, name)) for name in COUNTS)
    return {name: (own, other) for name, own, other in pairs if None not in (own, other)}


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
