"""The status page of one upload."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.ingest.evidence import listed
from backend.web import visible


@require_safe
def upload(request: HttpRequest, upload_id: UUID) -> HttpResponse:
    """What became of an upload; the page asks again until it has ended."""
    found = visible.upload_or_404(request, upload_id)
    context = {
        "workspace": found.workspace,
        "upload": found,
        "artefacts": [listed(row) for row in found.artefacts.all()],
        "api_url": f"/api/v1/uploads/{found.pk}",
        "run_url": f"/r/{found.run_id}" if found.run_id else "",
    }
    return render(request, "upload.html", context)
