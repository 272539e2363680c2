"""Deleting a run: into the trash, out of it, or for good."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backend.errors import InvalidInput
from backend.fleet.heartbeats import forget_progress
from backend.ingest.listing.trash_listing import find_trashed_run, list_trash, trashed_bytes
from backend.ingest.removing.trash import KEPT_IN_TRASH, remove_trashed_run, restore_run, trash_run
from backend.ingest.removing.trash import delete_run as delete_for_good
from backend.links import link_to, run_link
from backend.runs.catalogue.listing import rows_of
from backend.runs.catalogue.naming import sort_names
from backend.runs.models import Cell, Run, Trial
from backend.web.base import visible
from backend.web.runs.run_edit import changeable_or_404, writable_run_or_404


@require_safe
def trash(request: HttpRequest, slug: str) -> HttpResponse:
    """The runs in the trash of a workspace; members who may write restore and delete them."""
    workspace = visible.own_workspace_or_404(request, slug)
    context = {
        "workspace": workspace,
        "nav": "runs",
        "trashed": list_trash([workspace.pk]),
        "size_bytes": trashed_bytes(workspace),
        "days": KEPT_IN_TRASH.days,
        "may_write": visible.may_write(request, workspace),
    }
    return render(request, "trash.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def delete_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What deleting a run takes away, for members who may write. A POST moves it to the trash."""
    run = writable_run_or_404(request, run_id)
    if request.method != "POST":
        return render(request, "delete_run.html", _taken_away(run))
    trash_run(run, by=visible.viewer(request))
    forget_progress([run_id], run.workspace_id)
    messages.info(
        request,
        f"{_quoted(run)} is in the trash. You can restore it for {KEPT_IN_TRASH.days} days.",
    )
    return HttpResponseRedirect(link_to("trash-page", run.workspace.slug))


@require_POST
def restore(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Take a run out of the trash."""
    trashed = find_trashed_run(run_id, visible.workspaces(request))
    run = changeable_or_404(request, trashed)
    try:
        restore_run(run)
    except InvalidInput as refused:
        # Others read the workspace, and would read a secret.
        remedy = "Make the workspace private, restore the run and edit it."
        messages.error(request, f"{refused} {remedy}")
        return HttpResponseRedirect(link_to("trash-page", run.workspace.slug))
    messages.info(request, f"{_quoted(run)} was restored.")
    return HttpResponseRedirect(run_link(run_id))


@require_POST
def erase_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask whether to delete a run for good; with `is_confirmed`, delete it.

    With `is_trashed`, only where it is in the trash.
    """
    rows = Run.with_trash.filter(pk=run_id, workspace__in=visible.workspaces(request))
    run = changeable_or_404(request, rows.select_related("workspace").first())
    is_trashed = bool(request.POST.get("is_trashed"))
    if not request.POST.get("is_confirmed"):
        return render(request, "erase_run.html", {**_taken_away(run), "is_trashed": is_trashed})
    name = _quoted(run)
    if _remove(run, is_trashed=is_trashed):
        forget_progress([run_id], run.workspace_id)
        sentence = f"{name} and its trials and raw output were deleted."
    else:
        sentence = f"{name} is no longer in the trash, so it was not deleted."
    messages.info(request, sentence)
    return HttpResponseRedirect(link_to("trash-page", run.workspace.slug))


def _remove(run: Run, *, is_trashed: bool) -> bool:
    """Whether the run was deleted; one that was asked for as trashed may have been restored."""
    if is_trashed:
        return remove_trashed_run(run)
    delete_for_good(run)
    return True


def _quoted(run: Run) -> str:
    return f"“{rows_of([run])[0].name}”"


def _taken_away(run: Run) -> dict[str, Any]:
    """The context of the question before a run is deleted."""
    servers = Cell.objects.filter(run=run).values_list("series__server__name", flat=True)
    return {
        "workspace": run.workspace,
        "nav": "runs",
        "run": run,
        "servers": sort_names(servers),
        "trials": Trial.objects.filter(run=run).count(),
        "days": KEPT_IN_TRASH.days,
    }
