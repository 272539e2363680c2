"""Lists in pages that stay whole while rows come and go, and how all of them are answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db.models import Model, QuerySet, Value
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.parameters import not_allowed
from backend.api.sparse import FIELDS, only_asked
from backend.links import link_to
from backend.runs.cursors import beyond, pack_cursor, page_by_time, read_cursor, read_id
from backend.whole_numbers import whole_number

DEFAULT_LIMIT = 50
LIMITS = range(1, 201)
LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": LIMITS.start, "maximum": LIMITS.stop - 1},
    description="Entries of a page",
    default=DEFAULT_LIMIT,
)
AFTER = OpenApiParameter("after", str, description="As given by next")
PAGING = [LIMIT, AFTER, FIELDS]
# Of a list of one workspace, and of a list over all workspaces that one may read.
WORKSPACE = OpenApiParameter(
    "workspace", str, description="The slug of the workspace; a token has its own"
)
ONLY_WORKSPACE = OpenApiParameter("workspace", str, description="Only this workspace, by its slug")
Row = TypeVar("Row", bound=Model)


class PageSerializer(serializers.Serializer[Any]):
    """One page of a list. A subclass has one member: the entries, under the name of the list."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """The entries, and the address of the next page."""
        following = serializers.CharField(
            allow_null=True, help_text="The next page; null on the last"
        )
        return {**super().get_fields(), "next": following}

    @classmethod
    def answer(
        cls, request: Request, rows: Sequence[Any], following: str | None, **context: Any
    ) -> Response:
        """The page; its entries have the members that the request asks for.

        `following`: the address of the next page, or None. Raises Problem.
        """
        (name,) = cls._declared_fields
        page = cls({name: rows, "next": following}, context=context).data
        return Response({**page, name: only_asked(request, page[name])})


def limit_asked(request: Request, limits: range = LIMITS, *, default: int = DEFAULT_LIMIT) -> int:
    """The length of a page; raises Problem for one that is not allowed."""
    given = request.query_params.get("limit") or str(min(default, limits.stop - 1))
    limit = whole_number(given, limits)
    if limit is None:
        allowed = f"is a whole number from {limits.start} to {limits.stop - 1}"
        raise not_allowed("limit", given, allowed, title="Bad limit")
    return limit


def after_asked(request: Request) -> str:
    """The cursor of the page before; empty for the first page."""
    return request.query_params.get("after", "")


def next_page(request: Request, cursor: str | None, route: str, *arguments: object) -> str | None:
    """The address of the page behind the cursor; None where there is no cursor."""
    query = {**request.query_params.dict(), "after": cursor}
    return link_to(route, *arguments, query=query) if cursor else None


def newest_first(
    request: Request, route: str, rows: QuerySet[Row], field: str, *arguments: object
) -> tuple[Sequence[Row], str | None]:
    """The page of `rows` that the request asks for, and the address of the next page or None.

    `field`: the time that orders the list; `arguments`: of the route. Raises Problem and BadCursor.
    """
    limit = limit_asked(request)
    page = page_by_time(rows, field, after=after_asked(request), limit=limit)
    return page.rows, next_page(request, page.next, route, *arguments)


def by_name(
    request: Request, route: str, rows: QuerySet[Row], *, key: str = "pk"
) -> tuple[Sequence[Row], str | None]:
    """As `newest_first`, for rows with a name, in its order. `key`: a column of unique UUIDs."""
    limit = limit_asked(request)
    if after := after_asked(request):
        name, id_ = read_cursor(after, 2)
        rows = rows.filter(beyond("name", Value(str(name)), read_id(id_), ">", id_column=key))
    listed = list(rows.order_by("name", key)[: limit + 1])
    page = listed[:limit]
    if len(listed) == len(page):
        return page, None
    # Not every model has a name.
    last_name = getattr(page[-1], "name")  # noqa: B009
    cursor = pack_cursor(last_name, str(getattr(page[-1], key)))
    return page, next_page(request, cursor, route)
