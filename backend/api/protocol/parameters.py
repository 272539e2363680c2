"""What parameters of an address may be: given once, unless the document declares an array.

And the answer to a value that is not allowed.
"""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from backend.analysis.query.compare_query import quoted
from backend.api.protocol.errors import Problem


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
