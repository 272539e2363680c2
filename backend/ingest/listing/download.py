"""What was received, as answers that no browser runs: an artefact's bytes, a run's plan."""

import re

from django.http import FileResponse

from backend.ingest.models import Artefact
from backend.ingest.removing.retention import refuse_removed
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
