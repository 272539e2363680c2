"""Why a web process reads no more of a request's body."""

from backend.errors import InvalidInput, Refused, TooLarge, TooMany
from backend.untrusted.limits import (
    ANONYMOUS_BYTES,
    LEAST_BYTES_PER_S,
    PAGE_FORM_BYTES,
    SLOW_AFTER_S,
)

WAIT_S = 10


class BadAddress(InvalidInput):
    """The request names no path of this service."""

    def __init__(self) -> None:
        super().__init__("The address of the request does not begin with a slash.")


class BodyTooLarge(TooLarge):
    """More than `limit` bytes; `length` is what the header announced."""

    def __init__(self, limit: int, length: int | None = None) -> None:
        amount = f"more than {limit:,}" if length is None else f"{length:,}"
        hint = "Compress the files with gzip or zstd, or send them as several uploads."
        if limit == ANONYMOUS_BYTES:
            hint = "Sign in, or send a token that may upload, before you send more."
        if limit == PAGE_FORM_BYTES:
            hint = "Shorten the texts of the form; send a file as multipart/form-data."
        super().__init__(
            f"This request has {amount} bytes; at most {limit:,} are accepted.", hint=hint
        )


class BodyTooSlow(Refused):
    """Slower than the least rate."""

    def __init__(self) -> None:
        super().__init__(
            f"The body came at fewer than {LEAST_BYTES_PER_S:,} bytes a second for "
            f"{SLOW_AFTER_S} seconds."
        )


class NoRoom(TooMany):
    """Who pays has too many large bodies, or too many bytes of bodies or answers, on their way."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, wait_s=WAIT_S)
