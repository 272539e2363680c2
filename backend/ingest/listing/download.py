"""What was received, as answers that no browser runs: an artefact's bytes, a run's plan."""

import re

from django.http import FileResponse, HttpResponse

from backend.ingest.models import Artefact
from backend.ingest.removing.retention import refuse_removed
from backend.runs.models import Run
from backend.storage import open_artefact
from backend.visible_text import UNSEEN

_UNSAFE_IN_NAME = re.compile(rf"[{UNSEEN}\t\r\n/\\]")


def download(artefact: Artefact) -> FileResponse:
    """The bytes as received, never as a page.

    Raises RawOutputRemoved, FileNotFoundError and StorageAway.
    """
    refuse_removed(artefact.upload)
    response = FileResponse(
        open_artefact(artefact.sha256),
        as_attachment=True,
        filename=_UNSAFE_IN_NAME.sub("_", artefact.name),
        content_type="text/plain; charset=utf-8",
    )
    response["Content-Length"] = str(artefact.size_bytes)
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def plan_file(run: Run) -> HttpResponse:
    """The run's plan as a download; UTF-8, so that its bytes are those of the hash."""
    response = HttpResponse(run.plan.encode(), content_type="application/toml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="plan-{str(run.pk)[:8]}.toml"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
