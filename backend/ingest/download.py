"""The stored bytes of an artefact as an answer that no browser runs."""

from __future__ import annotations

import re

from django.http import FileResponse

from backend.ingest.models import Artefact
from backend.ingest.storage import open_artefact

_UNSAFE_IN_NAME = re.compile(r"[\x00-\x1f\x7f/\\]")


def download(artefact: Artefact) -> FileResponse:
    """The bytes as received, never as a page. Raises FileNotFoundError and StorageAway."""
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
