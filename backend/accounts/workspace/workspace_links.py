"""Unlisted workspaces: a link by which everyone who has it reads the runs, until it is revoked.

A browser that opened the link remembers the link's id in its session; each request asks again
whether the link still works.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from backend.accounts.audit import change, record
from backend.accounts.credentials import token_format
from backend.accounts.credentials.stored_token import find_stored, signature_of
from backend.accounts.models import Act, User, Workspace, WorkspaceLink
from backend.accounts.takedown_models import Thing
from backend.accounts.workspace.takedowns import refuse_taken_down
from backend.accounts.workspace.workspace_lock import lock_workspace
from backend.accounts.workspace.workspaces import (
    LOCKED_OPENING_CHECKS,
    check_opening,
    check_still_owner,
)
from backend.errors import NotFound

KIND = "share"
# In the session: the ids of the links that the browser opened, the latest last.
OPENED_LINKS = "opened_links"
MOST_OPENED = 20


class LinkMissing(NotFound):
    """No workspace is shared by this link, or no longer."""


@transaction.atomic
def make_link(maker: User, workspace: Workspace) -> str:
    """A new link in place of those of before; returns its token, which is never shown again.

    Raises what the opening checks raise, and NotFound where the maker was removed meanwhile.
    """
    check_opening(workspace)
    was = _end_links(workspace)
    # Ending the links locked the workspace.
    check_still_owner(maker, workspace)
    check_opening(workspace, LOCKED_OPENING_CHECKS)
    clear = token_format.new_token(KIND)
    WorkspaceLink.objects.create(workspace=workspace, made_by=maker, **signature_of(clear))
    _record(workspace, was, "unlisted")
    return clear


@transaction.atomic
def revoke_link(workspace: Workspace) -> None:
    """The link leads nowhere from now on, also for browsers that opened it."""
    if _end_links(workspace) == "unlisted":
        _record(workspace, "unlisted", "private")


def find_link(clear: str) -> WorkspaceLink:
    """The working link with this token. Raises LinkMissing and TakenDown."""
    if (link := _working_link(clear)) is None:
        raise LinkMissing
    refuse_taken_down(Thing.WORKSPACE, link.workspace_id, link.workspace_id)
    return link


@transaction.atomic
def end_leaked(clear: str) -> None:
    """End the link with this token; nothing where none works."""
    link = _working_link(clear)
    if link is None:
        return
    if WorkspaceLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now()):
        _record(link.workspace, "unlisted", "private")


def remember(session: dict[str, list[str]], link: WorkspaceLink) -> None:
    """Let the browser of this session read the workspace of the link."""
    opened = [id_ for id_ in session.get(OPENED_LINKS, []) if id_ != str(link.pk)]
    session[OPENED_LINKS] = [*opened, str(link.pk)][-MOST_OPENED:]


def shared_ids(session: Mapping[str, Iterable[str]]) -> list[UUID]:
    """The workspaces whose links the browser of this session opened, and that still work."""
    opened = list(session.get(OPENED_LINKS, ()))
    if not opened:
        return []
    links = working_links().filter(pk__in=opened, workspace__in=Workspace.objects.standing())
    return list(links.values_list("workspace", flat=True).distinct())


def opened_links(session: Mapping[str, Iterable[str]]) -> QuerySet[WorkspaceLink]:
    """The working links that the browser opened, also of workspaces that were taken down."""
    return working_links().filter(pk__in=list(session.get(OPENED_LINKS, ())))


def is_unlisted(workspace: Workspace) -> bool:
    """Whether a link to the workspace works."""
    return working_links().filter(workspace=workspace).exists()


def working_links() -> QuerySet[WorkspaceLink]:
    """The links that work, of all workspaces."""
    return WorkspaceLink.objects.filter(revoked_at=None, workspace__deleted_at=None)


def _working_link(clear: str) -> WorkspaceLink | None:
    return find_stored(working_links().select_related("workspace"), clear)


def _end_links(workspace: Workspace) -> str:
    """End the links that work; returns the visibility of before."""
    lock_workspace(workspace.pk)
    rows = WorkspaceLink.objects.filter(workspace=workspace, revoked_at=None)
    return "unlisted" if rows.update(revoked_at=timezone.now()) else "private"


def _record(workspace: Workspace, was: str, now: str) -> None:
    record(Act.WORKSPACE_VISIBILITY, workspace, link=change(was, now))
