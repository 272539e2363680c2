"""Rows that the pages of the staff show and do not change."""

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.http import HttpRequest, HttpResponse


def column(text: str, show: Callable[[Any], str], *, order: str) -> Any:
    """A column with the heading `text`, and the line of a row's page. `order`: what sorts it."""

    @admin.display(description=text, ordering=order)
    def shown(row: Any) -> str:
        return show(row)

    return shown


def time_column(text: str, field: str) -> Any:
    """A column of a time, written as on all pages; empty where there is none."""

    def show(row: Any) -> str:
        at = getattr(row, field)
        return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"

    return column(text, show, order=field)


class ReadOnly(ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    """Rows that staff may look at. The site lets only staff in."""

    # The headings of the list and of the page of a row, in place of “Select … to change”.
    list_title = row_title = ""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list, under its title."""
        return super().changelist_view(request, _titled(self.list_title, extra_context))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        """The page of a row, under its title."""
        title = self.row_title if object_id else ""
        context = _titled(title, extra_context) | {"show_save_and_continue": False}
        return super().changeform_view(request, object_id, form_url, context)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _titled(title: str, context: Mapping[str, Any] | None) -> dict[str, Any]:
    """The context with the title, where there is one, and no heading below it."""
    given = dict(context or {})
    return {**given, "title": title, "subtitle": None} if title else given
