"""Reporting something public to the operator. Nobody needs an account for it."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from backend.accounts.limits import throttle
from backend.accounts.limits.throttle import TooOften
from backend.accounts.models import Workspace
from backend.accounts.takedown_models import Report, Thing
from backend.links import absolute, link_to, own_path, route_at
from backend.problems import answer_to, headers_of, hint_for_people, set_headers
from backend.sharing.models import ResultSet
from backend.sharing.takedowns import (
    MAX_PAGE,
    MAX_TEXT,
    BadReport,
    PublicThing,
    thing_of_result_set,
    thing_of_shared_run,
    thing_of_workspace,
)
from backend.sharing.takedowns import (
    report as store_report,
)
from backend.web.base import visible
from backend.web.base.tombstones import IN_WORKSPACE, workspace_at


@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest) -> HttpResponse:
    """The form; what it sends leads to the thanks. Fields: page, reason, text, email."""
    fields = request.POST if request.method == "POST" else request.GET
    # PostgreSQL stores no NUL.
    page = own_path(fields.get("page", "").replace("\0", "")[:MAX_PAGE], "")
    thing = thing_at(request, page)
    context: dict[str, Any] = {
        "thing": thing,
        "is_whole": thing.kind == Thing.WORKSPACE,
        "page": page,
        "reasons": Report.Reason.choices,
        "max_text": MAX_TEXT,
        "given": fields,
    }
    if request.method != "POST":
        return render(request, "report.html", context)
    try:
        stored = store_report(
            thing,
            page=page,
            reason=fields.get("reason", ""),
            text=fields.get("text", ""),
            email=fields.get("email", ""),
            sender=throttle.network_of(request.META),
        )
    except (BadReport, TooOften) as refused:
        return _form_again(request, context, refused)
    return HttpResponseRedirect(link_to("report-sent", stored.pk))


def _form_again(
    request: HttpRequest, context: dict[str, Any], refused: BadReport | TooOften
) -> HttpResponse:
    """The form with what was typed into it, and why nothing was sent."""
    answer = answer_to(refused)
    assert answer is not None
    is_wait = isinstance(refused, TooOften)
    contact = settings.ABUSE_CONTACT.removeprefix("mailto:")
    context |= {
        "refused": str(refused),
        "wrong_field": refused.field,
        "wait": hint_for_people(refused, answer) if is_wait else "",
        "contact": contact if is_wait else "",
    }
    response = render(request, "report.html", context, status=answer.status)
    set_headers(response, headers_of(refused, answer))
    return response


@require_safe
def report_sent(request: HttpRequest, report_id: UUID) -> HttpResponse:
    """The thanks, at an address of its own: loading it again sends nothing."""
    stored = get_object_or_404(Report, pk=report_id)
    return render(request, "reported.html", {"page": stored.page, "kind": stored.kind})


def thing_at(request: HttpRequest, page: str) -> PublicThing:
    """What the page at this path shows to people outside its workspace.

    Raises Http404 for every other page, as for pages that do not exist; TakenDown.
    """
    route = route_at(absolute(page)) if page else None
    if route is None:
        raise Http404
    given = route.kwargs
    if "link" in given:
        return thing_of_result_set(_shared_result_set(request, given["link"]))
    if "shared_link" in given:
        return thing_of_shared_run(visible.shared_run_or_404(request, given["shared_link"]))
    is_of_workspace = route.route.startswith("w/") or IN_WORKSPACE.keys() & given.keys()
    visible.or_404(is_of_workspace)
    return thing_of_workspace(_open_workspace(request, workspace_at({"slug": "", **given})))


def _shared_result_set(request: HttpRequest, link: UUID) -> ResultSet:
    result_set = visible.result_set_or_404(request, link)
    visible.or_404(result_set.is_shared)
    return result_set


def _open_workspace(request: HttpRequest, rows: QuerySet[Workspace]) -> Workspace:
    """The workspace, if people outside of it read it: it is public, or has a link."""
    shared = visible.workspaces_shared_with(request)
    return get_object_or_404(rows.filter(pk__in=shared))
