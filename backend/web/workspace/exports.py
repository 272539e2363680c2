"""Archives of a workspace: asking for one, following it, downloading and deleting it."""

import logging
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backend.links import link_to
from backend.transfer.exporting import delete_export, download, exports_of, request_export
from backend.transfer.models import Export
from backend.transfer.tables import ALSO_LEFT_OUT, LEFT_OUT
from backend.web.base import visible
from backend.web.base.errors import message

log = logging.getLogger(__name__)


@require_http_methods(["GET", "HEAD", "POST"])
def exports_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The archives, and what is in them. A POST asks for one."""
    workspace = visible.administered_workspace_or_404(request, slug)
    if request.method == "POST":
        request_export(workspace, author=visible.viewer(request))
        messages.info(request, "The archive is being written. It will be listed here.")
        return HttpResponseRedirect(request.path)
    rows = list(exports_of(workspace))
    context = {
        "workspace": workspace,
        "rows": [_row(export) for export in rows],
        "is_unfinished": any(export.is_unfinished for export in rows),
        "left_out": list(dict.fromkeys([*LEFT_OUT.values(), *ALSO_LEFT_OUT])),
        "days": settings.EXPORT_KEPT_DAYS,
    }
    return render(request, "exports.html", context)


def _row(export: Export) -> dict[str, Any]:
    return {
        "export": export,
        "api_url": link_to("export", export.pk) if export.is_unfinished else "",
        "file_url": link_to("export-file", export.workspace.slug, export.pk),
    }


@require_safe
def file(request: HttpRequest, slug: str, export_id: UUID) -> HttpResponseBase:
    """The archive as a download."""
    export = _export_or_404(request, slug, export_id)
    try:
        return download(export)
    except FileNotFoundError:
        log.exception("archive_missing", extra={"export": str(export.pk)})
        return message(
            request,
            500,
            title="The stored file is missing",
            sentence="The service has a record of this archive, but its bytes are not in the "
            "storage.",
            hint="Delete the archive and ask for another one.",
        )


@require_POST
def delete(request: HttpRequest, slug: str, export_id: UUID) -> HttpResponse:
    """Remove the archive, or stop writing it."""
    export = _export_or_404(request, slug, export_id)
    delete_export(export)
    messages.info(request, "The archive was deleted.")
    return HttpResponseRedirect(link_to("exports-page", export.workspace.slug))


def _export_or_404(request: HttpRequest, slug: str, export_id: UUID) -> Export:
    workspace = visible.administered_workspace_or_404(request, slug)
    return get_object_or_404(exports_of(workspace), pk=export_id)
