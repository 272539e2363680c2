"""Making workspaces, tokens and uploads for tests."""

from __future__ import annotations

import io
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from backend.accounts.models import Membership, Role, TokenKind, User, Workspace
from backend.accounts.tokens import AGENT_LIFETIME, issue
from backend.ingest.models import Upload
from backend.ingest.receive import Sender, receive

WRK = """Running 3s test @ http://127.0.0.1:8080/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.94ms    2.10ms  30.51ms   90.11%
    Req/Sec     3.01k   240.10     3.60k    71.67%
  Latency Distribution
     50%    1.41ms
     75%    2.20ms
     90%    4.11ms
     99%   10.02ms
  18000 requests in 3.00s, 2.10MB read
Requests/sec:   6000.00
Transfer/sec:    716.80KB
"""


@dataclass(frozen=True, slots=True)
class Tenant:
    """A workspace with its owner and a working agent token."""

    workspace: Workspace
    user: User
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    @property
    def sender(self) -> Sender:
        return Sender(self.workspace, None, self.user)


def make_tenant(slug: str = "lab", *, lifetime: timedelta = AGENT_LIFETIME) -> Tenant:
    """A workspace named `slug`, owned by a user of the same name."""
    workspace = Workspace.objects.create(slug=slug, name=slug.title())
    user = User.objects.create_user(username=slug, password=None)
    Membership.objects.create(user=user, workspace=workspace, role=Role.OWNER)
    token = issue(TokenKind.AGENT, workspace, user=user, name="test", lifetime=lifetime)
    return Tenant(workspace, user, token)


def make_file(text: str | bytes = WRK, name: str = "wrk.txt") -> SimpleUploadedFile:
    """A file as a request carries it."""
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


def make_upload(
    tenant: Tenant, *texts: str | bytes, envelope: dict[str, Any] | None = None, tool: str = ""
) -> Upload:
    """A received upload of one file per text (a wrk report when none is given)."""
    files = [make_file(text, f"{index}.txt") for index, text in enumerate(texts or (WRK,))]
    return receive(tenant.sender, files, raw_envelope=envelope, tool=tool).upload


def make_envelope(trials: int = 1, **over: Any) -> dict[str, Any]:
    """An envelope whose trials name the files 0.txt, 1.txt …"""
    return {
        "schema": 1,
        "id": str(uuid.uuid4()),
        "run": {"started_at": "2026-01-31T12:00:00Z", "labels": {"for": "test"}},
        "hosts": {"client": {"name": "here", "cores": 2}, "server": {"name": "here", "cores": 2}},
        "same_host": True,
        "trials": [make_trial(index) for index in range(trials)],
        **over,
    }


def make_trial(index: int, **over: Any) -> dict[str, Any]:
    """One trial entry of an envelope."""
    return {
        "ordinal": index,
        "server": {"name": "hello", "version": "1.0", "configuration": {"workers": 2}},
        "workload": {"name": "hello", "method": "GET", "path": "/", "keepalive": True},
        "load": {"tool": "wrk", "tool_version": "4.1.0", "loop": "closed", "connections": 10},
        "repeat": index,
        "command": ["wrk", "-c10", "http://127.0.0.1:8080/"],
        "exit_code": 0,
        "artefacts": [f"{index}.txt"],
        **over,
    }


def gzip_of_zeros(size_bytes: int) -> bytes:
    """A gzip file that unpacks to `size_bytes` zeros."""
    import gzip

    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb") as packed:
        for _ in range(size_bytes >> 20):
            packed.write(bytes(1 << 20))
    return out.getvalue()
