"""Brings a spool entry to the service: again and again until it has it, or says why not."""

from __future__ import annotations

import gzip
import io
import ipaddress
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

import httpx

from loadsheet_agent import retry
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.retry import Verdict
from loadsheet_agent.spool import Entry

UPLOADS_PATH = "/api/v1/uploads"
GZIP_FROM_BYTES = 1024
COMPRESSED_STARTS = (
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
)  # gzip, zstd: the service refuses a second layer
IN_MEMORY_UP_TO_BYTES = 4 * 1024 * 1024
READ_STATES = ("parsed", "failed", "quarantined")


@dataclass(frozen=True)
class Target:
    url: str
    token: str


@dataclass(frozen=True)
class Delivery:
    """How it ended. `state` and `result_url` are the service's words."""

    exit_code: Exit
    state: str | None = None
    result_url: str | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Answer:
    """What came back, or why nothing did (`status` None)."""

    status: int | None
    body: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    retry_after_s: float | None = None

    def reason(self) -> str:
        if self.status is None:
            return self.text
        words = [self.body.get("title"), self.body.get("detail"), self.body.get("hint")]
        told = " ".join(str(word) for word in words if word) or self.text[:200]
        return f"the service answered {self.status}: {told}".rstrip(": ")


@dataclass
class Courier:
    target: Target
    client: httpx.Client
    max_wait_s: float | None = None
    read_wait_s: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic
    say: Callable[[str], None] = lambda _: None

    def deliver(self, entry: Entry) -> Delivery:
        """Send until the service has it durably; only then does the entry leave the spool."""
        with ExitStack() as stack:
            parts = [_part(stack, path) for path in entry.artefacts()]
            answer = self._send_until_decided(entry, parts)
        kind = self._decide(entry, answer)
        if kind is Verdict.STORED:
            entry.remove()
            return self._wait_until_read(entry.id, answer.body)
        return self._undelivered(entry, kind, answer)

    def _undelivered(self, entry: Entry, kind: Verdict, answer: Answer) -> Delivery:
        if kind is Verdict.REJECT:
            place = entry.reject(answer.body or {"status": answer.status, "detail": answer.text})
            return Delivery(Exit.REJECTED, detail=f"{answer.reason()} (kept in {place})")
        entry.release()
        if kind is Verdict.RETRY:
            return Delivery(Exit.SPOOLED, detail=answer.reason())
        return Delivery(Exit.HELD, detail=_hold_text(answer))

    def _send_until_decided(self, entry: Entry, parts: list[tuple[str, Any]]) -> Answer:
        began, attempt = self.clock(), 0
        fields = _form_fields(entry)
        while True:
            answer = self._ask("POST", UPLOADS_PATH, data=fields, files=parts)
            kind = self._decide(entry, answer)
            if kind is Verdict.STORED:
                return answer
            entry.count_attempt(answer.reason())
            if kind is not Verdict.RETRY:
                return answer
            wait = retry.delay_s(attempt, draw=self.draw(), retry_after_s=answer.retry_after_s)
            if self.max_wait_s is not None and self.clock() - began + wait > self.max_wait_s:
                return answer
            self.say(f"{answer.reason()}; sending again in {wait:.1f} s (kept in the spool)")
            self.sleep(wait)
            attempt += 1

    def _ask(self, method: str, path: str, **content: Any) -> Answer:
        headers = {"Authorization": f"Bearer {self.target.token}"}
        try:
            response = self.client.request(
                method, self.target.url + path, headers=headers, **content
            )
        except httpx.RequestError as error:
            told = str(error) or type(error).__name__
            return Answer(status=None, text=f"{self.target.url} was not reached ({told})")
        return _read_answer(response)

    def _decide(self, entry: Entry, answer: Answer) -> Verdict:
        if answer.status is None:
            return Verdict.RETRY
        kind = retry.verdict(answer.status)
        if kind is Verdict.STORED and str(answer.body.get("id", "")).lower() != entry.id:
            # A sign-in page or a proxy can answer 200 too; that is no receipt.
            return Verdict.HOLD
        return kind

    def _wait_until_read(self, upload_id: str, receipt: dict[str, Any]) -> Delivery:
        """`receipt` is what the service said last; an upload sent before may be read already."""
        until, pause = self.clock() + self.read_wait_s, 0.2
        while receipt.get("state") not in READ_STATES and self.clock() < until:
            self.sleep(pause)
            pause = min(pause * 1.5, 2.0)
            answer = self._ask("GET", f"{UPLOADS_PATH}/{upload_id}")
            if answer.status == 200:
                receipt = {**receipt, **answer.body}
        state = str(receipt.get("state"))
        return Delivery(
            Exit.UNREAD if state in ("failed", "quarantined") else Exit.OK,
            state=state,
            result_url=_result_url(self.target.url, receipt),
            detail=receipt.get("reason") or None,
        )


def open_client(target: Target) -> httpx.Client:
    timeout = httpx.Timeout(60.0, connect=10.0)
    return httpx.Client(timeout=timeout, trust_env=not is_loopback(target.url))


def make_target(url: str | None, token: str | None) -> Target | None:
    """None when no address is given at all; half a target is an error."""
    if not url:
        if token:
            raise UsageError("a token is given but no address; set LOADSHEET_URL or give --url.")
        return None
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise UsageError(f'the address {url!r} is not understood; expected as "https://host".')
    if not token:
        raise UsageError(f"no token for {url}; set LOADSHEET_TOKEN or give --token.")
    if not all(33 <= ord(char) <= 126 for char in token):
        raise UsageError("the token has characters no token has; copy it again, without blanks.")
    return Target(url=url.rstrip("/"), token=token)


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _form_fields(entry: Entry) -> dict[str, str]:
    """The envelope as it lies on disk: the same text on every try."""
    tool = (entry.envelope() or {}).get("tool")
    fields = {"envelope": entry.envelope_text() or ""}
    return fields if tool is None else {**fields, "tool": tool}


def _part(stack: ExitStack, path: Path) -> tuple[str, tuple[str, IO[bytes], str]]:
    """The file as a form part, gzipped where that pays: same name, same bytes on every try."""
    size = path.stat().st_size
    source = stack.enter_context(path.open("rb"))
    content: IO[bytes] = source
    packed_before = source.read(4).startswith(COMPRESSED_STARTS)
    source.seek(0)
    if size >= GZIP_FROM_BYTES and not packed_before:
        in_memory = size <= IN_MEMORY_UP_TO_BYTES
        content = io.BytesIO() if in_memory else tempfile.TemporaryFile()  # noqa: SIM115
        stack.enter_context(content)
        with gzip.GzipFile(filename="", fileobj=content, mode="wb", mtime=0) as packed:
            shutil.copyfileobj(source, packed)
        content.flush()  # httpx asks the file system for the length
        source.close()
    return "file", (path.name, content, "application/octet-stream")


def _read_answer(response: httpx.Response) -> Answer:
    try:
        body = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        body = None
    now = datetime.now(timezone.utc)
    location = response.headers.get("location")
    text = f"it redirects to {location}" if location else " ".join(response.text[:500].split())
    return Answer(
        status=response.status_code,
        body=body if isinstance(body, dict) else {},
        text=text or response.reason_phrase,
        retry_after_s=retry.parse_retry_after(response.headers.get("retry-after"), now),
    )


def _result_url(base: str, body: dict[str, Any]) -> str | None:
    url = body.get("result_url") or body.get("url")
    return urljoin(base + "/", str(url)) if url else None


def _hold_text(answer: Answer) -> str:
    if answer.status in (401, 403):
        return (
            f"{answer.reason()}; the token was refused, so check LOADSHEET_TOKEN and then run "
            "`loadsheet spool retry`"
        )
    return (
        f"{answer.reason()}; that is not a Loadsheet receipt, so check LOADSHEET_URL and then "
        "run `loadsheet spool retry`"
    )
