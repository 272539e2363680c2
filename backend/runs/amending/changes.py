"""What reading a run again changed: figure by figure, before and after."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from backend.runs.models import Trial

FIGURES = (
    *("elapsed_s", "requests_completed", "requests_ok", "bytes_received", "throughput_rps"),
    *(
        "goodput_rps",
        "attempts",
        "failed",
        "error_rate",
        "reported_rps",
        "errors",
        "tool_errors",
        "status_counts",
    ),
    *("latency_mean_us", "latency_min_us", "latency_max_us", "percentiles_us"),
    *("percentiles_origin", "latency_resolution_us", "incomplete", "error"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of one trial that another reading gave differently; None is unknown."""

    ordinal: int
    figure: str
    before: Any
    after: Any


def changes_between(old: Sequence[Trial], new: Sequence[Trial]) -> list[Change]:
    """Every difference, trial by trial in the order of their ordinals."""
    before = {trial.ordinal: trial for trial in old}
    after = {trial.ordinal: trial for trial in new}
    return [
        change
        for ordinal in sorted(before.keys() | after.keys())
        for change in _of_trial(ordinal, before.get(ordinal), after.get(ordinal))
    ]


def _of_trial(ordinal: int, old: Trial | None, new: Trial | None) -> Iterator[Change]:
    if old is None or new is None:
        yield Change(ordinal, "trial", _presence(old), _presence(new))
        return
    for figure in FIGURES:
        before, after = getattr(old, figure), getattr(new, figure)
        if before != after:
            yield Change(ordinal, figure, before, after)
    before, after = _check_ids(old), _check_ids(new)
    if before != after:
        yield Change(ordinal, "checks", before, after)
    if bytes(old.histogram or b"") != bytes(new.histogram or b""):
        yield Change(ordinal, "histogram", _presence(old.histogram), _presence(new.histogram))


def _presence(thing: object) -> str | None:
    return None if thing is None else "present"


def _check_ids(trial: Trial) -> list[str]:
    return sorted({stored["id"] for stored in trial.checks})
