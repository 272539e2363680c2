"""What oha calls the failures of requests, by class."""

from collections.abc import Mapping

from backend.formats.statuses import failed
from backend.formats.transport_errors import class_by_words, counted_classes

# In flight when the time was up: no failure of the server.
DEADLINE = "aborted due to deadline"
# That hyper, the client, tells apart.
CLASSES = ("connect", "read", "timeout", "other")
# Words of the messages; the first class with one is taken.
WORDS = (
    ("timeout", ("timeout", "timed out")),
    (
        "connect",
        (
            *("refused", "trying to connect", "unreachable", "no route to host", "dns", "resolve"),
            *("lookup", "certificate", "handshake"),
        ),
    ),
    ("write", ("broken pipe", "error writing")),
    (
        "read",
        ("connection error", "error reading", "reset", "closed", "incomplete", "canceled", "eof"),
    ),
)


def class_of(message: str) -> str:
    return class_by_words(message.lower(), WORDS)


def errors_of(
    messages: Mapping[str, int] | None, codes: Mapping[str, int] | None
) -> dict[str, int | None]:
    """The counts by class; None if the messages, or the status codes, are not known."""
    status = None if codes is None else failed(codes)
    if messages is None:
        return {"status": status}
    failures = {message: count for message, count in messages.items() if message != DEADLINE}
    return {**counted_classes(failures, class_of, CLASSES), "status": status}
