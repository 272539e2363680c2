"""`expand=figures`: heavy parts of an answer, which it has only where they are asked for."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from backend.api.protocol.parameters import not_allowed

NAME = "expand"


def expand_parameter(*parts: str, note: str = "") -> OpenApiParameter:
    """The parameter of an operation whose answer can have these parts."""
    text = f"Large parts to include in the answer, separated by commas: {', '.join(parts)}"
    return OpenApiParameter(NAME, str, description=f"{text} ({note})" if note else text)


def asked_parts(request: Request, *allowed: str) -> frozenset[str]:
    """Those of `allowed` that the request asks for. Raises Problem for others."""
    given = request.query_params.get(NAME, "")
    parts = [part.strip() for part in given.split(",")] if given else []
    for part in parts:
        if part not in allowed:
            raise not_allowed(NAME, part, f"are {', '.join(allowed)}", title="Bad expand")
    return frozenset(parts)
