"""What scripts/start tells the person who started it."""

import time

STARTED = time.monotonic()


def say(line: str) -> None:
    """Print a line with the seconds since the start."""
    print(f"[{time.monotonic() - STARTED:5.1f} s] {line}", flush=True)
