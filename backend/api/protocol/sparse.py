"""`fields=id,name`: only these members of the entries of an answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from backend.api.protocol.parameters import not_allowed

NAME = "fields"
MAX_FIELDS = 100
FIELDS = OpenApiParameter(
    NAME, str, description="Only these members of an entry, separated by commas; without it, all"
)


def only_asked(request: Request, entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The entries with the members that the request asks for. Raises Problem for others."""
    asked = request.query_params.get(NAME)
    if not asked:
        return list(entries)
    names = list(dict.fromkeys(part.strip() for part in asked.split(",")))[:MAX_FIELDS]
    for entry in entries[:1]:
        if unknown := [name for name in names if name not in entry]:
            allowed = f"are {', '.join(entry)}"
            raise not_allowed(NAME, unknown[0], allowed, title="Bad fields")
    return [{name: entry[name] for name in names} for entry in entries]
