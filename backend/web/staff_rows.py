"""Rows that the pages of the staff show and do not change."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.http import HttpRequest


class ReadOnly(ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    """Rows that staff may look at. The site lets only staff in."""

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
