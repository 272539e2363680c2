"""Lists in pages that stay whole while rows come and go, and how all of them are answered."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from django.db.models import Model, QuerySet, Value
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from backend.api.protocol.parameters import FIELDS, not_allowed, only_asked
from backend.api.protocol.schema import operation
from backend.links import link_to
from backend.runs.database.cursors import (
    Page,
    beyond,
    pack_cursor,
    page_by_time,
    read_cursor,
    read_id,
)
from backend.whole_numbers import whole_number

DEFAULT_LIMIT = 50
LIMITS = range(1, 201)
LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": LIMITS.start, "maximum": LIMITS.stop - 1},
    description="Entries per page",
    default=DEFAULT_LIMIT,
)
AFTER = OpenApiParameter("after", str, description="The cursor that next gave")
PAGING = [LIMIT, AFTER, FIELDS]
# Of a list of one workspace, and of a list over all workspaces that one may read.
WORKSPACE = OpenApiParameter(
    "workspace", str, description="The slug of the workspace; not needed with a token"
)
ONLY_WORKSPACE = OpenApiParameter("workspace", str, description="Only this workspace, by its slug")
Row = TypeVar("Row", bound=Model)
# What a view of a list returns: the page, and perhaps what its serializers read beside the rows.
Answer = Page[Any] | tuple[Page[Any], dict[str, Any]]


def next_field() -> serializers.CharField:
    """The last member of a page of a list."""
    return serializers.CharField(allow_null=True, help_text="The next page; null on the last")


def list_operation(
    name: str,
    member: str,
    entry: type[serializers.BaseSerializer[Any]],
    *parameters: OpenApiParameter,
    problems: Sequence[int] = (401, 404),
    counted: bool = False,
) -> Callable[[Callable[..., Answer]], Callable[..., Response]]:
    """Describes a view that returns a page of a list, and answers that page.

    `member`: the name of the entries in the answer; `parameters`: beside those of every list;
    `counted`: the page says how many entries the list has. Entries have the members that the
    request asks for.
    """
    page_name = name.removesuffix("_list").title().replace("_", "")
    entries = entry(many=True)
    total = {"total": serializers.IntegerField()} if counted else {}
    doc = f"One page of {member.replace('_', ' ')}."
    members = {"__doc__": doc, member: entries, **total, "next": next_field()}
    page_class = type(f"{page_name}PageSerializer", (serializers.Serializer,), members)

    def decorate(view: Callable[..., Answer]) -> Callable[..., Response]:
        @operation(name, problems, answer=page_class, parameters=[*parameters, *PAGING])
        @wraps(view)
        def answer(self: object, request: Request, **arguments: Any) -> Response:
            answered = view(self, request, **arguments)
            page, context = answered if isinstance(answered, tuple) else (answered, {})
            shown = {member: page.rows, "next": next_page(request, page.next)}
            shown |= {name: getattr(page, name) for name in total}
            body = page_class(shown, context=context).data
            return Response({**body, member: only_asked(request, body[member])})

        return answer

    return decorate


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


def next_page(request: Request, cursor: str | None) -> str | None:
    """The address of the list's page behind the cursor; None if there is no cursor."""
    route = request.resolver_match
    if cursor is None or route is None:
        return None
    query = {**request.query_params.dict(), "after": cursor}
    return link_to(route.view_name, *route.kwargs.values(), query=query)


def newest_first(request: Request, rows: QuerySet[Row], field: str) -> Page[Row]:
    """The page of `rows` that the request asks for. `field`: the time that orders the list.

    Raises Problem and BadCursor.
    """
    limit = limit_asked(request)
    return page_by_time(rows, field, after=after_asked(request), limit=limit)


def by_name(request: Request, rows: QuerySet[Row], *, key: str = "pk") -> Page[Row]:
    """As `newest_first`, for rows with a name, in its order. `key`: a column of unique UUIDs."""
    limit = limit_asked(request)
    if after := after_asked(request):
        name, id_ = read_cursor(after, 2)
        rows = rows.filter(beyond("name", Value(str(name)), read_id(id_), ">", id_column=key))
    listed = list(rows.order_by("name", key)[: limit + 1])
    page = listed[:limit]
    if len(listed) == len(page):
        return Page(page, None)
    # Not every model has a name.
    last_name = getattr(page[-1], "name")  # noqa: B009
    return Page(page, pack_cursor(last_name, str(getattr(page[-1], key))))
