"""What parameters of an address may be: given once, unless the document declares an array.

And the answer to a value that is not allowed. `expand=figures` asks for heavy parts of an answer,
which it has only where they are asked for; `fields=id,name` for these members of its entries only.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from backend.analysis.query.compare_query import quoted
from backend.api.protocol.errors import Problem

EXPAND = "expand"
ONLY = "fields"
MAX_FIELDS = 100
FIELDS = OpenApiParameter(
    ONLY, str, description="Only these members of an entry, separated by commas; without it, all"
)


def names_of_arrays(parameters: Iterable[OpenApiParameter]) -> frozenset[str]:
    """Those of an operation's parameters that may be given several times."""
    return frozenset(parameter.name for parameter in parameters if parameter.many)


class RefuseRepeatedParameters(BasePermission):
    """Refuses a parameter that is given several times where only one value would count.

    A view with arrays names them in `arrays`, by `names_of_arrays`.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises Problem 400."""
        arrays: frozenset[str] = getattr(view, "arrays", frozenset())
        for name, values in request.query_params.lists():
            if len(values) > 1 and name not in arrays:
                raise given_several_times(name, len(values))
        return True


def given_several_times(name: str, count: int) -> Problem:
    """The answer to a parameter or a field of a form that takes one value."""
    return Problem(
        400,
        "Given several times",
        f"{quoted(name)} was given {count} times; give it once.",
        hint="Leave out all but one of its values.",
        field=name[:80],
        allowed="one value",
    )


def not_allowed(name: str, given: str, allowed: str, *, title: str = "Bad request") -> Problem:
    """The answer to a parameter with another value than `allowed` says, such as "are 0 and 1"."""
    return Problem(
        400,
        title,
        f"{name}: got {given[:40]!r}, allowed {allowed}.",
        hint=f"Correct or leave out {name}.",
        field=name,
    )


def expand_parameter(*parts: str, note: str = "") -> OpenApiParameter:
    """The parameter of an operation whose answer can have these parts."""
    text = f"Large parts to include in the answer, separated by commas: {', '.join(parts)}"
    return OpenApiParameter(EXPAND, str, description=f"{text} ({note})" if note else text)


def asked_parts(request: Request, *allowed: str) -> frozenset[str]:
    """Those of `allowed` that the request asks for. Raises Problem for others."""
    given = request.query_params.get(EXPAND, "")
    parts = [part.strip() for part in given.split(",")] if given else []
    for part in parts:
        if part not in allowed:
            raise not_allowed(EXPAND, part, f"are {', '.join(allowed)}", title="Bad expand")
    return frozenset(parts)


def only_asked(request: Request, entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The entries with the members that the request asks for. Raises Problem for others."""
    asked = request.query_params.get(ONLY)
    if not asked:
        return list(entries)
    names = list(dict.fromkeys(part.strip() for part in asked.split(",")))[:MAX_FIELDS]
    for entry in entries[:1]:
        if unknown := [name for name in names if name not in entry]:
            allowed = f"are {', '.join(entry)}"
            raise not_allowed(ONLY, unknown[0], allowed, title="Bad fields")
    return [{name: entry[name] for name in names} for entry in entries]
