"""Gatling's failures by class: it gives each as a text, of a check or of a Java exception."""

from collections.abc import Mapping

from backend.formats.model import CLIENT_CLASS, UNANSWERED_CLASSES
from backend.formats.transport_errors import class_by_words, counted_classes

# How the names of checks begin, and what stands in their failures: a response was there.
CHECKS = (
    *("status.", "regex(", "jsonPath(", "jsonpJsonPath(", "jmesPath(", "jsonpJmesPath(", "css("),
    *("xpath(", "form(", "substring(", "header(", "headerRegex(", "bodyString", "bodyBytes"),
    *("bodyLength", "bodyStream", "md5", "sha1", "responseTimeInMillis", "currentLocation"),
)
CHECK_WORDS = (", found ", ", but actually ", ", unexpectedly found ")
WORDS = (
    ("timeout", ("timeout", "Timeout", "timed out")),
    (
        "connect",
        (
            *("ConnectException", "onnection refused", "UnknownHost", "NoRouteToHost"),
            *("No route to host", "unreachable", "SSLHandshake", "resolve"),
        ),
    ),
    ("write", ("Broken pipe", "broken pipe")),
    (
        "read",
        (
            *("remature close", "remotely closed", "emotely Closed", "eset by peer"),
            *("ClosedChannel", "onnection closed", "Channel was closed", "PrematureChannelClosure"),
            "Connection reset",
        ),
    ),
)


def is_check(message: str) -> bool:
    """Whether a check failed: on a response that was there."""
    return message.startswith(CHECKS) or any(word in message for word in CHECK_WORDS)


def error_class(message: str) -> str:
    """Ours for a failure as "j.i.IOException: Premature close"."""
    if is_check(message):
        return "status" if message.startswith("status.") else "other"
    return CLIENT_CLASS if "BindException" in message else class_by_words(message, WORDS)


def by_class(failures: Mapping[str, int]) -> dict[str, int | None]:
    """The counts of each class."""
    counts = counted_classes(failures, error_class, (*UNANSWERED_CLASSES, "status"))
    # Netty reports a failed write as a lost connection, so 0 seen does not mean 0 failed writes.
    return {**counts, "write": counts["write"] or None}


def unanswered(failures: Mapping[str, int]) -> int | None:
    """How many had no response; None if a text does not tell."""
    lost = {message: count for message, count in failures.items() if not is_check(message)}
    if any(error_class(message) == "other" for message in lost):
        return None
    return sum(lost.values())
