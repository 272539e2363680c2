"""Locust's failures by class: it gives each as the text of a Python exception."""

from collections.abc import Mapping

from backend.formats.model import UNANSWERED_CLASSES
from backend.formats.transport_errors import class_by_words, counted_classes

# With "u" before the text where Python 2 printed it.
STATUS = ("BadStatusCode(code=", "HTTPError('", 'HTTPError("', "HTTPError(u'", 'HTTPError(u"')
WORDS = (
    ("timeout", ("Timeout", "timed out", "timeout(")),
    (
        "connect",
        (
            *("ConnectionRefusedError", "Connection refused", "NewConnectionError", "gaierror"),
            *("Name or service not known", "No route to host", "Network is unreachable"),
        ),
    ),
    ("write", ("BrokenPipeError", "Broken pipe")),
    (
        "read",
        (
            *("ConnectionResetError", "Connection reset", "RemoteDisconnected", "BadStatusLine"),
            *("Connection aborted", "IncompleteRead", "ChunkedEncodingError", "ProtocolError"),
            *("HTTPConnectionClosed", "ConnectionAbortedError"),
        ),
    ),
)


def error_class(name: str) -> str:
    """Ours for a failure's name, as "GET /: ConnectionResetError(104, …)"."""
    # Code 0 is FastHttpUser's for no answer at all.
    if any(word in name for word in STATUS) and "code=0)" not in name:
        return "status"
    return class_by_words(name, WORDS)


def by_class(failures: Mapping[str, int] | None) -> dict[str, int | None]:
    """The counts of each class; none where the failures are unknown."""
    if failures is None:
        return {}
    counts = counted_classes(failures, error_class, (*UNANSWERED_CLASSES, "status"))
    # Rarely distinguished from a failed read, so 0 seen does not mean 0 failed writes.
    return {**counts, "write": counts["write"] or None}


def completed(requests: int, failures: Mapping[str, int] | None) -> int | None:
    """Requests with a response: locust counts those without one, too. None if it is not said.

    A failure that a test sets itself is its verdict on a response, or on none.
    """
    if failures is None:
        return None
    classes = {name: error_class(name) for name in failures}
    if "other" in classes.values():
        return None
    lost = (count for name, count in failures.items() if classes[name] != "status")
    return max(requests - sum(lost), 0)
