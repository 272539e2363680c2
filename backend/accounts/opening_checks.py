"""Looking at a workspace before people outside of it may read it.

Layers above add to OPENING_CHECKS what they know of the workspace, such as texts with secrets.
"""

from collections.abc import Callable

from backend.accounts.models import Workspace

# Each is called in the transaction that makes the workspace public or gives it a link, before it
# locks a row; what it raises refuses that.
OPENING_CHECKS: list[Callable[[Workspace], None]] = []


def check_opening(workspace: Workspace) -> None:
    """Raises what the checks raise."""
    for check in OPENING_CHECKS:
        check(workspace)
