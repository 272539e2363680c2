"""Renaming a server, host or workload."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from backend.links import link_to
from backend.runs.models import FormerName
from backend.runs.registry import MODELS
from backend.runs.renaming import rename
from backend.web import visible


@require_POST
def rename_row(request: HttpRequest, slug: str, id_: UUID, kind: FormerName.Kind) -> HttpResponse:
    """Field: name. Renames every row with this name.

    A host without a name cannot be renamed: later uploads would not find it.
    """
    workspace = visible.writable_workspace_or_404(request, slug)
    named = MODELS[kind]._default_manager.filter(pk=id_, workspace=workspace, name__isnull=False)
    former = named.values_list("name", flat=True).first()
    if former is None:
        raise Http404
    current = rename(workspace, kind, former, request.POST.get("name", ""), visible.viewer(request))
    messages.info(request, f"“{former}” is now “{current}”. Links with the old name still work.")
    return HttpResponseRedirect(link_to(f"{kind}-page", slug, id_))
