"""A TCP proxy on loopback that cuts connections and answers in the service's place, as told."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterable

PIECE_BYTES = 16 << 10
# Closing with this says RST, as a cut cable or a killed gateway does, and not an orderly end.
RESET = struct.pack("ii", 1, 0)


# A slow line keeps little on its way: what is cut was not sent.
SLOW_BUFFER_BYTES = 64 << 10


class FaultyProxy:
    """Forwards to `port`; `sent_bytes` counts all that clients sent.

    `bytes_per_s`: how much of it passes in a second; None: no limit.
    """

    def __init__(self, port: int, *, bytes_per_s: float | None = None) -> None:
        self.port = port
        self._bytes_per_s = bytes_per_s
        # When the line is free again, by time.monotonic().
        self._free_at = 0.0
        self.sent_bytes = 0
        self.connections = 0
        self.cuts_made = 0
        # Of all bytes that clients send: where the connection is cut.
        self._cuts: list[int] = []
        # How many of the service's next answers are lost with their connections.
        self._lost_answers = 0
        # What the next connections get instead of the service: status and headers.
        self._answers: list[tuple[int, dict[str, str]]] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        if bytes_per_s:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER_BYTES)
        self._is_closed = threading.Event()
        self._open: set[socket.socket] = set()

    @property
    def own_port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.own_port}"

    def cut_at(self, offsets: Iterable[int]) -> None:
        self._cuts = sorted(offsets)

    def cut_every(self, seconds: float) -> None:
        """Cut all connections again and again, until the proxy is closed."""
        threading.Thread(target=self._cut_again, args=(seconds,), daemon=True).start()

    def _cut_again(self, seconds: float) -> None:
        while not self._is_closed.wait(seconds):
            ends = list(self._open)
            self.cuts_made += bool(ends)
            self._close(*ends)

    def lose_answers(self, count: int) -> None:
        self._lost_answers = count

    def answer(self, status: int, times: int = 1, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._answers += [(status, named)] * times

    def __enter__(self) -> FaultyProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed.set()
        self._listener.close()
        for end in list(self._open):
            self._close(end)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed: the proxy ends
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        self._open.add(client)
        with contextlib.suppress(OSError):
            if self._answers:
                self._answer_instead(client, *self._answers.pop(0))
                return
        try:
            service = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        except OSError:  # the service is down: so is what stands before it
            self._close(client)
            return
        service.settimeout(None)
        self._open.add(service)
        threading.Thread(target=self._back, args=(client, service), daemon=True).start()
        self._forth(client, service)

    def _forth(self, client: socket.socket, service: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(PIECE_BYTES):
                allowed_bytes = self._before_cut(len(data))
                if allowed_bytes is not None:
                    service.sendall(data[:allowed_bytes])
                    break
                self._wait_for_line(len(data))
                service.sendall(data)
        self._close(client, service)

    def _wait_for_line(self, count: int) -> None:
        if not self._bytes_per_s:
            return
        with self._lock:
            now = time.monotonic()
            self._free_at = max(now, self._free_at) + count / self._bytes_per_s
            wait_s = self._free_at - now
        time.sleep(wait_s)

    def _before_cut(self, count: int) -> int | None:
        """How many of these bytes still pass; None if all do."""
        with self._lock:
            before, self.sent_bytes = self.sent_bytes, self.sent_bytes + count
            if not self._cuts or self._cuts[0] >= self.sent_bytes:
                return None
            self.cuts_made += 1
            return max(0, self._cuts.pop(0) - before)

    def _back(self, client: socket.socket, service: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := service.recv(PIECE_BYTES):
                if self._lost_answers:
                    self._lost_answers -= 1
                    break
                client.sendall(data)
        self._close(client, service)

    def _answer_instead(self, client: socket.socket, status: int, headers: dict[str, str]) -> None:
        with client.makefile("rb") as request:
            length = 0
            while (line := request.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            request.read(length)
        lines = [f"HTTP/1.1 {status} Told", "Content-Length: 0", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        self._open.discard(client)
        client.close()

    def _close(self, *ends: socket.socket) -> None:
        for end in ends:
            self._open.discard(end)
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits on it
            end.close()
