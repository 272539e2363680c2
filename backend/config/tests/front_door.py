"""What the tests of the web server and of the proxy share: a service of real processes."""

import contextlib
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.test import Client

from backend.accounts.models import BEARER_KINDS, TokenKind
from backend.accounts.tokens import tokens
from backend.accounts.workspace.scopes import AGENT_SCOPES, Scope
from backend.testing.empty_tables import empty_tables
from backend.testing.raw_http import connected, read_answer, request
from backend.testing.running import make_machine
from backend.testing.uploads import Tenant, make_tenant

LARGEST = 256 << 20
SLOW = 30


@dataclass(slots=True)
class FrontDoor:
    """Two web servers of one process each, and two workspaces."""

    machines: list
    own: Tenant
    other: Tenant
    # The session of the owner of `own`.
    cookie: str
    # Tokens of `own` that may not upload.
    refused: list[str]

    @property
    def ports(self):
        return [machine.port for machine in self.machines]


@contextlib.contextmanager
def running(folder: Path, count: int = 2, **variables: str):
    """Web servers on the database of the tests; `count` of them."""
    machines = [make_machine(f"web-{n}", folder / "data", **variables) for n in range(count)]
    try:
        for machine in machines:
            machine.start_web()
        for machine in machines:
            machine.wait_until_answering()
        yield machines
    finally:
        for machine in machines:
            machine.kill()


@contextlib.contextmanager
def front_door(folder: Path, count: int = 2):
    """Web servers and two workspaces, for all tests of a module."""
    empty_tables("default")
    try:
        with running(folder, count, ALLOWED_HOSTS="127.0.0.1,localhost") as machines:
            own, other = make_tenant("own"), make_tenant("other")
            yield FrontDoor(machines, own, other, session_of(own.user), refused_tokens(own.token))
    finally:
        empty_tables("default")


def bearer(token: str) -> str:
    return f"Authorization: Bearer {token}"


def session_of(user) -> str:
    """The cookie of a person who signed in."""
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return f"Cookie: {name}={client.cookies[name].value}"


def refused_tokens(clear: str) -> list[str]:
    """Tokens of the same workspace: one that only reads, and one of another network."""
    token = tokens.find(clear, *BEARER_KINDS)
    grants = (
        tokens.Grant([Scope.RUNS_READ], timedelta(days=1)),
        tokens.Grant(AGENT_SCOPES, timedelta(days=1), ["192.0.2.0/24"]),
    )
    return [
        tokens.store(
            TokenKind.API, token.workspace, user=token.user, name=f"refused {n}", grant=grant
        )[1]
        for n, grant in enumerate(grants)
    ]


def form(text: bytes) -> tuple[str, bytes]:
    """Content type and body of an upload."""
    body = (
        b'--mark\r\nContent-Disposition: form-data; name="file"; filename="ab.txt"\r\n\r\n'
        + text
        + b"\r\n--mark--\r\n"
    )
    return "Content-Type: multipart/form-data; boundary=mark", body


def upload(token: str, text: bytes) -> bytes:
    """A request that uploads a text."""
    kind, body = form(text)
    fields = (bearer(token), kind, f"Content-Length: {len(body)}")
    return request("POST", "/api/v1/uploads", *fields, body=body)


@contextlib.contextmanager
def slow_senders(port: int, credentials: Sequence[str]):
    """For each header, a connection that announced the largest body and sent its first bytes."""
    kind, _ = form(b"")
    with contextlib.ExitStack() as stack:
        lines: list[socket.socket] = []
        for field in credentials:
            head = request("POST", "/api/v1/uploads", field, kind, f"Content-Length: {LARGEST}")
            lines.append(stack.enter_context(connected(port)))
            lines[-1].sendall(head + b"--mark")
        yield lines


def statuses_beside_slow_senders(port: int, own: Tenant, other: Tenant, count: int = 30) -> list:
    """What uploads of 100 KB of another workspace get beside 30 slow connections of one token."""
    statuses = []
    with slow_senders(port, [bearer(own.token)] * SLOW) as lines:
        for number in range(count):
            for line in lines:
                # Refused ones are closed.
                with contextlib.suppress(OSError):
                    line.sendall(b"x")
            text = (f"Requests per second: {number}\n" * 4000).encode()[:100_000]
            with connected(port) as connection:
                connection.sendall(upload(other.token, text))
                answer = read_answer(connection.makefile("rb"))
            statuses.append(answer.status if answer else None)
    return statuses


def make_certificate(folder: Path) -> None:
    """A certificate for 127.0.0.1 that it signed itself."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(folder / "privkey.pem"), "-out", str(folder / "new.pem")),
        ],
        check=True,
        capture_output=True,
    )
    (folder / "new.pem").rename(folder / "fullchain.pem")
