"""Connections to public addresses only: the address that was checked is the one connected to.

A name is resolved once. All of its addresses must be public, and the connection goes to one of
them by number, the first that answers, so that a second answer of the name server changes nothing.
TLS still verifies the name. Resolving and connecting end at the deadline, whichever addresses the
operator allows.
"""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, wait
from typing import Any

import httpcore

from backend.deliveries.special_addresses import NAT64, is_special_ipv4, is_special_ipv6
from backend.errors import WorkFailed

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class NotPublic(WorkFailed):
    """The name leads to an address that is not on the public internet."""


def is_public(address: Address) -> bool:
    """Whether the address is of the public internet, also behind a translator of IPv4.

    IPv4 addresses that IPv6 carries in another way (mapped, 6to4, Teredo, ISATAP) are refused: the
    name of a receiver has an address of its own.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return not is_special_ipv4(address)
    if address in NAT64:
        return not is_special_ipv4(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return not is_special_ipv6(address)


def resolve(
    host: str, port: int, *, within_s: float, is_private_allowed: bool = False
) -> list[str]:
    """The addresses of a name, in the order to try them. Raises NotPublic and httpcore errors."""
    try:
        answers = _ask_for(host, port, within_s)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"the name {host} could not be resolved") from error
    addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
    for text in () if is_private_allowed else addresses:
        if not is_public(ipaddress.ip_address(text.partition("%")[0])):
            raise NotPublic(f"{host} resolves to {text}, which is not a public address.")
    return addresses


def _ask_for(host: str, port: int, within_s: float) -> list[Any]:
    """As getaddrinfo, which has no limit of time: its thread is left behind when time is over."""
    answer: Future[list[Any]] = Future()

    def ask() -> None:
        try:
            answer.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    # An answer may itself be a TimeoutError, which is an OSError.
    if not wait([answer], within_s).done:
        raise httpcore.ConnectTimeout(f"the name {host} was not resolved in time")
    return answer.result()


class BoundedBackend(httpcore.NetworkBackend):
    """Connects, and ends every connection at one deadline.

    `is_private_allowed`: whether names may lead to addresses that are not public.
    """

    def __init__(self, *, within_s: float, is_private_allowed: bool = False) -> None:
        self._deadline = time.monotonic() + within_s
        self._is_private_allowed = is_private_allowed
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Raises NotPublic, and httpcore's errors."""
        addresses = resolve(
            host,
            port,
            within_s=_left_s(self._deadline, timeout),
            is_private_allowed=self._is_private_allowed,
        )
        refused: Exception = httpcore.ConnectError(f"the name {host} has no address")
        for at, address in enumerate(addresses):
            # An address that stays silent leaves its share of the time to each after it.
            left_s = _left_s(self._deadline, timeout) / (len(addresses) - at)
            try:
                stream = self._plain.connect_tcp(
                    address, port, left_s, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                refused = error
            else:
                return _BoundedStream(stream, self._deadline)
        raise refused


class _BoundedStream(httpcore.NetworkStream):
    """A stream whose reads and writes together end at the deadline, however slow the other is."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left_s(self._deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left_s(self._deadline, timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left_s = _left_s(self._deadline, timeout)
        stream = self._stream.start_tls(ssl_context, server_hostname, left_s)
        return _BoundedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left_s(deadline: float, timeout: float | None) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise httpcore.ReadTimeout("the receiver took too long")
    return left_s if timeout is None else min(timeout, left_s)
