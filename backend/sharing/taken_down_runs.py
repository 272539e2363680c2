"""Keeping a workspace closed while a run of it is taken down.

A takedown of a run closes its link alone. Who reads the workspace would read the run again.
"""

from backend.accounts.models import Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.accounts.takedowns import how_to_object
from backend.runs.models import Run
from backend.sharing.workspace_secrets import NotOpened


class RunTakenDown(NotOpened):
    """The workspace has a run that staff took down."""

    def __init__(self, takedown: Takedown) -> None:
        super().__init__(
            f"The operator of this service took down the run {takedown.thing_id} of this "
            "workspace, which everyone who reads the workspace would read.",
            hint=f"Delete the run permanently, and try again. {how_to_object(takedown)}",
        )


def refuse_runs_taken_down(workspace: Workspace) -> None:
    """Raise RunTakenDown while a run of the workspace is taken down. One in the trash may come
    back, so it counts."""
    own = Run.with_trash.filter(workspace=workspace)
    active = Takedown.objects.active().filter(workspace=workspace, kind=Thing.RUN)
    takedown = active.filter(thing_id__in=own.values("pk")).first()
    if takedown is not None:
        raise RunTakenDown(takedown)
