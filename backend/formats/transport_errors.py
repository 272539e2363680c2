"""Transport errors that tools give as free text, by class."""

from collections.abc import Callable, Mapping, Sequence

from backend.formats.model import CLIENT_CLASS, UNANSWERED_CLASSES

# As Go's HTTP clients write them; the first class with one of its words in the text is taken.
WORDS = (
    ("timeout", ("timeout", "timed out", "deadline exceeded")),
    ("connect", ("dial", "refused", "no such host", "unreachable", "no route to host")),
    ("write", ("write:", "broken pipe")),
    ("read", ("EOF", "reset", "read:", "closed connection", "closed idle connection")),
)
# The client host has no port or no file descriptor left, as Linux, macOS, Windows, Node and Erlang
# say it.
CLIENT_WORDS = (
    *("cannot assign requested address", "can't assign requested address", "eaddrnotavail"),
    *("address already in use", "only one usage of each socket address", "eaddrinuse"),
    *("too many open files", "emfile", "enfile", "no buffer space available", "enobufs"),
)
ENDINGS = (
    *("EOF", "refused", "reset by peer", "timeout", "headers)", "body)", "host", "broken pipe"),
    *("requested address", "address already in use", "open files", "space available"),
)


def is_client_error(text: str) -> bool:
    """Whether an error's text says that the client's own host could not connect."""
    lowered = text.lower()
    return any(word in lowered for word in CLIENT_WORDS)


def error_class(text: str) -> str:
    """The class of an error's text; "other" if unknown."""
    # The address of a request may hold any word: what counts stands behind it.
    method, _, rest = text.partition(" ")
    if method.isalpha() and rest.lstrip('"').startswith("http"):
        text = rest.partition(" ")[2]
    return class_by_words(text, WORDS)


def class_by_words(text: str, table: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The first class of the table with a word in the text; "other" if there is none."""
    if is_client_error(text):
        return CLIENT_CLASS
    return next((name for name, words in table if any(word in text for word in words)), "other")


def is_of_go(text: str) -> bool:
    """Whether a line may be an error of Go's HTTP client, which says what was tried, a colon and
    why it failed."""
    return ": " in text or error_class(text) != "other"


def is_whole_error(text: str) -> bool:
    """Whether an error's text at the end of an output has all of its words."""
    return text.endswith(ENDINGS)


def counted_classes(
    counts: Mapping[str, int],
    class_of: Callable[[str], str] = error_class,
    classes: Sequence[str] = UNANSWERED_CLASSES,
) -> dict[str, int]:
    """The counts of error texts by class, 0 for those of `classes` that none is of."""
    counted = dict.fromkeys(classes, 0)
    for text, count in counts.items():
        class_ = class_of(text)
        counted[class_] = counted.get(class_, 0) + count
    return counted
