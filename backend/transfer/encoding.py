"""A row of a table as JSON, and back.

Back, every id becomes another one by `moved_id`, also in what refers to it. So an archive imports
beside the workspace it came from, and can name no row that is not in it.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
import orjson
from django.core.exceptions import ValidationError
from django.db.models import (
    BinaryField,
    BooleanField,
    DateTimeField,
    Field,
    FloatField,
    ForeignKey,
    IntegerField,
    JSONField,
    Model,
    UUIDField,
)
from msgspec import Meta

from backend.accounts.models import User, Workspace
from backend.errors import InvalidInput
from backend.sharing.moved_ids import moved_id
from backend.transfer.tables import Table, is_person

# Times that fit into every time zone.
YEARS = range(2, 9999)


class RowRefused(InvalidInput):
    """A row of an archive has a value that its column cannot have."""


def encode(table: Table, row: Model, name_of: Callable[[uuid.UUID], str]) -> dict[str, Any]:
    """The row as JSON has it. `name_of`: the name of a user by their id."""
    encoded = {}
    for each in table.fields:
        value = getattr(row, each.attname)
        if is_person(each):
            value = None if value is None else name_of(value)
        encoded[each.name] = _plain(value)
    return encoded


def as_line(encoded: Mapping[str, Any]) -> bytes:
    """The row as a line of JSON. PostgreSQL gives 1e29 back as a whole number of 30 digits: these
    are written as they were sent."""
    try:
        return orjson.dumps(encoded) + b"\n"
    except TypeError:
        sent = json.loads(json.dumps(encoded), parse_int=_whole_or_float)
        return orjson.dumps(sent) + b"\n"


def _whole_or_float(digits: str) -> int | float:
    number = int(digits)
    return number if abs(number) < 1 << 63 else float(number)


def _plain(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode()
    return value


@dataclass(frozen=True)
class Target:
    """Where rows go. `namespace`: of their new ids. `people`: accounts here by names there."""

    workspace: Workspace
    namespace: uuid.UUID = field(default_factory=uuid.uuid4)
    people: Mapping[str, User] = field(default_factory=dict)

    def moved(self, id_: uuid.UUID) -> uuid.UUID:
        return moved_id(id_, [self.namespace])


def decode(table: Table, encoded: Mapping[str, Any], target: Target) -> Any:
    """The row of the model, not saved. Raises RowRefused, which names the column."""
    names = {each.name for each in table.fields}
    if set(encoded) != names:
        wrong = ", ".join(sorted(str(name)[:40] for name in set(encoded) ^ names))
        raise RowRefused(f"the columns {wrong} are missing, or are no columns")
    row = table.model()
    for each in table.model._meta.concrete_fields:
        if isinstance(each, ForeignKey) and each.related_model is Workspace:
            setattr(row, each.attname, target.workspace.pk)
    for each in table.fields:
        try:
            setattr(row, each.attname, _value(each, encoded[each.name], target))
        except (ValueError, ValidationError) as wrong:
            got, why = repr(encoded[each.name])[:60], _sentence(wrong)
            raise RowRefused(f"{each.name} is {got}; {why}") from None
    return row


def _sentence(wrong: ValueError | ValidationError) -> str:
    return wrong.messages[0] if isinstance(wrong, ValidationError) else str(wrong)


def _value(each: Field[Any, Any], value: Any, target: Target) -> Any:
    """The value as the column stores it. Raises ValueError and ValidationError."""
    if is_person(each):
        return _account(value, target)
    if value is None:
        if not each.null:
            raise ValueError("expected a value")
        return None
    kind = each.target_field if isinstance(each, ForeignKey) else each
    decoded = _decoder_of(kind)(value)
    if isinstance(kind, UUIDField):
        return target.moved(decoded)
    kind.run_validators(decoded)
    if kind.choices and decoded not in dict(kind.flatchoices):
        raise ValueError(f"expected one of {', '.join(str(key) for key, _ in kind.flatchoices)}")
    if isinstance(kind, JSONField):
        _check_form(kind, decoded)
    return decoded


def _account(value: Any, target: Target) -> Any:
    """The id of the account here; None for a person who has none, or none was named for."""
    if value is not None and not isinstance(value, str):
        raise ValueError("expected the name of a person")
    account = target.people.get(value or "")
    return None if account is None else account.pk


def _decoder_of(kind: Field[Any, Any]) -> Callable[[Any], Any]:
    return next((decoder for column, decoder in _DECODERS if isinstance(kind, column)), _text)


def _of_type(kind: type, expected: str) -> Callable[[Any], Any]:
    """Gives a value of exactly this type, as it is."""

    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"expected {expected}")
        return value

    return read


_text = _of_type(str, "a text")


def _time(value: Any) -> datetime:
    instant = datetime.fromisoformat(_text(value))
    if instant.tzinfo is None or instant.year not in YEARS:
        raise ValueError(f"expected a time with its zone, from the years {YEARS.start} to 9998")
    return instant.astimezone(UTC)


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(_text(value), validate=True)
    except binascii.Error:
        raise ValueError("expected base64") from None


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError("expected a number")
    return float(value)


_DECODERS: tuple[tuple[type[Field[Any, Any]], Callable[[Any], Any]], ...] = (
    (JSONField, lambda value: value),
    (UUIDField, lambda value: uuid.UUID(_text(value))),
    (DateTimeField, _time),
    (BinaryField, _bytes),
    (BooleanField, _of_type(bool, "true or false")),
    (IntegerField, _of_type(int, "a whole number")),
    (FloatField, _number),
)


# By the name of a column, what is in it. Others are shown as they are.
_TYPES: dict[str, Any] = {
    "percentiles_us": dict[Annotated[str, Meta(pattern=r"^\d{1,3}(\.\d{1,18})?$")], float | None],
    "errors": dict[str, int | None],
    "labels": dict[str, str],
    "events": list[dict[str, Any]],
}


def _check_form(kind: JSONField[Any, Any], value: Any) -> None:
    """A column that is made as an object or a list is one, of what pages and comparisons count on;
    checks have their ids."""
    form = kind.default if kind.default in (dict, list) else type(value)
    if not isinstance(value, form):
        raise ValueError(f"expected {'an object' if form is dict else 'a list'}")
    if kind.name in _TYPES:
        msgspec.convert(value, _TYPES[kind.name])
    if kind.name == "checks" and not all(map(_is_check, value)):
        raise ValueError("expected checks with an id each")


def _is_check(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)
