"""A second of requests on many connections, to see that a server holds them. Measures nothing."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

ANSWER_LIMIT_S = 20.0
END = b"\r\n\r\n"


@dataclass
class Burst:
    """What came of the requests."""

    answers: int = 0
    failures: int = 0
    first_failure: str | None = None

    def fail(self, reason: str) -> None:
        """Count a failure; the first is kept as an example."""
        self.failures += 1
        self.first_failure = self.first_failure or reason


def send_burst(url: str, path: str, *, connections: int, seconds: float) -> Burst:
    """Each connection sends a request, reads the answer and closes, again and again."""
    return asyncio.run(_send(url, path, connections, seconds))


async def _send(url: str, path: str, connections: int, seconds: float) -> Burst:
    parts, burst = urlsplit(url), Burst()
    head = f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n"
    until = time.monotonic() + seconds

    async def use_connection() -> None:
        while True:
            await _request(parts.hostname or "", parts.port or 80, head.encode(), burst)
            if time.monotonic() >= until or burst.failures:
                return

    await asyncio.gather(*(use_connection() for _ in range(connections)))
    return burst


async def _request(host: str, port: int, request: bytes, burst: Burst) -> None:
    try:
        answer = await asyncio.wait_for(_exchange(host, port, request), ANSWER_LIMIT_S)
    except asyncio.TimeoutError:
        burst.fail(f"no answer within {ANSWER_LIMIT_S:g} s")
        return
    except OSError as error:
        burst.fail(error.strerror or str(error))
        return
    status = answer.partition(b"\r\n")[0].split(b" ")[1:2]
    if status == [b"200"] and END in answer:
        burst.answers += 1
    else:
        burst.fail(f"the answer was {answer[:60]!r}")


async def _exchange(host: str, port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(request)
        return await reader.read(-1)
    finally:
        writer.close()
