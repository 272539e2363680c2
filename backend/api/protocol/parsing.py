"""JSON that requests carry, read within the limits of `ingest.limits`."""

from collections.abc import Mapping
from typing import IO, Any

from django.http import UnreadablePostError
from rest_framework.parsers import BaseParser

from backend.api.protocol.errors import cut_off
from backend.untrusted.json.plain_json import read_json
from backend.untrusted.limits import JSON_BYTES


class JsonParser(BaseParser):
    """application/json."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The value of the body. Raises JsonRefused, and Problem where the body was cut off."""
        view = (parser_context or {}).get("view")
        limit_bytes: int = getattr(view, "json_bytes", JSON_BYTES)
        try:
            raw = stream.read(limit_bytes + 1)
        except UnreadablePostError:
            raise cut_off() from None
        return read_json(raw, limit_bytes=limit_bytes, subject="The body")
