"""Lists in pages that stay whole while rows come and go: by time, or by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from backend.api.runs import LIMIT, limit_asked
from backend.links import link_to
from backend.runs.cursors import pack_cursor, read_cursor, read_id, read_instant_cursor

AFTER = OpenApiParameter("after", str, description="As given by next")
PAGING = [LIMIT, AFTER]
Row = TypeVar("Row", bound=Model)


def newest_first(
    request: Request, route: str, rows: QuerySet[Row], field: str
) -> tuple[list[Row], str | None]:
    """The page of `rows` that the request asks for, and the address of the next page or None.

    `field`: the time that orders the list. Raises Problem and BadCursor.
    """
    if after := request.query_params.get("after"):
        instant, id_ = read_instant_cursor(after)
        is_earlier: Any = Q(**{f"{field}__lt": instant}) | Q(**{field: instant, "pk__lt": id_})
        rows = rows.filter(is_earlier)

    def cursor_of(row: Row) -> str:
        return pack_cursor(getattr(row, field).isoformat(), str(row.pk))

    return _page(request, route, rows.order_by(f"-{field}", "-pk"), cursor_of)


def by_name(
    request: Request, route: str, rows: QuerySet[Row], *, key: str = "pk"
) -> tuple[list[Row], str | None]:
    """As `newest_first`, for rows with a name, in its order. `key`: a column of unique UUIDs."""
    if after := request.query_params.get("after"):
        name, id_ = read_cursor(after, 2)
        is_later: Any = Q(name=str(name), **{f"{key}__gt": read_id(id_)})
        rows = rows.filter(Q(name__gt=str(name)) | is_later)

    def cursor_of(row: Row) -> str:
        # Not every model has a name.
        return pack_cursor(getattr(row, "name"), str(getattr(row, key)))  # noqa: B009

    return _page(request, route, rows.order_by("name", key), cursor_of)


def _page(
    request: Request, route: str, rows: QuerySet[Row], cursor_of: Callable[[Row], str]
) -> tuple[list[Row], str | None]:
    limit = limit_asked(request)
    listed = list(rows[: limit + 1])
    page = listed[:limit]
    if len(listed) == len(page):
        return page, None
    query = {**request.query_params.dict(), "after": cursor_of(page[-1])}
    return page, link_to(route, query=query)
