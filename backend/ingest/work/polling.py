"""Each worker process looks for work by itself, so that a lost hint or broker costs seconds.

The look is one query by the database's clock: neither the broker nor the clock of this machine has
a part in it. It happens in a thread of the worker's process, beside the one that follows hints.
"""

from collections.abc import Callable

from backend.ingest.work.worker import READING, drain


def read_due(is_stopping: Callable[[], bool]) -> None:
    # Where a hint is being followed, that work is done already.
    if not READING.locked():
        drain(is_stopping=is_stopping)
