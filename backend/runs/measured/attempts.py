"""How many attempts a trial made, and how many of them failed. Pure: no Django."""

from collections.abc import Mapping

from backend.formats.model import UNANSWERED_CLASSES


def error_rate(
    completed: int | None, ok: int | None, errors: Mapping[str, int | None]
) -> float | None:
    """Failed attempts / attempts, or None when the tool does not tell what succeeded."""
    counts = attempts(completed, ok, errors)
    return counts[0] / counts[1] if counts and counts[1] else None


def attempts(
    completed: int | None, ok: int | None, errors: Mapping[str, int | None]
) -> tuple[int, int] | None:
    """Failed attempts and attempts, or None when the tool does not tell what succeeded.

    `ok` are the successes among `completed`; the tools' unanswered attempts come on top, except
    where a tool counts a late answer (timeout) or a receive error among the completed as well:
    then ok already misses it, and an attempt is never counted twice.
    """
    if completed is None or ok is None:
        return None
    # Most trials: nothing failed.
    if completed == ok and not any(errors.values()):
        return 0, completed
    unanswered = sum([errors.get(name) or 0 for name in UNANSWERED_CLASSES])
    failed_completed = max(completed - ok, 0)
    status = errors.get("status") or 0
    counted_inside = max(failed_completed - status, 0)
    outside = max(unanswered - counted_inside, 0)
    return failed_completed + outside, completed + outside
