"""What stands where something was taken down by the staff: the reason, the day, how to object."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

from backend.accounts.models import Token, Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.accounts.workspace import access
from backend.accounts.workspace.takedowns import TakenDown, refusal_of
from backend.accounts.workspace.workspace_links import opened_links
from backend.accounts.workspace.workspaces import with_slug
from backend.ingest.models import Artefact
from backend.problems import answer_to, problem_response
from backend.runs.models import Cell, Run, Trial
from backend.sharing.badge import taken_down_badge
from backend.web.base.errors import framed_message, is_for_programs, message
from backend.web.base.visible import viewer

TITLE = "Taken down"
# In the size of the images of result sets.
PICTURE = Path(__file__).with_name("taken_down.png")
# By the argument of a route, its model and the way from there to the workspace.
IN_WORKSPACE: dict[str, tuple[type[Model], str]] = {
    "run_id": (Run, "workspace"),
    "trial_id": (Trial, "run__workspace"),
    "artefact_id": (Artefact, "upload__workspace"),
    "cell_id": (Cell, "workspace"),
}
# By the field of a query, as which argument it counts.
_FIELDS = {"cell": "cell_id", "run": "run_id", "a": "run_id"}


def tombstone(request: HttpRequest, error: TakenDown) -> HttpResponse:
    """The answer of every address: an image in place of one, else as of other refusals a problem
    for programs, and a page for people."""
    if (image := _image(request, error)) is not None:
        return _headed(image)
    if is_for_programs(request):
        return _headed(
            problem_response(_status(error), TITLE, str(error), hint=error.hint, **error.members)
        )
    page = message(request, _status(error), title=TITLE, sentence=str(error), hint=error.hint)
    return _headed(page)


def _image(request: HttpRequest, error: TakenDown) -> HttpResponse | None:
    """A picture that says “taken down”, where a page shows an image; None for other addresses, and
    for programs that ask for no image.
    """
    if "image/" not in request.headers.get("Accept", ""):
        return None
    if request.path.endswith(".svg"):
        badge = {"badge": taken_down_badge(), "more": str(error)}
        content, kind = render_to_string("badge.svg", badge).strip().encode(), "image/svg+xml"
    elif request.path.endswith(".png"):
        content, kind = PICTURE.read_bytes(), "image/png"
    else:
        return None
    answer = HttpResponse(content, content_type=kind, status=_status(error))
    patch_vary_headers(answer, ["Accept"])
    return answer


def framed_tombstone(error: TakenDown) -> HttpResponse:
    """As `tombstone`, for a frame: without the viewer's name."""
    return _headed(framed_message(_status(error), TITLE, str(error), error.hint))


def _headed(answer: HttpResponse) -> HttpResponse:
    answer["X-Robots-Tag"] = "noindex"
    return answer


def _status(error: TakenDown) -> int:
    answer = answer_to(error)
    assert answer is not None
    return answer.status


def find_tombstone(request: HttpRequest) -> TakenDown | None:
    """Why the thing at this address is not found, where it is in a workspace that was taken down.

    None for members, who still read it, and for workspaces that the reader could not read before:
    private ones, and unlisted ones whose link this browser did not open.
    """
    # As Django REST framework leaves it behind.
    token = getattr(request, "auth", None)
    own = access.workspace_ids_of(token if isinstance(token, Token) else viewer(request))
    # One statement, whether there is such a workspace or not: its time tells nothing.
    named = _named_workspaces(request).exclude(pk__in=own).values("pk")
    takedowns = Takedown.objects.active().filter(kind=Thing.WORKSPACE, thing_id__in=named)
    for takedown in takedowns.select_related("workspace"):
        if _was_readable(request, takedown):
            return refusal_of(takedown)
    return None


def _named_workspaces(request: HttpRequest) -> QuerySet[Workspace]:
    """The workspaces that the path or the query names."""
    match = request.resolver_match
    given = {} if match is None or match.url_name == "library-server" else dict(match.kwargs)
    slug = given.get("slug", request.GET.get("workspace", ""))
    return workspace_at({**_asked_rows(request), **given, "slug": slug.replace("\0", "")})


def _asked_rows(request: HttpRequest) -> dict[str, UUID]:
    """The ids of runs and load points in the query, by the arguments of IN_WORKSPACE."""
    found = {}
    for field, name in _FIELDS.items():
        try:
            found[name] = UUID(request.GET.get(field, ""))
        except ValueError:
            continue
    return found


def workspace_at(given: Mapping[str, Any]) -> QuerySet[Workspace]:
    """The workspace that the arguments of a route name, whoever may read it; or none."""
    for name, (model, path) in IN_WORKSPACE.items():
        if name in given:
            rows = model._base_manager.filter(pk=given[name])
            return Workspace.objects.filter(pk__in=rows.values(path))
    return with_slug(given["slug"])


def _was_readable(request: HttpRequest, takedown: Takedown) -> bool:
    opened = opened_links(request.session).filter(workspace=takedown.workspace_id)
    return takedown.workspace.is_public or opened.exists()
