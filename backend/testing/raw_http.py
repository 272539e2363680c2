"""HTTP by hand over a socket, because clients hide what a server sends too much."""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

PATIENCE_S = 120.0


@dataclass(slots=True)
class RawAnswer:
    """One answer; `body` is what its header announces."""

    status: int
    headers: dict[str, str]
    body: bytes


@contextlib.contextmanager
def connected(port: int, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    """A connection to this machine, from an address of it."""
    address = ("127.0.0.1", port)
    with socket.create_connection(address, PATIENCE_S, (source, 0)) as connection:
        yield connection


def request(method: str, path: str, *fields: str, body: bytes = b"") -> bytes:
    """The bytes of a request; `fields` as "Name: text"."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *fields]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def read_answer(stream: BinaryIO, method: str = "GET") -> RawAnswer | None:
    """The next answer of a connection; None where the server closed it before.

    Raises ValueError for bytes that are no answer.
    """
    first = stream.readline()
    if not first:
        return None
    if not first.startswith(b"HTTP/1."):
        raise ValueError(f"{first[:80]!r} is no first line of an answer")
    status, headers = int(first.split()[1]), {}
    while line := stream.readline().strip():
        name, _, text = line.decode("latin-1").partition(":")
        headers[name.lower()] = text.strip()
    if method == "HEAD" or status in (204, 304):
        return RawAnswer(status, headers, b"")
    return RawAnswer(status, headers, _body(stream, headers))


def _body(stream: BinaryIO, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding") == "chunked":
        pieces = []
        while size := int(stream.readline(), 16):
            pieces.append(stream.read(size))
            stream.readline()
        stream.readline()
        return b"".join(pieces)
    if "content-length" in headers:
        return stream.read(int(headers["content-length"]))
    return stream.read()


def ask(port: int, data: bytes, method: str = "GET") -> RawAnswer | None:
    """The answer to the first request of a new connection."""
    with connected(port) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(data)
        try:
            return read_answer(connection.makefile("rb"), method)
        except ConnectionError:
            return None
