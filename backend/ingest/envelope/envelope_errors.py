"""What is wrong with an envelope, in words: where, what was got, what was expected."""

import re
from collections.abc import Iterator
from reprlib import Repr
from typing import Any

import msgspec

from backend.untrusted.json.json_refusals import JsonRefused
from backend.visible_text import shortened

KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
LENGTHS = {
    "str": "text of at most {} characters",
    "array": "a list of at most {} items",
    "object": "an object of at most {} members",
}
PLACE = re.compile(r"(?P<problem>.*?)(?: - at `(?P<of_key>key in )?\$?(?P<path>.*)`)?", re.DOTALL)
LENGTH = re.compile(r"Expected `(\w+)` of length <= (\d+)")
RANGE = re.compile(r"Expected `(int|float)` (>=|<=|<) (\S+)")
KIND = re.compile(r"Expected `([^`]+)`, got `[^`]+`")
UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`")
STEP = re.compile(r"\.(\w+)|\[(\d+)\]|(\[\.\.\.\])")
RANGES = {">=": "of at least", "<=": "of at most", "<": "below"}
TIME = "an ISO 8601 time with its zone, such as 2026-01-31T12:00:00Z"
CHOICES = {"phase": "warmup, measure, search, confirm", "loop": "closed, open"}
# Only the beginning is shown: writing all of a large list would keep other threads waiting.
_QUOTE = Repr()
_QUOTE.maxlevel, _QUOTE.maxlist, _QUOTE.maxdict, _QUOTE.maxstring = 6, 40, 40, 100


class EnvelopeError(JsonRefused):
    """The envelope is not as agreed: says where, what was got and what was expected."""

    def __init__(self, where: str, got: object, expected: str) -> None:
        shown = shortened(_QUOTE.repr(got), 80)
        super().__init__(f"envelope: {where} is {shown}, expected {expected}.")
        self.where = where


def error_of(error: msgspec.ValidationError, body: object, whole: str) -> EnvelopeError:
    """The library's error about `body`, which is called `whole`, with what stood in that place."""
    match = PLACE.fullmatch(str(error))
    problem, path = (match["problem"], match["path"] or "") if match else (str(error), "")
    names, value = _follow(path, body, problem)
    place = "".join(names)
    if match and match["of_key"]:
        return EnvelopeError(f"a name in {place or whole}", "longer", _expected(problem, ""))
    where = place.lstrip(".") or whole
    if unknown := UNKNOWN.match(problem):
        return EnvelopeError(where, unknown[1], "the roles client and server only")
    return EnvelopeError(where, value, _expected(problem, where))


def _follow(path: str, body: Any, problem: str) -> tuple[list[str], object]:
    """The names of the steps, and the value behind the last."""
    names: list[str] = []
    for member, index, _ in STEP.findall(path):
        if member:
            body = body[member]
            names.append(f".{member}")
        elif index:
            body = body[int(index)]
            names.append(f"[{index}]")
        else:
            name, body = _culprit(body, problem)
            names.append(f".{name}")
    return names, body


def _culprit(members: dict[str, Any], problem: str) -> tuple[str, Any]:
    # The library names no key of a map: the first member with this problem is meant.
    return next(_with_problem(members, problem), next(iter(members.items())))


def _with_problem(members: dict[str, Any], problem: str) -> Iterator[tuple[str, Any]]:
    too_long = LENGTH.match(problem)
    for name, value in members.items():
        if too_long is not None:
            if isinstance(value, str) and len(value) > int(too_long[2]):
                yield name, value
        elif value is not None and not isinstance(value, str):
            yield name, value


def _expected(problem: str, where: str) -> str:
    if length := LENGTH.match(problem):
        return LENGTHS[length[1]].format(length[2])
    if limit := RANGE.match(problem):
        return f"{KINDS[limit[1]]} {RANGES[limit[2]]} {limit[3].removesuffix('.0')}"
    if kind := KIND.match(problem):
        kinds = [name for name in kind[1].split(" | ") if name != "null"]
        return " or ".join(KINDS.get(name, name) for name in kinds)
    if problem.startswith("Invalid enum value"):
        return f"one of {CHOICES.get(where.rpartition('.')[2], '')}"
    if problem.startswith("Invalid UUID"):
        return "a UUID"
    return TIME if where.endswith("at") else problem
