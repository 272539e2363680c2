"""What scripts/start tells the person who started it."""

import contextlib
import time

STARTED = time.monotonic()


def say(line: str) -> None:
    """Print a line with the seconds since the start. Raises nothing where it cannot be printed.

    Lines go to a file on a full disk, or to a pipe that nobody reads any more: the site goes on.
    """
    # A ValueError is a stream that is closed, or a terminal that lacks a letter.
    with contextlib.suppress(OSError, ValueError):
        print(f"[{time.monotonic() - STARTED:5.1f} s] {line}", flush=True)
