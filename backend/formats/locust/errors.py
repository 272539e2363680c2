"""Locust's failures by class: it gives each as the text of a Python exception."""

import re
from collections.abc import Mapping

from backend.formats.model import UNANSWERED_CLASSES
from backend.formats.transport_errors import class_by_words, counted_classes

# With "u" before the text where Python 2 printed it.
STATUS = ("HTTPError('", 'HTTPError("', "HTTPError(u'", 'HTTPError(u"')
# A status that the text names.
STATED = re.compile(
    r"""(?:status|code)\w{0,10}[ :=]{1,3}[45]\d\d\b      # code=404, a test's own "status code: 503"
      | \b[45]\d\d\ (?:Client|Server)\ Error            # 404 Client Error: Not Found
      | :\ \W?(?:\w{1,40}\(\W?)?[45]\d\d\W{0,3}$        # nothing but the number
    """,
    re.VERBOSE | re.IGNORECASE,
)
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
    # FastHttpUser has code 0 for no answer at all.
    if any(word in name for word in STATUS) or STATED.search(name):
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
