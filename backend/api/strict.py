"""Bodies of JSON whose values have the types that the document says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request


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
    (serializers.CharField, lambda value: isinstance(value, str), "a text"),
    (serializers.ChoiceField, lambda value: isinstance(value, str), "a text"),
    (serializers.UUIDField, lambda value: isinstance(value, str), "a UUID as text"),
    (serializers.DateTimeField, lambda value: isinstance(value, str), "a time as text"),
)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses what the framework would convert: 5 for a text, "5" for a number."""

    def to_internal_value(self, data: Any) -> Any:
        """The validated values. Raises ValidationError."""
        if isinstance(data, Mapping):
            wrong = {
                name: [f"Got {str(data[name])[:40]!r}, expected {expected}."]
                for name, field in self.fields.items()
                if (expected := _expected(field, data.get(name))) is not None
            }
            if wrong:
                raise serializers.ValidationError(wrong)
        return super().to_internal_value(data)


def _expected(field: serializers.Field[Any, Any, Any, Any], value: object) -> str | None:
    """What the field takes, where the value has another type; a missing one is null."""
    for kind, fits, expected in TYPES:
        if isinstance(field, kind):
            return None if value is None or fits(value) else expected
    return None


def validated(form_class: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """The body of a request by the form's fields. Raises ValidationError."""
    form = form_class(data=request.data)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)
