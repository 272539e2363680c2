"""Looking at a workspace before people outside of it may read it.

Layers above add to the lists what they know of the workspace, such as texts with secrets.
"""

from collections.abc import Callable, Iterable

from backend.accounts.models import Workspace

# What a check raises refuses that the workspace becomes public or gets a link.
OpeningCheck = Callable[[Workspace], None]
# Each is called in the transaction that opens the workspace, before it locks a row: it may take
# seconds.
OPENING_CHECKS: list[OpeningCheck] = []
# Each is called with the workspace locked: what it finds holds until the transaction ends.
LOCKED_OPENING_CHECKS: list[OpeningCheck] = []


def check_opening(workspace: Workspace, checks: Iterable[OpeningCheck] = OPENING_CHECKS) -> None:
    """Raises what the checks raise."""
    for check in checks:
        check(workspace)
