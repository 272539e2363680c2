"""Transport errors that tools give as free text, by class."""

from __future__ import annotations

from collections.abc import Mapping

from backend.formats.model import UNANSWERED_CLASSES

# As Go's HTTP clients write them; the first class with one of its words in the text is taken.
WORDS = (
    ("timeout", ("timeout", "timed out", "deadline exceeded")),
    ("connect", ("dial", "refused", "no such host", "unreachable", "no route to host")),
    ("write", ("write:", "broken pipe")),
    ("read", ("EOF", "reset", "read:", "closed connection", "closed idle connection")),
)
ENDINGS = (
    *("EOF", "refused", "reset by peer", "timeout", "headers)", "body)", "host", "broken pipe"),
)


def error_class(text: str) -> str:
    """The class of an error's text; "other" if unknown."""
    # The address of a request may hold any word: what counts stands behind it.
    method, _, rest = text.partition(" ")
    if method.isalpha() and rest.lstrip('"').startswith("http"):
        text = rest.partition(" ")[2]
    for name, words in WORDS:
        if any(word in text for word in words):
            return name
    return "other"


def is_whole_error(text: str) -> bool:
    """Whether an error's text at the end of an output has all of its words."""
    return text.endswith(ENDINGS)


def counted_classes(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts of error texts by class, 0 for the classes that none is of."""
    classes = dict.fromkeys(UNANSWERED_CLASSES, 0)
    for text, count in counts.items():
        classes[error_class(text)] += count
    return classes
