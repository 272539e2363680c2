"""What the messenger of a worker does, until nothing is due."""

from collections.abc import Callable

from backend.alerts.pending import judge_next
from backend.deliveries.queue import send_next


def judge_due() -> int:
    """Judge the runs that wait; how many."""
    return _work_off(judge_next)


def send_due() -> int:
    """Send the messages that are due; how many."""
    return _work_off(send_next)


def _work_off(work_next: Callable[[], bool]) -> int:
    return sum(1 for _ in iter(work_next, False))
