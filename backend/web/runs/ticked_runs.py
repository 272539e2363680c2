"""What members do with the runs that they ticked in a list: compare, label, delete."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from backend.accounts.models import Workspace
from backend.analysis.loading.large_runs import hold_slot_if_large
from backend.errors import InvalidInput
from backend.fleet.heartbeats import forget_progress
from backend.ingest.removing.trash import KEPT_IN_TRASH, trash_runs
from backend.links import link_to, own_path
from backend.runs.amending.labelling import label_runs
from backend.runs.catalogue.listing import rows_of
from backend.runs.catalogue.naming import count_text
from backend.runs.models import Run, Trial
from backend.runs.tables.large_columns import large_columns
from backend.web.base import visible
from backend.web.compare.pair import pair_of_ticked

MAX_TICKED = 200


class NothingTicked(InvalidInput):
    """No run was chosen; the message says what to do."""

    def __init__(self) -> None:
        super().__init__("No run was ticked. Go back and tick at least one.")


@require_http_methods(["GET", "HEAD", "POST"])
def ticked_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """action=compare leads to the pair; label and delete change the runs, for those who may."""
    workspace = visible.workspace_or_404(request, slug)
    back = own_path(request.POST.get("next", ""), link_to("runs-page", slug))
    if request.method != "POST":
        return HttpResponseRedirect(back)
    action, ticked = request.POST.get("action", ""), request.POST.getlist("run")
    if action == "compare":
        return HttpResponseRedirect(pair_of_ticked(workspace, "run", ticked))
    if action not in _CHANGES or not visible.may_write(request, workspace):
        raise Http404
    runs = _runs(workspace, ticked)
    hold_slot_if_large(Trial.objects.filter(run__in=runs), viewer=visible.viewer_name(request))
    if action == "delete" and not request.POST.get("is_confirmed"):
        context = {
            "workspace": workspace,
            "nav": "runs",
            "runs": rows_of(runs),
            "days": KEPT_IN_TRASH.days,
            "back": back,
        }
        return render(request, "delete_runs.html", context)
    messages.info(request, _CHANGES[action](request, workspace, runs))
    return HttpResponseRedirect(back)


def _runs(workspace: Workspace, ticked: Sequence[str]) -> list[Run]:
    """The ticked runs of the workspace; others are left out. Raises NothingTicked."""
    ids = []
    for text in ticked[:MAX_TICKED]:
        try:
            ids.append(UUID(text))
        except ValueError:
            continue
    rows = Run.objects.filter(pk__in=ids, workspace=workspace)
    runs = list(rows.select_related("workspace", "server_host").defer(*large_columns()))
    if not runs:
        raise NothingTicked
    return runs


def _label(request: HttpRequest, workspace: Workspace, runs: Sequence[Run]) -> str:
    name, value = request.POST.get("label", ""), request.POST.get("value", "")
    label_runs(runs, name, value, author=visible.viewer(request))
    if not value.strip():
        return f"The label “{name.strip()}” was removed from {count_text(len(runs), 'run')}."
    return f"{count_text(len(runs), 'run')} got the label “{name.strip()}: {value.strip()}”."


def _delete(request: HttpRequest, workspace: Workspace, runs: Sequence[Run]) -> str:
    trash_runs(runs, by=visible.viewer(request))
    forget_progress([run.pk for run in runs], workspace.pk)
    return format_html(
        '{} moved to the trash. You can <a href="{}">restore {}</a> for {} days.',
        count_text(len(runs), "run"),
        link_to("trash-page", workspace.slug),
        "it" if len(runs) == 1 else "them",
        KEPT_IN_TRASH.days,
    )


_CHANGES = {"label": _label, "delete": _delete}
