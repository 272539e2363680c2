"""JSON that requests carry, read within the limits of `ingest.limits`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.http import UnreadablePostError
from rest_framework.parsers import BaseParser

from backend.api.errors import Problem, cut_off
from backend.ingest.limits import JSON_BYTES
from backend.ingest.plain_json import JsonRefused, JsonTooLarge, read_json

JSON_HINT = "Mend the JSON and send it again; GET /api/v1/limits lists the limits."


class JsonParser(BaseParser):
    """application/json."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The value of the body; raises Problem 400 or 413."""
        try:
            raw = stream.read(JSON_BYTES + 1)
        except UnreadablePostError:
            raise cut_off() from None
        return json_value(raw, JSON_BYTES, "The body")


def json_value(raw: bytes, limit_bytes: int, what: str) -> Any:
    """The value of JSON that a request carries as `what`; raises Problem 400 or 413."""
    try:
        return read_json(raw, limit_bytes=limit_bytes)
    except JsonTooLarge as error:
        raise Problem(413, "Too large", f"{what} is refused. {error}", hint=JSON_HINT) from None
    except JsonRefused as error:
        sentence = f"{what} is refused. {error}"
        errors = [{"field": error.where or "request", "detail": str(error)}]
        raise Problem(400, "Bad request", sentence, hint=JSON_HINT, errors=errors) from None
