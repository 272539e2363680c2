"""Whether a service stays as fast while its tables grow: its rate over each tenth of uploads."""

import time
from collections.abc import Callable, Sequence

from backend.testing.service.memory import POINTS

# A last tenth of this share of the first is within what a machine varies.
FLAT_RATIO = 0.9


def rates_over(
    count: int,
    send: Callable[[int], int],
    *,
    say: Callable[[str], object],
    clock: Callable[[], float] = time.monotonic,
) -> list[float]:
    """Uploads a second over each tenth of `count`.

    `send` sends so many, waits until they are read and returns how many there were; `say` takes a
    line for each tenth.
    """
    rates, uploads = [], 0
    for _ in range(POINTS):
        began = clock()
        sent = send(count // POINTS)
        uploads += sent
        rates.append(sent / (clock() - began))
        say(f"{uploads:>9,} uploads: {rates[-1]:.0f}/s")
    return rates


def ratio(rates: Sequence[float]) -> float:
    """The last rate in times of the first."""
    return rates[-1] / rates[0]
