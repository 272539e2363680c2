"""Raw output: a page that shows it, and the stored bytes for download."""

import logging
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.ingest.listing.download import download
from backend.ingest.models import Artefact
from backend.ingest.preview.preview import preview
from backend.ingest.removing.retention import refuse_removed
from backend.links import link_to
from backend.web.base import visible
from backend.web.base.errors import message

log = logging.getLogger(__name__)


@require_safe
def artefact(request: HttpRequest, artefact_id: UUID) -> HttpResponse:
    """The artefact as text; only its beginning where it is long."""
    artefact = visible.artefact_or_404(request, artefact_id)
    refuse_removed(artefact.upload)
    try:
        shown = preview(artefact.sha256)
    except FileNotFoundError:
        return _missing(request, artefact)
    context = {
        "workspace": artefact.upload.workspace,
        "artefact": artefact,
        "text": shown.text,
        "truncated": shown.truncated,
        "download_url": link_to("artefact-raw", artefact.pk),
        "trial": _trial(artefact),
    }
    return render(request, "artefact.html", context)


@require_safe
def raw(request: HttpRequest, artefact_id: UUID) -> HttpResponseBase:
    """The stored bytes as a download. Never as a page: an uploaded file must not run in a
    browser."""
    artefact = visible.artefact_or_404(request, artefact_id)
    try:
        return download(artefact)
    except FileNotFoundError:
        return _missing(request, artefact)


def _trial(artefact: Artefact) -> dict[str, Any] | None:
    trial = artefact.trials.select_related("cell__series__server").first()
    if trial is None:
        return None
    return {
        "ordinal": trial.ordinal,
        "server": str(trial.cell.series.server),
        "run_url": link_to("run-page", trial.run_id, fragment=f"trial-{trial.pk}"),
    }


def _missing(request: HttpRequest, artefact: Artefact) -> HttpResponse:
    log.error("artefact_missing", extra={"artefact": str(artefact.pk), "sha256": artefact.sha256})
    return message(
        request,
        500,
        title="The stored file is missing",
        sentence=f"The service has a record of this file ({artefact.sha256[:12]}…), but its "
        "bytes are not in the storage.",
        hint="Tell the operator of this service to restore the storage from a backup.",
    )
