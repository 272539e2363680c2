"""Looking at a run again after members changed what is written about it.

Layers above add to TEXT_CHECKS what they know of the run, such as that others may read it.
"""

from collections.abc import Callable

from backend.runs.models import Run

# Each is called in the transaction of the change, with the run locked; what it raises refuses it.
TEXT_CHECKS: list[Callable[[Run], None]] = []


def check_texts(run: Run) -> None:
    """Raises what the checks raise."""
    for check in TEXT_CHECKS:
        check(run)
