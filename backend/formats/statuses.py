"""What a status means, the same for every tool: decision 0020.

A response with 2xx or 3xx did not fail. A redirect is no error of the server, though not the page
either: where a tool counts redirects, a check tells them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# As tools print them; most tools count no response of 1xx.
CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
FINAL_CLASSES = CLASSES[1:]


def by_status(counts: NDArray[Any]) -> dict[str, int]:
    """The counts of those statuses that there were; the array has a place for each status."""
    return {str(status): int(counts[status]) for status in np.flatnonzero(counts)}


def succeeded(statuses: Mapping[str, int]) -> int:
    """How many responses have 2xx or 3xx; the keys are statuses ("302") or classes ("3xx")."""
    return sum(count for status, count in statuses.items() if status.startswith(("2", "3")))


def failed(statuses: Mapping[str, int]) -> int:
    """How many responses have 4xx, 5xx or a status that HTTP does not have."""
    return sum(
        count for status, count in statuses.items() if not status.startswith(("1", "2", "3"))
    )


def redirects(statuses: Mapping[str, int]) -> int:
    """How many responses have 3xx, but for 304, which sends the client nowhere."""
    sent_on = (status for status in statuses if status.startswith("3") and status != "304")
    return sum(statuses[status] for status in sent_on)
