"""What staff took down: refusing it to readers outside of its workspace.

`Workspaces.public` and the query sets of `backend.sharing.models` leave out what was taken down, so
no list, search or comparison can show it. Whoever finds one thing by its address calls
`refuse_taken_down`, so that its readers are told why.
"""

from collections.abc import Iterable, Mapping
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
        return members_of(self.takedown)


class TakenDownByLaw(TakenDown):
    """As TakenDown, for legal reasons."""


def members_of(takedown: Takedown) -> dict[str, Any]:
    """A takedown in an answer of the API: to people outside the workspace, and to its members."""
    return {
        "kind": takedown.kind,
        "reason": takedown.reason,
        "since": f"{takedown.at:%Y-%m-%dT%H:%M:%SZ}",
        "takedown": str(takedown.pk),
    }


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
    return find_takedowns(kind, {thing_id: workspace_id}).get(thing_id)


def find_takedowns(kind: Thing, workspaces: Mapping[UUID, UUID]) -> dict[UUID, Takedown]:
    """As `find_takedown`, by the id of the thing; `workspaces`: the workspace of each thing."""
    whole = Q(kind=Thing.WORKSPACE, thing_id__in=list(workspaces.values()))
    rows = Takedown.objects.active().filter(whole | Q(kind=kind, thing_id__in=list(workspaces)))
    # Ids are random: a thing and a workspace never share one.
    by_id = {takedown.thing_id: takedown for takedown in rows}
    found = {
        thing: by_id.get(workspace) or by_id.get(thing) for thing, workspace in workspaces.items()
    }
    return {thing: takedown for thing, takedown in found.items() if takedown is not None}


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
    return takedowns_of_workspaces([workspace]).get(workspace.pk)


def takedowns_of_workspaces(workspaces: Iterable[Workspace]) -> dict[UUID, Takedown]:
    """By workspace, its takedown; without those that stand."""
    return find_takedowns(Thing.WORKSPACE, {each.pk: each.pk for each in workspaces})
