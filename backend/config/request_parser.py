"""Reading requests: their first lines in linear time, and no body that will be refused.

One thread reads the requests of all connections, so what a stranger sends may cost it little.
"""

import copy
import errno
import re
from collections.abc import Mapping

from django.conf import settings
from django.http import parse_cookie
from waitress import parser
from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import (
    BadRequest,
    Error,
    RequestEntityTooLarge,
)

from backend.config.body_gate import BodyRefusal, Reservation, largest_body
from backend.ingest.limits import ANONYMOUS_BYTES, HEADER_FIELD_BYTES

# Python takes them apart in a time that grows with the square of their length: 2 s for 60 KB.
BOUNDED_FIELDS = {"ACCEPT": "Accept", "CONTENT_TYPE": "Content-Type"}
# Between the chunks of a body, and behind the last: each piece that comes is added to a copy.
CHUNK_LINE_BYTES = 16 << 10

# They accept what the expressions of Waitress accept, in linear time. Those try each place where an
# authority, a port or the spaces before a value may end: a first line of 60 KB kept all threads of
# the process waiting for more than 4 minutes, a header of 60 KB for 16 s.
parser.first_line_re = re.compile(
    rb"(?P<method>[!#$%&'*+\-.^_`|~0-9A-Za-z]+) (?P<uri>[^ ]+)(?: HTTP/(?P<version>[0-9]\.[0-9]))?"
)
parser.HEADER_FIELD_RE = re.compile(
    rb"(?P<name>[!#$%&'*+\-.^_`|~0-9A-Za-z]+):(?P<value>[\t -~\x80-\xff]*)\Z"
)


class RequestParser(HTTPRequestParser):  # type: ignore[misc]
    """Reads no body that will be refused: the application then answers by the header alone."""

    adj: Adjustments
    content_length: int
    expect_continue: bool
    error: Error | None
    # Of a large body that may be read only once `Gate` has decided.
    is_held = False
    is_body_left = False
    refusal: BodyRefusal | None = None
    reservation: Reservation | None = None
    _expects_continue = False

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError:
            raise ParsingError("The address or Content-Length is invalid") from None
        _check_fields(self.headers)
        if "COOKIE" in self.headers:
            self.headers["COOKIE"] = _without_backslashes(self.headers["COOKIE"])
        has_credentials = _has_credentials(self.headers)
        limit = largest_body() if has_credentials else ANONYMOUS_BYTES
        # A body in chunks tells no length; the limit holds while it is read.
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = limit + 1
        if self.content_length > limit:
            self._leave_body()
        elif has_credentials and self.announced_bytes > ANONYMOUS_BYTES:
            self.is_held = True
            self._expects_continue, self.expect_continue = self.expect_continue, False

    @property
    def announced_bytes(self) -> int:
        """What the body may have at most."""
        return largest_body() if self.chunked else self.content_length

    def admit(self, reservation: Reservation) -> None:
        """Read the body."""
        self.is_held = False
        self.reservation = reservation
        self.expect_continue = self._expects_continue

    def refuse(self, refusal: BodyRefusal) -> None:
        """Leave the body, or the rest of it, unread; the application says why."""
        self.is_held = False
        self.refusal = refusal
        self.close()
        self._leave_body()
        self.completed = True

    def _leave_body(self) -> None:
        self.is_body_left = True
        self.body_rcv = None
        self.content_length = 0
        self.expect_continue = False
        # The body that is on its way would be read as the next request.
        self.headers["CONNECTION"] = "close"

    def received(self, data: bytes) -> int:
        try:
            read: int = super().received(data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            self.refuse(BodyRefusal.FULL)
            return len(data)
        if isinstance(self.error, RequestEntityTooLarge):
            self.error = None
            has_credentials = _has_credentials(self.headers)
            self.refuse(BodyRefusal.LARGE if has_credentials else BodyRefusal.ANONYMOUS)
            return len(data)
        if self._is_in_long_line():
            self.error = BadRequest(
                f"A line between chunks has more than {CHUNK_LINE_BYTES:,} bytes, the limit"
            )
            self.completed = True
        return read

    def _is_in_long_line(self) -> bool:
        body = self.body_rcv
        if not self.chunked or body is None or self.completed:
            return False
        return len(body.control_line) + len(body.trailer) > CHUNK_LINE_BYTES

    def close(self) -> None:
        """Let go of the body, and of the room for it."""
        super().close()
        if self.reservation is not None:
            self.reservation.release()


def _check_fields(headers: Mapping[str, str]) -> None:
    """Raises ParsingError for a field that would take long to read."""
    for key, name in BOUNDED_FIELDS.items():
        if (length := len(headers.get(key, ""))) > HEADER_FIELD_BYTES:
            raise ParsingError(
                f"The header {name} has {length:,} bytes; at most {HEADER_FIELD_BYTES:,} are "
                "accepted"
            )


def _without_backslashes(cookies: str) -> str:
    """Without the cookies that have one, which none of this service has.

    Before Python 3.11.10, a cookie of 60 KB of them takes 7 s to read.
    """
    return ";".join(cookie for cookie in cookies.split(";") if "\\" not in cookie)


def _has_credentials(headers: Mapping[str, str]) -> bool:
    if "AUTHORIZATION" in headers:
        return True
    return settings.SESSION_COOKIE_NAME in parse_cookie(headers.get("COOKIE", ""))
