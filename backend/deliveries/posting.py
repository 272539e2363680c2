"""Posting to an address that a member gave: bounded in time and bytes, public addresses only."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

import httpcore
from django.conf import settings

from backend.deliveries.public_address import BoundedBackend, NotPublic
from backend.errors import WorkFailed

TOTAL_S = 10.0
# Of an answer, so much is read: enough for the receiver's reason.
MOST_ANSWER_BYTES = 4096
REASON_LENGTH = 200


class NotSent(WorkFailed):
    """The receiver did not take the message. `status`: of its answer, None without one.

    `is_final`: whether trying again cannot help.
    """

    def __init__(self, reason: str, *, status: int | None = None, is_final: bool = False) -> None:
        super().__init__(reason)
        self.status, self.is_final = status, is_final


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    text: str
    location: str


def post(address: str, body: bytes, headers: Mapping[str, str]) -> int:
    """The status of the receiver's 2xx answer. Raises NotSent; redirects are not followed."""
    if settings.WEBHOOKS == "off":
        raise NotSent("The operator of this service has turned webhooks off.", is_final=True)
    is_private_allowed = settings.WEBHOOKS == "any"
    scheme = urlsplit(address).scheme
    if scheme != "https" and not is_private_allowed:
        raise NotSent(f"The address begins with {scheme}://; expected https://.", is_final=True)
    with _reasons():
        answer = _ask(address, body, headers, is_private_allowed=is_private_allowed)
    if 200 <= answer.status < 300:
        return answer.status
    raise NotSent(_reason(answer), status=answer.status, is_final=answer.status == 410)


def _ask(
    address: str, body: bytes, headers: Mapping[str, str], *, is_private_allowed: bool
) -> _Answer:
    backend = BoundedBackend(within_s=TOTAL_S, is_private_allowed=is_private_allowed)
    usual = {"Content-Type": "application/json", "User-Agent": "Loadsheet-Webhooks/1"}
    sent = list({**usual, **headers}.items())
    with (
        httpcore.ConnectionPool(ssl_context=_tls(), network_backend=backend) as pool,
        pool.stream("POST", address, headers=sent, content=body) as response,
    ):
        text = b""
        for chunk in response.iter_stream():
            text += chunk
            if len(text) >= MOST_ANSWER_BYTES:
                break
        headers_by_name = {name.lower(): value for name, value in response.headers}
        location = headers_by_name.get(b"location", b"")
        return _Answer(response.status, _plain(text), _plain(location))


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


@contextmanager
def _reasons() -> Iterator[None]:
    """What goes wrong on the way, as NotSent with a sentence."""
    try:
        yield
    except NotPublic as refused:
        raise NotSent(f"{refused} Use an address on the public internet.") from None
    except httpcore.TimeoutException:
        raise NotSent(f"The receiver did not answer within {TOTAL_S:.0f} s.") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError, ValueError) as error:
        text = " ".join(str(error).split())[:REASON_LENGTH] or type(error).__name__
        raise NotSent(f"The receiver could not be reached: {text}.") from None


def _reason(answer: _Answer) -> str:
    if 300 <= answer.status < 400:
        return (
            f"The receiver answered {answer.status} and redirects to "
            f"{answer.location or 'nowhere'}. Redirects are not followed: enter the final address."
        )
    detail = f": {answer.text}" if answer.text else "."
    return f"The receiver answered {answer.status}{detail}"


def _plain(data: bytes) -> str:
    text = " ".join(data.decode(errors="replace").replace("\0", " ").split())
    return text[:REASON_LENGTH]
