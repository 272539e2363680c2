"""How many attempts a trial made and how many of them failed: one rule for every load tool.

What a load tool prints as failed is failed, whether or not the server answered. Where it prints the
failures together, or where its classes overlap, the package passes on both counts as printed. Else
they come from the counts by class.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Attempts and failed attempts; None is unknown."""

    attempts: int | None = None
    failed: int | None = None
    # Where the error rate is unknown: the share of the attempts that failed in any case.
    least_rate: float | None = None

    @property
    def error_rate(self) -> float | None:
        """Failed attempts ÷ attempts; None if one of them is unknown, or without an attempt."""
        return None if self.failed is None else share_of(self.failed, self.attempts)


def outcome_as_printed(attempts: int | None, failed: int, *, client_errors: int) -> Outcome:
    """The outcome of two printed counts. Attempts that failed on the client's own host are left
    out: they never reached the server."""
    reached = None if attempts is None else max(attempts - client_errors, 0)
    lost = max(failed - client_errors, 0)
    return Outcome(reached, lost if reached is None else min(lost, reached))


def outcome_by_class(
    completed: int | None,
    ok: int | None,
    *,
    status: int | None,
    unanswered: Sequence[int | None],
    lists_answers_only: bool,
) -> Outcome:
    """The outcome of counts by class.

    `ok` are the successes among `completed`; the tools' unanswered attempts come on top, except
    where a tool counts a late answer (timeout) or a receive error among the completed as well:
    then ok already misses it, and an attempt is never counted twice.
    """
    if completed is None:
        return Outcome()
    lost, bad = sum(filter(None, unanswered)), status or 0
    if ok is None:
        return Outcome(least_rate=share_of(bad + lost, completed + lost))
    failed_completed = max(completed - ok, 0)
    if lists_answers_only and None in unanswered:
        return Outcome(least_rate=share_of(failed_completed, completed))
    counted_inside = max(failed_completed - bad, 0)
    outside = max(lost - counted_inside, 0)
    return Outcome(completed + outside, failed_completed + outside)


def share_of(part: int, whole: int | None) -> float | None:
    """The quotient; None if the whole is unknown or 0."""
    return part / whole if whole else None
