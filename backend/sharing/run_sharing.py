"""Sharing one run: who may read it and why, changing that, and its link (decision 0045)."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from backend.accounts.audit import change, record
from backend.accounts.models import Act
from backend.accounts.takedown_models import Takedown, Thing
from backend.accounts.workspace.takedowns import find_takedown, refuse_taken_down
from backend.errors import Conflict, NotFound
from backend.runs.models import Run, Trial
from backend.sharing.models import OPENNESS, SharedRun, Visibility
from backend.sharing.readers import CLOSED, visibility_of
from backend.sharing.secret_check import refuse_secrets, refuse_tokens, typed_texts

_BY_ITSELF = {
    Visibility.UNLISTED: "Everyone who has its link may read it, because it is unlisted.",
    Visibility.PUBLIC: "Everyone may read it, because it is public.",
}
_BY_WORKSPACE = {
    Visibility.PRIVATE: "Only members of the workspace may read it, because the run and its "
    "workspace are private.",
    Visibility.UNLISTED: "Everyone who has the link of the workspace may read it, because the "
    "workspace is unlisted.",
    Visibility.PUBLIC: "Everyone may read it, because the workspace is public.",
}


class NoLink(Conflict):
    """The run is private, so it has no link to revoke."""

    def __init__(self) -> None:
        super().__init__("This run is private, so it has no link to revoke.")


@dataclass(frozen=True, slots=True)
class Sharing:
    """Who may read a run. `visibility`: as members chose. `effective_visibility`: the more open of
    run and workspace, without what was taken down. `path`: of its page for readers outside the
    workspace; None for a private run. `takedown`: of the run or its workspace.
    """

    visibility: Visibility
    effective_visibility: Visibility
    why: str
    path: str | None
    takedown: Takedown | None

    @property
    def is_closed(self) -> bool:
        """Whether only members read it, because of the takedown."""
        return self.takedown is not None and self.effective_visibility == Visibility.PRIVATE


def describe_sharing(run: Run) -> Sharing:
    """Who may read the run now, and why."""
    shared = SharedRun.objects.filter(run=run).first()
    own, inherited = _chosen(run, shared)
    takedown = find_takedown(Thing.RUN, run.pk, run.workspace_id)
    effective, why = _effect(own, inherited, takedown)
    return Sharing(own, effective, why, None if shared is None else shared.path, takedown)


def _chosen(run: Run, shared: SharedRun | None) -> tuple[Visibility, Visibility]:
    """The visibility of the run and that of its workspace, whatever was taken down."""
    own = Visibility.PRIVATE if shared is None else Visibility(shared.visibility)
    return own, visibility_of(run.workspace)


def _effect(
    own: Visibility, inherited: Visibility, takedown: Takedown | None
) -> tuple[Visibility, str]:
    """The more open visibility, and why."""
    # A takedown of the run closes its link: its workspace, if others read it, still shows it.
    if takedown is not None:
        own = Visibility.PRIVATE
        if takedown.kind == Thing.WORKSPACE or inherited == own:
            return own, CLOSED[Thing(takedown.kind)]
    effective = max(own, inherited, key=OPENNESS.index)
    reasons = [_BY_ITSELF[own]] if own == effective and own in _BY_ITSELF else []
    # Two links are two ways to read it; what is public needs one reason.
    if inherited == effective and own != Visibility.PUBLIC:
        reasons.append(_BY_WORKSPACE[inherited])
    return effective, " ".join(reasons)


@transaction.atomic
def share_run(run: Run, visibility: Visibility) -> None:
    """Let others read the run, or with PRIVATE nobody but the readers of its workspace: then its
    link ends for good.

    Raises SecretShared where its texts hold a secret, and NotFound where it was deleted meanwhile.
    """
    run = _locked(run)
    shared = SharedRun.objects.filter(run=run).first()
    before = Visibility.PRIVATE if shared is None else Visibility(shared.visibility)
    if visibility == before:
        return
    if visibility == Visibility.PRIVATE:
        SharedRun.objects.filter(run=run).delete()
    else:
        _refuse_secrets_of(run)
        SharedRun.objects.update_or_create(run=run, defaults={"visibility": visibility})
    _record(Act.RUN_VISIBILITY, run, visibility=change(str(before), str(visibility)))


@transaction.atomic
def revoke_link(run: Run) -> None:
    """Give the run a new link; the former one leads nowhere from now on. Raises NoLink."""
    run = _locked(run)
    if not SharedRun.objects.filter(run=run).update(link=uuid.uuid4()):
        raise NoLink
    _record(Act.RUN_LINK_REVOKED, run)


@transaction.atomic
def end_link(run: Run) -> None:
    """Leave the run to the readers of its workspace; its link ends for good. Raises NoLink."""
    if not SharedRun.objects.filter(run=run).exists():
        raise NoLink
    share_run(run, Visibility.PRIVATE)


def find_shared_run(link: uuid.UUID) -> SharedRun | None:
    """The run at this link, unless it is in the trash. Raises TakenDown."""
    rows = SharedRun.objects.select_related("run__workspace")
    shown = rows.filter(run__trashed_at=None, run__workspace__deleted_at=None)
    shared = shown.filter(link=link).first()
    if shared is not None:
        refuse_taken_down(Thing.RUN, shared.run_id, shared.run.workspace_id)
    return shared


def _locked(run: Run) -> Run:
    """The run as it is now; no other change of its sharing goes on beside this one."""
    rows = Run.objects.select_related("workspace").select_for_update(of=("self",))
    locked = rows.filter(pk=run.pk).first()
    if locked is None:
        raise NotFound(f"There is no run {run.pk} any more.")
    return locked


def _record(act: Act, run: Run, **detail: Any) -> None:
    record(act, run.workspace, subject=run.pk, subject_id=run.pk, **detail)


def refuse_secrets_of_shared(run: Run) -> None:
    """Raise SecretShared where people outside the workspace would read a secret a member typed.

    They read the run by its link, or because its workspace is public or unlisted.
    """
    now = Run.objects.select_related("workspace").filter(pk=run.pk).first()
    if now is None:
        return
    # What was taken down can be restored, with the texts that it has then.
    shared = SharedRun.objects.filter(run=now).first()
    if any(each != Visibility.PRIVATE for each in _chosen(now, shared)):
        _refuse_typed_secrets(now)


def _refuse_typed_secrets(run: Run) -> None:
    for _, place, text in typed_texts([run]):
        refuse_secrets(place, text)


def _refuse_secrets_of(run: Run) -> None:
    """What was uploaded came without secrets: there, only tokens of ours are looked for."""
    _refuse_typed_secrets(run)
    for place, value in _recorded_values(run):
        refuse_tokens(place, str(value))


def _recorded_values(run: Run) -> Iterator[tuple[str, Any]]:
    """What the upload said and readers see, by the field that it is in."""
    for name in ("plan", "facts", "agent", "events", "stopped", "max_rates"):
        yield name, getattr(run, name)
    names = ("cell__series__server__name", "cell__series__workload__name")
    trials = Trial.objects.filter(run=run).order_by()
    yield "commands", list(trials.values_list("command", "error", *names))
