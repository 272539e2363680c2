"""What the child that parses answers, as JSON: how it is written, and how the parent reads it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from backend.formats import FormatError
from backend.formats.archive_facts import NO_FACTS, ArchiveFacts
from backend.formats.model import Entry
from backend.formats.read_trial import ReadTrial
from backend.formats.unread import NotRead
from backend.visible_text import visible


def storable(value: Any) -> Any:
    """The value as a database keeps it: texts without characters that nobody sees, such as NUL and
    halves of pairs, and whole numbers of more than 64 bits as floats."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): storable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and abs(value) >= 1 << 63 else value


def archive_of(answer: Mapping[str, Any]) -> ArchiveFacts:
    """What an answer says of the archive."""
    return msgspec.convert(answer["archive"], ArchiveFacts) if "archive" in answer else NO_FACTS


def as_refusal(refused: Exception) -> dict[str, Any]:
    """A refusal: one sentence, and its parts (reason, line, found, expected)."""
    answer: dict[str, Any] = {"refused": str(refused)}
    if isinstance(refused, NotRead):
        answer["is_rest"] = True
    if isinstance(refused, FormatError):
        answer["refusal"] = {
            "reason": refused.reason,
            "line": refused.line,
            "found": None if refused.found is None else refused.found[:300],
            "expected": refused.expected,
        }
    return answer


def as_entry(entry: Entry) -> dict[str, Any]:
    """One trial, or refusal, as JSON: {"trial": a ReadTrial} or as `as_refusal` gives it."""
    if isinstance(entry, FormatError):
        return as_refusal(entry)
    return {"trial": msgspec.to_builtins(ReadTrial.of(entry))}


def trial_of(entry: Mapping[str, Any]) -> ReadTrial:
    """The trial of an entry that has one."""
    return msgspec.convert(entry["trial"], ReadTrial)


# Threads that looked up its fields at the same time would end the process (see envelope.py).
for _kind in (ReadTrial, ArchiveFacts):
    msgspec.json.Decoder(_kind)
