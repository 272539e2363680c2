"""The failed trials of a run, by what failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_GROUPS = 5


@dataclass(frozen=True, slots=True)
class Failure:
    """Trials of one server and workload that failed for one reason, in order."""

    server: str
    workload: str
    reason: str
    trials: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Failures:
    """How many of the `total` trials failed, and the groups that have most of them."""

    failed: int
    total: int
    groups: Sequence[Failure]
    # Trials of further groups.
    others: int


def failures_of(trials: Sequence[Mapping[str, Any]]) -> Failures | None:
    """The failed trials among `trials`, as `describe_run` lists them; None if none failed."""
    by_reason: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for trial in trials:
        if trial["error"]:
            key = (trial["server"], trial["workload"], trial["error"])
            by_reason.setdefault(key, []).append(trial)
    if not by_reason:
        return None
    failures = [Failure(*key, failed) for key, failed in by_reason.items()]
    failures.sort(key=lambda failure: -len(failure.trials))
    counts = [len(failure.trials) for failure in failures]
    return Failures(
        sum(counts), len(trials), failures[:MOST_GROUPS], others=sum(counts[MOST_GROUPS:])
    )
