"""What staff took down: refusing it to readers outside of its workspace.

`Workspaces.public` and the query sets of `backend.sharing.models` leave out what was taken down, so
no list, search or comparison can show it. Whoever finds one thing by its address calls
`refuse_taken_down`, so that its readers are told why.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from backend.accounts.models import Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.errors import Refused


class TakenDown(Refused):
    """Staff took it down; the message gives the reason and the day."""

    def __init__(self, takedown: Takedown) -> None:
        super().__init__(sentence_of(takedown), hint=how_to_object(takedown))
        self.takedown = takedown

    @property
    def members(self) -> dict[str, Any]:
        """What programs need beside the sentence."""
        return {
            "reason": self.takedown.reason,
            "since": f"{self.takedown.at:%Y-%m-%dT%H:%M:%SZ}",
            "takedown": str(self.takedown.pk),
        }


class TakenDownByLaw(TakenDown):
    """As TakenDown, for legal reasons."""


def sentence_of(takedown: Takedown) -> str:
    """What was taken down, when and why."""
    why = " for legal reasons" if takedown.is_legal else ""
    return (
        f"The operator of this service took down this {takedown.kind} on "
        f"{takedown.at:%Y-%m-%d}{why}. The reason: {takedown.reason}"
    )


def how_to_object(takedown: Takedown) -> str:
    """Whom to write to who thinks that this is a mistake."""
    contact = settings.ABUSE_CONTACT.removeprefix("mailto:") or "the operator of this service"
    return (
        f"If you think that this is a mistake, write to {contact} and name the takedown "
        f"{takedown.pk}."
    )


def find_takedown(kind: Thing, thing_id: UUID, workspace_id: UUID) -> Takedown | None:
    """The takedown of the thing or, first, of its workspace; None while it stands."""
    whole = Q(kind=Thing.WORKSPACE, thing_id=workspace_id)
    rows = Takedown.objects.active().filter(whole | Q(kind=kind, thing_id=thing_id))
    found = {takedown.kind: takedown for takedown in rows}
    return found.get(Thing.WORKSPACE) or found.get(kind)


def refuse_taken_down(kind: Thing, thing_id: UUID, workspace_id: UUID) -> None:
    """Raises TakenDown unless the thing stands."""
    takedown = find_takedown(kind, thing_id, workspace_id)
    if takedown is not None:
        raise refusal_of(takedown)


def refusal_of(takedown: Takedown) -> TakenDown:
    """The exception whose answer is 451 for legal reasons, else 410."""
    return TakenDownByLaw(takedown) if takedown.is_legal else TakenDown(takedown)


def takedown_of_workspace(workspace: Workspace) -> Takedown | None:
    """Its takedown; None while it stands."""
    return find_takedown(Thing.WORKSPACE, workspace.pk, workspace.pk)
