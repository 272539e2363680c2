"""Renaming a server, host or workload, merging two of them, and undoing a merge."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from backend.accounts.models import Workspace
from backend.analysis.loading.large_runs import hold_slot_if_workspace_large
from backend.ingest.reprocessing.merging import merge_names, undo_merged_names
from backend.links import link_to
from backend.runs.amending.renaming import rename
from backend.runs.models import FormerName, Merge
from backend.runs.registry.registry import MODELS
from backend.web.base import visible


@require_POST
def rename_row(request: HttpRequest, slug: str, id_: UUID, kind: FormerName.Kind) -> HttpResponse:
    """Field: name. Renames every row with this name.

    A host without a name cannot be renamed: later uploads would not find it.
    """
    workspace = visible.writable_workspace_or_404(request, slug)
    former = _name_or_404(workspace, kind, id_)
    hold_slot_if_workspace_large(workspace.pk, viewer=visible.viewer_name(request))
    current = rename(workspace, kind, former, request.POST.get("name", ""), visible.viewer(request))
    messages.info(request, f"“{former}” is now “{current}”. Links with the old name still work.")
    return HttpResponseRedirect(link_to(f"{kind}-page", slug, id_))


@require_POST
def merge_row(request: HttpRequest, slug: str, id_: UUID, kind: FormerName.Kind) -> HttpResponse:
    """Field: into, a name. Everything of this name gets that name."""
    workspace = visible.writable_workspace_or_404(request, slug)
    source = _name_or_404(workspace, kind, id_)
    # PostgreSQL keeps no name with NUL, and refuses to look for it.
    target = request.POST.get("into", "").replace("\0", "").strip()
    hold_slot_if_workspace_large(workspace.pk, viewer=visible.viewer_name(request))
    merged = merge_names(workspace, kind, source, target, visible.viewer(request))
    messages.info(
        request,
        f"“{source}” was merged into “{target}”. Links with the old name still work. "
        "Frozen result sets do not change.",
    )
    return HttpResponseRedirect(link_to(f"{kind}-page", slug, merged.rows[0]["into"]))


@require_POST
def undo_merge_row(request: HttpRequest, slug: str, merge_id: UUID) -> HttpResponse:
    """Undo a merge: its rows and names come back."""
    workspace = visible.writable_workspace_or_404(request, slug)
    merged = get_object_or_404(Merge, pk=merge_id, workspace=workspace)
    hold_slot_if_workspace_large(workspace.pk, viewer=visible.viewer_name(request))
    if undo_merged_names(merged, by=visible.viewer(request)):
        messages.info(request, f"“{merged.source}” is a {merged.kind} of its own again.")
    return HttpResponseRedirect(link_to(f"{merged.kind}-page", slug, merged.rows[0]["id"]))


def _name_or_404(workspace: Workspace, kind: FormerName.Kind, id_: UUID) -> str:
    named = MODELS[kind]._default_manager.filter(pk=id_, workspace=workspace, name__isnull=False)
    name: str = visible.or_404(named.values_list("name", flat=True).first())
    return name
