"""Answers have the bytes that Django REST framework writes, whichever encoder wrote them."""

import random
import uuid
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils.functional import lazystr
from django.utils.safestring import mark_safe
from rest_framework.renderers import JSONRenderer
from rest_framework.utils.serializer_helpers import ReturnDict

from backend.api.protocol import rendering
from backend.api.protocol.rendering import PART, JsonRenderer
from backend.sharing.models import Visibility

AT = datetime(2026, 3, 2, 9, 30, 0, 123456, UTC)
ANSWERS = [
    {"a": 1, "b": [1.5, None, True, "ü"], "c": {}, "d": []},
    # Exponents are written in two ways.
    {"small": 1e-7, "large": 1e16, "least": 5e-324, "list": [2.5e-5, -1e300], "zero": -0.0},
    {"last": [1e-5]},
    {"plain": [1e-4, 0.0001234, 9999999999999998.0, 123456789012345.6], "most": 1e15},
    {"text": "1e5, 2e-7] and 3e7}"},
    # Integers that need more than 64 bits.
    {"count": 10**20, "negative": -(10**19), "fits": 2**63},
    {"control": "\0\x01\x1f\x7f\b\f\n\r\t\"\\/<>&'", "ends": "a\u2028b\u2029c", "key\u2028": 1},
    {"wide": "\U0001f600 é", "lone": "\ud800"},
    {"at": AT, "day": date(2026, 3, 2), "id": uuid.uuid4(), "length": timedelta(seconds=3)},
    {"exact": Decimal("1.10"), "lazy": lazystr("text"), "safe": mark_safe("<b>")},
    {1: "a", None: "b", False: "c", 2.5: "d"},
    {"choice": Visibility.PUBLIC, "pair": (1, 2), "set": ReturnDict({"a": 1}, serializer=None)},
    "text",
    [],
    None,
    7,
]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_the_bytes_are_those_of_the_framework(answer):
    assert written(JsonRenderer, answer) == written(JSONRenderer, answer)


LONG = [{"at": number, "inner": {"a": []}} for number in range(2 * PART + 1)]
LONG_ANSWERS = [
    LONG,
    {"a": 1, "trials": LONG, "next": None, "ü": "\u2028"},
    {"runs": [{"id": uuid.uuid4(), "trials": LONG}, {"trials": [], "labels": {}}], "none": []},
    {"small": 1e-7, "trials": LONG, "large": 1e16},
    {"few": LONG[:PART], "more": LONG[: PART + 1], 7: "x"},
    [[LONG, LONG[:3]], None, (LONG, 1e-7)],
    {"texts": ["1e5, "] * 3 * PART, "numbers": [1e-7, *range(PART), 10**20]},
    ReturnDict({"lazy": [lazystr("text")] * 2 * PART, "at": AT}, serializer=None),
]


@pytest.mark.parametrize("answer", LONG_ANSWERS, ids=range(len(LONG_ANSWERS)))
def test_what_is_written_in_parts_has_the_bytes_of_the_framework(answer):
    assert written(JsonRenderer, answer) == written(JSONRenderer, answer)


def test_no_call_writes_more_than_a_part_of_a_large_answer(monkeypatch):
    """No other thread of the process runs during such a call."""
    written_at_once = []
    monkeypatch.setattr(rendering, "_written", written_at_once.append)
    JsonRenderer().render({"runs": [{"id": 1, "trials": LONG * 10}], "next": None})
    assert max(len(data) for data in written_at_once if isinstance(data, list)) == PART
    assert not any(LONG[0] in data.values() for data in written_at_once if isinstance(data, dict))


def test_floats_of_each_size_are_written_alike():
    chance = random.Random(20_261_123)
    for exponent in range(-30, 30):
        for _ in range(50):
            answer = [chance.choice((-1, 1)) * chance.uniform(1, 10) * 10.0**exponent]
            assert written(JsonRenderer, answer) == written(JSONRenderer, answer)


def written(renderer, answer):
    try:
        return renderer().render(answer)
    except UnicodeEncodeError as error:
        return error.reason


def test_who_asks_for_an_indent_gets_it():
    answer = {"a": [1, 2]}
    asked = "application/json; indent=4"
    assert JsonRenderer().render(answer, asked) == JSONRenderer().render(answer, asked)
    assert b"    " in JsonRenderer().render(answer, asked)
