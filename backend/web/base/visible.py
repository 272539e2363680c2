"""Finding what a page shows. What the viewer may not see is 404, never 403."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from backend.accounts.models import User, Workspace
from backend.accounts.workspace import access
from backend.accounts.workspace.workspace_links import shared_ids
from backend.accounts.workspace.workspaces import with_slug
from backend.errors import LoadsheetError
from backend.ingest.models import Artefact, State, Upload
from backend.runs.catalogue.naming import order_by_name
from backend.sharing.models import ResultSet, SharedRun
from backend.sharing.reading import find_result_set
from backend.sharing.run_sharing import find_shared_run

T = TypeVar("T")


class Moved(LoadsheetError):
    """The workspace was renamed; `slug` is the one that it has today."""

    def __init__(self, slug: str) -> None:
        super().__init__(slug)
        self.slug = slug


def viewer(request: HttpRequest) -> User | None:
    """The signed-in user; None for everyone else. Tokens work for the API only."""
    return request.user if isinstance(request.user, User) else None


def or_404(value: T | None) -> T:
    """The value; raises Http404 for None, False, an empty text and an empty list."""
    if not value:
        raise Http404
    return value


def read_once(read: Callable[[HttpRequest], T]) -> Callable[[HttpRequest], T]:
    """Keep what `read` returns with the request; read again after its viewer signed in or out."""
    name = f"_kept_{read.__name__}"

    @wraps(read)
    def kept(request: HttpRequest) -> T:
        user = viewer(request)
        asker = None if user is None else user.pk
        known: tuple[UUID | None, T] | None = getattr(request, name, None)
        if known is None or known[0] != asker:
            known = asker, read(request)
            setattr(request, name, known)
        return known[1]

    return kept


def viewer_or_404(request: HttpRequest) -> User:
    """The signed-in user; 404 for everyone else."""
    return or_404(viewer(request))


def viewer_name(request: HttpRequest) -> str:
    """The key of the viewer's share of slow work."""
    return access.name_of_viewer(viewer(request), request.META)


def is_operator(request: HttpRequest) -> bool:
    """Whether the viewer runs the service."""
    user = viewer(request)
    return user is not None and user.is_staff


@read_once
def _roles(request: HttpRequest) -> access.Roles:
    return access.roles_of(viewer(request))


@read_once
def workspaces(request: HttpRequest) -> list[UUID]:
    """The workspaces whose runs the viewer may read: also public ones, and those whose link the
    browser opened.
    """
    return [*{*_roles(request), *access.public_ids(), *shared_ids(request.session)}]


def workspaces_shared_with(request: HttpRequest) -> list[UUID]:
    """The workspaces that this reader reads without being a member: public ones, and those whose
    link the browser opened.
    """
    return [*access.public_ids(), *shared_ids(request.session)]


def searched_workspaces(request: HttpRequest) -> list[Workspace]:
    """The workspaces that a search from outside of them looks through: those of the viewer, and
    those whose link the browser opened."""
    chosen = _opened_workspaces(request)
    return list(order_by_name(Workspace.objects.filter(pk__in=chosen), then="slug"))


def workspace_or_404(request: HttpRequest, slug: str) -> Workspace:
    """The workspace, for reading its runs; a public one for everybody.

    Raises Moved where it was renamed since, and Http404.
    """
    public = Q(pk__in=access.public_ids())
    return _workspace_or_404(public | Q(pk__in=_opened_workspaces(request)), slug)


def is_own(request: HttpRequest, workspace: Workspace) -> bool:
    """Whether the viewer is a member; of a public workspace others read the runs only."""
    return workspace.pk in _roles(request)


def own_workspace_or_404(request: HttpRequest, slug: str) -> Workspace:
    """The workspace, for what only its members may read. Raises as `workspace_or_404`."""
    return _workspace_or_404(Q(pk__in=own_ids(request)), slug)


def _workspace_or_404(readable: Q, slug: str) -> Workspace:
    found = {workspace.slug: workspace for workspace in with_slug(slug).filter(readable)}
    if slug not in found:
        raise Moved(or_404(next(iter(found), None)))
    return found[slug]


def writable_workspace_or_404(request: HttpRequest, slug: str) -> Workspace:
    """The workspace, for a change; 404 for viewers, as for strangers."""
    workspace = workspace_or_404(request, slug)
    or_404(may_write(request, workspace))
    return workspace


def upload_or_404(request: HttpRequest, upload_id: UUID) -> Upload:
    """For members, also in a public workspace: it tells file names and what was refused."""
    rows = Upload.objects.select_related("workspace").prefetch_related("artefacts")
    own = rows.filter(workspace__in=own_ids(request), is_in_trash=False)
    return get_object_or_404(own, pk=upload_id)


def artefact_or_404(request: HttpRequest, artefact_id: UUID) -> Artefact:
    """In a public workspace, everyone reads the outputs of its runs, and members those refused."""
    rows = Artefact.objects.select_related("upload__workspace").filter(upload__is_in_trash=False)
    is_evidence = Q(upload__workspace__in=workspaces(request), upload__state=State.PARSED)
    readable = rows.filter(is_evidence | Q(upload__workspace__in=own_ids(request)))
    return get_object_or_404(readable, pk=artefact_id)


def shared_run_or_404(request: HttpRequest, link: UUID) -> SharedRun:
    """The run at this link, for everyone who has the link."""
    return or_404(find_shared_run(link))


def result_set_or_404(request: HttpRequest, link: UUID) -> ResultSet:
    """The result set at this link, including one that is gone and has a tombstone."""
    return or_404(find_result_set(link, workspace_ids=own_ids(request)))


def manageable_result_set_or_404(request: HttpRequest, link: UUID) -> ResultSet:
    """The result set, for a change; 404 for everyone who may not change it."""
    result_set = result_set_or_404(request, link)
    or_404(may_manage(request, result_set))
    return result_set


def may_manage(request: HttpRequest, result_set: ResultSet) -> bool:
    return access.may_write(viewer(request), result_set.workspace_id, _roles(request))


def is_member(request: HttpRequest, result_set: ResultSet) -> bool:
    return result_set.workspace_id in _roles(request)


def result_sets(request: HttpRequest, *workspaces: Workspace) -> QuerySet[ResultSet]:
    """The result sets that a list may show: all to members, to others the public ones that they can
    read: the title of an expired or withdrawn one is for members.
    """
    of_members = ResultSet.objects.filter(workspace__in=own_ids(request))
    return (of_members | ResultSet.objects.public()).filter(workspace__in=workspaces)


def own_ids(request: HttpRequest) -> list[UUID]:
    """The workspaces whose private results the viewer may read."""
    return list(_roles(request))


def _opened_workspaces(request: HttpRequest) -> list[UUID]:
    """Those of the viewer, and those whose link the browser opened."""
    return [*_roles(request), *shared_ids(request.session)]


def administered_workspace_or_404(request: HttpRequest, slug: str) -> Workspace:
    """The workspace, for its settings and members; 404 for everyone who may not change them."""
    workspace = own_workspace_or_404(request, slug)
    or_404(may_administer(request, workspace))
    return workspace


def owned_workspace_or_404(request: HttpRequest, slug: str) -> Workspace:
    """The workspace, for what only its owners may do."""
    workspace = own_workspace_or_404(request, slug)
    or_404(may_own(request, workspace))
    return workspace


def may_write(request: HttpRequest, workspace: Workspace) -> bool:
    """Whether the page may offer what changes the workspace."""
    return access.may_write(viewer(request), workspace.pk, _roles(request))


def may_administer(request: HttpRequest, workspace: Workspace) -> bool:
    """Whether the page may offer what admins change."""
    return access.may_administer(viewer(request), workspace.pk, _roles(request))


def may_own(request: HttpRequest, workspace: Workspace) -> bool:
    """Whether the page may offer what owners change."""
    return access.may_own(viewer(request), workspace.pk, _roles(request))
