"""Bodies of JSON that have the types and lengths that the document says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from reprlib import repr as shorten
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from backend.api.protocol.workspaces import refuse_other_workspace_in

AnyField = serializers.Field[Any, Any, Any, Any]


def _is_integer(value: object) -> bool:
    # 5.0 is a whole number in JSON.
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return is_whole and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# By the first class that a field has: whether a value fits, and what is expected.
TYPES = (
    (serializers.IntegerField, _is_integer, "a whole number"),
    (serializers.FloatField, _is_number, "a number"),
    (serializers.BooleanField, lambda value: isinstance(value, bool), "true or false"),
    (serializers.CharField, lambda value: isinstance(value, str), "a text"),
    (serializers.ChoiceField, lambda value: isinstance(value, str), "a text"),
    (serializers.UUIDField, lambda value: isinstance(value, str), "a UUID as text"),
    (serializers.DateTimeField, lambda value: isinstance(value, str), "a time as text"),
)


class TypedSerializer(serializers.Serializer[Any]):
    """Refuses what the framework would convert: 5 for a text, "5" for a number, also in lists.

    A text is held against its limits as it was sent; the framework does so without the blanks
    around it.
    """

    def to_internal_value(self, data: Any) -> Any:
        """The validated values. Raises ValidationError."""
        if isinstance(data, Mapping) and (problems := self.problems(data)):
            raise serializers.ValidationError(problems)
        return super().to_internal_value(data)

    def problems(self, data: Mapping[str, Any]) -> dict[Any, Any]:
        """The problems of the members that are fields, by name."""
        fields = self.fields.items()
        return _problems((name, field, data[name]) for name, field in fields if name in data)


class StrictSerializer(TypedSerializer):
    """Also refuses a member that does not exist, so that a misspelt one is not lost."""

    def problems(self, data: Mapping[str, Any]) -> dict[Any, Any]:
        """The problems of all members, by name."""
        return self._other_members(data) | super().problems(data)

    def _other_members(self, data: Mapping[str, Any]) -> dict[Any, Any]:
        """The problem of each member that does not exist, by its name."""
        allowed = ", ".join(self.fields)
        return {
            name: [f"There is no such field. Allowed are {allowed}."]
            for name in data
            if name not in self.fields
        }


class OpenSerializer(TypedSerializer):
    """Ignores other members: a newer agent, or a program that is not ours, may send them."""


def _problems(values: Iterable[tuple[Any, AnyField, object]]) -> dict[Any, Any]:
    """The problems by name or position, of values with their fields."""
    return {
        place: problem
        for place, field, value in values
        if (problem := _problem(field, value)) is not None
    }


def _problem(field: AnyField, value: object) -> Any:
    """What is wrong with a value; None if the framework decides."""
    if items := _items(field, value):
        return _problems(items) or None
    if (expected := _expected(field, value)) is not None:
        return [f"Got {_beginning(value)!r}, expected {expected}."]
    if isinstance(field, serializers.CharField) and isinstance(value, str):
        return _problem_with_blanks(field, value)
    return None


def _beginning(value: object) -> str:
    """Of a large value only the beginning is written: all of it would take long."""
    return (value if isinstance(value, str) else shorten(value))[:40]


def _items(field: AnyField, value: object) -> list[tuple[Any, AnyField, object]]:
    """What a list or an object contains, by position or name."""
    if isinstance(field, serializers.ListField) and isinstance(value, list):
        return [(place, field.child, item) for place, item in enumerate(value)]
    if isinstance(field, serializers.DictField) and isinstance(value, dict):
        return [(name, field.child, item) for name, item in value.items()]
    return []


def _expected(field: AnyField, value: object) -> str | None:
    """What the field takes, where the value has another type; a missing one is null."""
    for kind, fits, expected in TYPES:
        if isinstance(field, kind):
            return None if value is None or fits(value) else expected
    return None


def _problem_with_blanks(field: serializers.CharField, text: str) -> Any:
    """What is wrong with a text that the framework would judge without its outer blanks."""
    if text == text.strip():
        return None
    try:
        field.run_validators(text)
    except serializers.ValidationError as error:
        return error.detail
    return None


def validated(form_class: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """The body of a request by the form's fields. Raises ValidationError.

    Raises Problem 400 where the body names another workspace than that of the token, also for an
    operation that has no such field.
    """
    refuse_other_workspace_in(request)
    form = form_class(data=request.data)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)
