"""What every page may show: links to the operator's texts, to a report, and what was taken down."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.template import Context, Library

from backend.accounts.models import Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.accounts.takedowns import find_takedown, how_to_object, takedown_of_workspace
from backend.links import link_to
from backend.sharing.models import ResultSet
from backend.web.site_files import TEXTS

register = Library()


@register.simple_tag
def operators_links() -> list[tuple[str, str]]:
    """Address and text of each page whose text the operator gave."""
    return [
        (link_to(name), title)
        for name, (setting, title) in TEXTS.items()
        if getattr(settings, setting)
    ]


@register.simple_tag(takes_context=True)
def report_link(context: Context) -> str:
    """The form that reports this page; empty where people outside of it cannot read it."""
    request: Any = context.get("request")
    workspace, result_set = context.get("workspace"), context.get("result_set")
    is_outside = workspace and not getattr(context.get("user"), "is_authenticated", False)
    is_shared = (
        is_outside
        or getattr(workspace, "is_public", False)
        or getattr(result_set, "is_shared", False)
        or context.get("is_shared_page")
    )
    if request is None or request.method not in ("GET", "HEAD") or not is_shared:
        return ""
    return link_to("report", query={"page": request.get_full_path()})


@register.inclusion_tag("partials/taken_down.html")
def takedown_of(thing: Workspace | ResultSet) -> dict[str, Any]:
    """What members are told of a thing that was taken down; nothing while it stands."""
    takedown: Takedown | None
    if isinstance(thing, Workspace):
        takedown = takedown_of_workspace(thing)
    else:
        takedown = find_takedown(Thing.RESULT_SET, thing.pk, thing.workspace_id)
    return {
        "takedown": takedown,
        "takedown_hint": "" if takedown is None else how_to_object(takedown),
    }


@register.inclusion_tag("partials/taken_down.html")
def takedown_of_run(run_id: UUID | str, workspace: Workspace) -> dict[str, Any]:
    """As `takedown_of`, of a run."""
    takedown = find_takedown(Thing.RUN, UUID(str(run_id)), workspace.pk)
    return {
        "takedown": takedown,
        "takedown_hint": "" if takedown is None else how_to_object(takedown),
    }
