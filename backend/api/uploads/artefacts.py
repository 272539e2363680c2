"""GET /api/v1/artefacts/<id>/raw: the raw output behind a trial, for programs."""

import logging
from uuid import UUID

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.accounts.workspace import access
from backend.api.protocol.auth import required_actor
from backend.api.protocol.errors import Problem, or_not_found
from backend.api.protocol.rendering import AnyFormat
from backend.api.protocol.schema import operation
from backend.ingest.listing.download import download
from backend.ingest.models import Artefact

log = logging.getLogger(__name__)


class ArtefactRaw(APIView):
    content_negotiation_class = AnyFormat

    @operation(
        "artefact_read",
        (401, 404, 410),
        answer={(200, "text/plain"): OpenApiResponse(OpenApiTypes.BINARY, "The bytes as received")},
    )
    def get(self, request: Request, artefact_id: UUID) -> FileResponse:
        """The bytes of the file, as they were sent. 410 where the workspace keeps raw output for a
        number of days and they are over."""
        workspaces = access.workspace_ids_of(required_actor(request))
        rows = Artefact.objects.filter(
            pk=artefact_id, upload__workspace__in=workspaces, upload__is_in_trash=False
        )
        artefact = or_not_found(rows.select_related("upload").first())
        try:
            return download(artefact)
        except FileNotFoundError:
            log.exception("artefact_missing", extra={"artefact": str(artefact.pk)})
            raise Problem(
                500,
                "File missing",
                f"The bytes of this artefact ({artefact.sha256[:12]}…) are not in the storage.",
                hint="Tell the operator: the storage must be restored from its backup.",
            ) from None
