"""What every page may show: links to the operator's texts and to a report, what was taken down, and
when a run happened."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.template import Context, Library

from backend.accounts.models import Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.accounts.workspace.takedowns import find_takedown, how_to_object, takedown_of_workspace
from backend.links import link_to
from backend.runs.tables.happening import Timed, happened_at
from backend.sharing.models import ResultSet
from backend.sharing.takedowns import open_reports
from backend.web.base import visible
from backend.web.documents.site_files import TEXTS

register = Library()
# The pages after signing in, and that of the operator.
FIRST_OF_STAFF = ("home", "workspace", "workspaces", "operator")


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


@register.inclusion_tag("partials/open_reports.html", takes_context=True)
def open_reports_notice(context: Context) -> dict[str, int]:
    """How many reports wait for the staff, on the pages where staff begin; 0 for all others."""
    request: Any = context.get("request")
    match = None if request is None else request.resolver_match
    if match is None or match.url_name not in FIRST_OF_STAFF or not visible.is_operator(request):
        return {"count": 0}
    return {"count": open_reports().count()}


@register.inclusion_tag("partials/taken_down.html", takes_context=True)
def takedown_notice(context: Context) -> dict[str, Any]:
    """What members are told of a page that others cannot read; nothing while it stands."""
    takedown = _takedown_of_page(context)
    return {
        "takedown": takedown,
        "takedown_hint": "" if takedown is None else how_to_object(takedown),
    }


def _takedown_of_page(context: Context) -> Takedown | None:
    """By which what the page shows, or its workspace, was taken down; None for strangers."""
    request: Any = context.get("request")
    workspace, shown = context.get("workspace"), context.get("result_set")
    if request is None or not isinstance(workspace, Workspace):
        return None
    if not visible.is_own(request, workspace):
        return None
    if isinstance(shown, ResultSet):
        return find_takedown(Thing.RESULT_SET, shown.pk, shown.workspace_id)
    sharing = context.get("sharing")
    return sharing.takedown if sharing else takedown_of_workspace(workspace)


@register.filter(name="happened_at")
def when_happened(run: Timed) -> datetime:
    """When a run was measured, by which runs are in order everywhere."""
    return happened_at(run)
