"""Which runs of a workspace hold what looks like a secret, before others may read them."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.accounts.models import Workspace
from backend.accounts.workspace.turns import payer_of_workspace
from backend.errors import InvalidInput
from backend.links import run_link
from backend.runs.models import Run
from backend.sharing.secret_check import SecretShared, refuse_secrets, typed_texts
from backend.untrusted.sandbox.fair_slots import Busy, OwnerBusy, Slots

# Runs whose texts are read together.
BATCH = 500
# Characters that are searched together: nothing else runs in the process meanwhile.
PIECE = 32 << 10
MOST_LISTED = 20
# A search that takes longer ends: the person who asked waits for it.
MOST_S = 20.0

# A run, the field, and its text.
_Text = tuple[UUID, str, str]


@dataclass(frozen=True, slots=True)
class RunWithSecret:
    """`place`: the field that holds what looks like a secret."""

    run: UUID
    place: str

    @property
    def url(self) -> str:
        """The path of its page."""
        return run_link(self.run)

    @property
    def text(self) -> str:
        return f"{str(self.run)[:8]} ({self.place})"


class NotOpened(InvalidInput):
    """The workspace stays as it is. `runs`: those that hold what looks like a secret."""

    runs: Sequence[RunWithSecret] = ()


class SecretsInWorkspace(NotOpened):
    """`runs`: those that hold what looks like a secret, at most MOST_LISTED;
    `has_more`: there may be others."""

    def __init__(self, runs: Sequence[RunWithSecret], *, has_more: bool) -> None:
        count = f"{'At least ' if has_more else ''}{len(runs)} run{'' if len(runs) == 1 else 's'}"
        verb = "holds" if len(runs) == 1 else "hold"
        listed = ", ".join(row.text for row in runs)
        super().__init__(
            f"{count} of this workspace {verb} what looks like a secret: {listed}.",
            hint="Remove the secret from each run (Edit, or undo the correction or dismissal that "
            "has it), revoke it, and try again.",
        )
        self.runs = runs
        self.has_more = has_more

    @property
    def members(self) -> dict[str, Any]:
        """The runs, each with its field."""
        rows = [{"id": str(row.run), "url": row.url, "field": row.place} for row in self.runs]
        return {"runs": rows, "has_more": self.has_more}


class SearchTooLong(NotOpened):
    """Its texts were not all searched in time."""

    def __init__(self) -> None:
        super().__init__(
            "The texts of this workspace could not be searched for secrets in "
            f"{MOST_S:.0f} s, so it stays as it is.",
            hint="The workspace has many notes and labels, or the service is busy: try again.",
        )


class SearchesOfOne(OwnerBusy):
    """A workspace of the same owner is being searched. The same request works later."""

    sentence = "The texts of a workspace of yours are being searched."


class SearchesBusy(Busy):
    """Workspaces of others are being searched. The same request works later."""

    sentence = "The service is searching other workspaces."


# A search takes the processor for seconds.
SEARCHES = Slots(running=1, waiting=2, of_owner=1, refusals=(SearchesOfOne, SearchesBusy))


def refuse_secrets_of_workspace(workspace: Workspace) -> None:
    """Raise SecretsInWorkspace where people outside would read a secret that a member typed.

    What was uploaded came without secrets. Raises SearchTooLong, SearchesOfOne and SearchesBusy.
    """
    with SEARCHES.take(payer_of_workspace(workspace.pk)):
        _refuse_secrets(workspace)


def _refuse_secrets(workspace: Workspace) -> None:
    ends_at = time.monotonic() + MOST_S
    places: dict[UUID, str] = {}
    is_late = False
    for piece in _pieces(_texts(workspace)):
        if is_late := time.monotonic() > ends_at:
            break
        for run_id, place in _search(piece):
            places.setdefault(run_id, place)
        if len(places) >= MOST_LISTED:
            break
    if places:
        found = [RunWithSecret(*each) for each in places.items()]
        has_more = is_late or len(found) >= MOST_LISTED
        raise SecretsInWorkspace(found[:MOST_LISTED], has_more=has_more)
    if is_late:
        raise SearchTooLong


def _texts(workspace: Workspace) -> Iterator[_Text]:
    """Of the runs of the workspace, some hundreds at a time."""
    rows = Run.objects.filter(workspace=workspace).order_by("pk").only("id", "notes", "labels")
    runs = list(rows[:BATCH])
    while runs:
        yield from typed_texts(runs)
        runs = list(rows.filter(pk__gt=runs[-1].pk)[:BATCH])


def _search(piece: Sequence[_Text]) -> Iterator[tuple[UUID, str]]:
    """The runs and fields of the texts that hold what looks like a secret."""
    # Most pieces hold none: one search over several texts costs a fraction of one for each.
    if _holds_none("\n".join(text for _, _, text in piece)):
        return
    for run_id, place, text in piece:
        if not _holds_none(text):
            yield run_id, place


def _pieces(texts: Iterable[_Text]) -> Iterator[list[_Text]]:
    """The texts in groups of about `PIECE` characters."""
    piece: list[_Text] = []
    size = 0
    for text in texts:
        if piece and size + len(text[2]) > PIECE:
            yield piece
            piece, size = [], 0
        piece.append(text)
        size += len(text[2])
    if piece:
        yield piece


def _holds_none(text: str) -> bool:
    try:
        refuse_secrets("text", text)
    except SecretShared:
        return False
    return True
