"""What the strangers send. Each attack holds one connection and goes on until it is told to stop.

Loopback only: the addresses are those of a site that the bench started itself.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import socket
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from multiprocessing import Queue
from urllib.parse import urlsplit

import httpx

from backend.testing.packed import gzip_of, gzip_of_zeros, zip_of, zstd_of_zeros
from backend.testing.reports import WRK, make_envelope
from backend.testing.strangers.large_run import LargeRun, requests_for
from backend.testing.worst_texts import WORST_TEXTS, worst_text

TIMEOUT_S = 30.0
TRICKLE_S = 0.5
BOMB_BYTES = 1 << 30
TEXT_BYTES = 1 << 20
ARCHIVED_BYTES = 256 << 10
SMALL_BYTES = 60 << 10
MEMBERS = 200_000
ARCHIVE_FILES = 50


@dataclass(slots=True)
class Stranger:
    """Where to send, with which token, and what was answered. One thread each."""

    url: str
    token: str
    until: float
    number: int
    # Of the workspace of the token.
    large_run: LargeRun
    answers: Counter[str] = field(default_factory=Counter)

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    def repeat(self, send: Callable[[httpx.Client], httpx.Response]) -> None:
        """Send again and again over one connection."""
        with httpx.Client(base_url=self.url, timeout=TIMEOUT_S) as client:
            while not self.is_over:
                try:
                    self.answers[str(send(client).status_code)] += 1
                except httpx.HTTPError as failed:
                    self.answers[type(failed).__name__] += 1

    def trickle(self, start: bytes, piece: bytes) -> None:
        """Send a request byte by byte, and another one whenever the connection is closed."""
        address = urlsplit(self.url)
        assert address.hostname is not None
        while not self.is_over:
            with (
                contextlib.suppress(OSError),
                socket.create_connection((address.hostname, address.port or 80), 10) as line,
            ):
                line.sendall(start)
                while not self.is_over:
                    time.sleep(TRICKLE_S)
                    line.sendall(piece)
            self.answers["closed"] += 1


def slow_headers(stranger: Stranger) -> None:
    stranger.trickle(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", b"x")


# Each is read by the thread that reads the requests of all connections, or by Django.
WORST_HEADERS = (
    b"X-Spaces: " + b" " * SMALL_BYTES + b"\x00",
    b'Cookie: a="' + b"\\" * SMALL_BYTES,
    b"Cookie: " + b"a=b;" * (SMALL_BYTES // 4),
    b"Content-Type: text/plain" + b";" * SMALL_BYTES,
    b"Accept: " + b"a/b," * (SMALL_BYTES // 4),
    b"Accept-Language: " + b"a-" * (SMALL_BYTES // 2),
    b"If-None-Match: " + b'"a",' * (SMALL_BYTES // 4),
    b"X-Forwarded-For: " + b"1," * (SMALL_BYTES // 2),
)


def worst_headers(stranger: Stranger) -> None:
    """Fields as long as a header may be, that take long to read."""
    address = urlsplit(stranger.url)
    assert address.hostname is not None
    for field_ in itertools.cycle(WORST_HEADERS):
        if stranger.is_over:
            return
        request = b"GET /api/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n%s\r\n\r\n"
        try:
            with socket.create_connection((address.hostname, address.port or 80), 10) as line:
                line.settimeout(TIMEOUT_S)
                line.sendall(request % field_)
                stranger.answers[line.recv(12)[9:12].decode() or "closed"] += 1
        except OSError as failed:
            stranger.answers[type(failed).__name__] += 1


def slow_body(stranger: Stranger) -> None:
    head = b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n"
    stranger.trickle(head, b"x")


def bombs(stranger: Stranger) -> None:
    """Small files that unpack to very much, or from very many members."""
    zeros = gzip_of_zeros(BOMB_BYTES), zstd_of_zeros(BOMB_BYTES)
    _upload_each(stranger, [*zeros, gzip_of(b"") * MEMBERS])


def worst_texts(stranger: Stranger) -> None:
    """What costs most to search for secrets, one rule after the other: a child's work."""
    _upload_each(stranger, [worst_text(name, TEXT_BYTES) for name in WORST_TEXTS])


def archives(stranger: Stranger) -> None:
    """Zips of reports beside a worst text: each is unpacked, searched and packed again."""
    _upload_each(stranger, [_archive(name) for name in WORST_TEXTS])


def _archive(name: str) -> bytes:
    reports = {f"{number}.txt": WRK for number in range(ARCHIVE_FILES)}
    return zip_of({"worst.txt": worst_text(name, ARCHIVED_BYTES), **reports})


def worst_small_texts(stranger: Stranger) -> None:
    """Searched in the web process itself, because they are small."""
    _upload_each(stranger, [worst_text(name, SMALL_BYTES) for name in WORST_TEXTS])


def large_label(stranger: Stranger) -> None:
    envelope = make_envelope(1, run={"labels": {"a": "x" * (3 << 20)}})
    stranger.repeat(
        lambda client: client.post(
            "/api/v1/uploads",
            headers=stranger.headers,
            data={"envelope": json.dumps(envelope)},
            files={"file": ("0.txt", WRK)},
        )
    )


def flood_of_uploads(stranger: Stranger) -> None:
    def send(client: httpx.Client) -> httpx.Response:
        text = f"{WRK}\n{uuid.uuid4()}"
        return client.post(
            "/api/v1/uploads", headers=stranger.headers, files={"file": ("0.txt", text)}
        )

    stranger.repeat(send)


def previews(stranger: Stranger) -> None:
    text = WRK.encode() + b"\n" + b"# padding\n" * (TEXT_BYTES // 10)
    stranger.repeat(
        lambda client: client.post(
            "/api/v1/uploads/preview", headers=stranger.headers, files={"file": ("0.txt", text)}
        )
    )


def comparisons(stranger: Stranger) -> None:
    """Of everything since another day each, so that no answer was kept before."""
    days = itertools.count()
    stranger.repeat(
        lambda client: client.get(
            "/api/v1/compare",
            headers=stranger.headers,
            params={"workspace": "strangers", "since": _day(next(days))},
        )
    )


def large_answers(stranger: Stranger) -> None:
    """Everything that is large because of one run: with a token, and as anyone who has its link."""
    requests = requests_for(stranger.large_run)

    def send(client: httpx.Client) -> httpx.Response:
        method, path, body = next(requests)
        return client.request(method, path, json=body, headers=stranger.headers)

    stranger.repeat(send)


def _day(number: int) -> str:
    return (date(1970, 1, 1) + timedelta(number % 20_000)).isoformat()


def deep_json(stranger: Stranger) -> None:
    bodies = (b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b'"\\ud800"', b"NaN")
    chance = random.Random(stranger.number)  # noqa: S311
    stranger.repeat(
        lambda client: client.post(
            chance.choice(("/api/v1/heartbeat", "/api/v1/sessions", "/api/v1/result-sets")),
            headers={**stranger.headers, "content-type": "application/json"},
            content=chance.choice(bodies),
        )
    )


ODD_IDS = ("%00", "%ED%A0%80", "9" * 4000, "-1", "..%2f..%2fetc", "NaN", str(uuid.UUID(int=0)))


def odd_ids(stranger: Stranger) -> None:
    places = (
        "/u/{}",
        "/api/v1/runs/{}",
        "/api/v1/runs?workspace={}",
        "/r/{}",
        "/api/v1/uploads/{}",
    )
    chance = random.Random(stranger.number)  # noqa: S311
    stranger.repeat(lambda client: client.get(chance.choice(places).format(chance.choice(ODD_IDS))))


def wrong_tokens(stranger: Stranger) -> None:
    stranger.repeat(
        lambda client: client.get(
            "/api/v1/me", headers={"authorization": f"Bearer ls_agent_{uuid.uuid4().hex}"}
        )
    )


# Sixteen connections.
ATTACKS: tuple[Callable[[Stranger], None], ...] = (
    *(slow_headers, worst_headers, slow_body, bombs),
    *(worst_texts, archives, worst_small_texts, large_label),
    *(flood_of_uploads, previews, comparisons),
    *(large_answers, large_answers),
    *(deep_json, odd_ids, wrong_tokens),
)


def attack(
    url: str,
    token: str,
    large_run: LargeRun,
    seconds: float,
    answers: Queue[dict[str, dict[str, int]]],
) -> None:
    """All attacks at once, for so many seconds; what was answered goes to the queue."""
    until = time.monotonic() + seconds
    strangers = [Stranger(url, token, until, number, large_run) for number in range(len(ATTACKS))]
    threads = [
        threading.Thread(target=kind, args=(stranger,), daemon=True)
        for kind, stranger in zip(ATTACKS, strangers, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 2 * TIMEOUT_S)
    answers.put(
        {
            f"{stranger.number + 1} {kind.__name__}": dict(stranger.answers)
            for kind, stranger in zip(ATTACKS, strangers, strict=True)
        }
    )


def _upload_each(stranger: Stranger, files: Sequence[bytes]) -> None:
    """One after the other, and from the first again."""
    data = itertools.cycle(files)
    stranger.repeat(
        lambda client: client.post(
            "/api/v1/uploads", headers=stranger.headers, files={"file": ("0.txt", next(data))}
        )
    )
