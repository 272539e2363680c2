"""What a costly search found in a workspace, kept in this process until its data change.

Who reads what is kept needs no slot (viewer_slots.py): many may read one page of a public
workspace.
"""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

from backend.accounts.models import Workspace
from backend.analysis.loading.large_runs import hold_slot_if_workspace_large
from backend.runs.database.kept_findings import Findings

T = TypeVar("T")
MOST = 1_000

_findings: Findings[Any] = Findings(most=MOST)


def find(workspace: Workspace, question: Hashable, search: Callable[[], T], *, viewer: str) -> T:
    """What `search` returns of the workspace, kept until its data change.

    A large workspace is searched in a slot of the viewer. Raises TooManyAnswers and AnswersBusy.
    """

    take_slot = partial(hold_slot_if_workspace_large, workspace.pk, viewer=viewer)
    finding: T = _findings.get(
        (workspace.pk, question), workspace.data_version, search, take_slot=take_slot
    )
    return finding


def forget() -> None:
    """Keep nothing of what `find` found."""
    _findings.forget()
