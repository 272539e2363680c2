"""Brings a spool entry to the service: again and again until it has it, or says why not."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import random
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload import retry
from loadsheet_agent.upload.parts import Parcels, Part, pack
from loadsheet_agent.upload.retry import Verdict
from loadsheet_agent.upload.spool import Entry

UPLOADS_PATH = "/api/v1/uploads"
CONNECTING_S, ANSWERING_S = 10.0, 60.0
# The service puts a large upload together and looks through it before it answers.
RECEIVING_S = 600.0
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
    parts_sent: int = field(default=0, init=False)

    def deliver(self, entry: Entry) -> Delivery:
        """Send until the service has it durably; only then does the entry leave the spool."""
        with ExitStack() as stack:
            parcels = pack(stack, entry.artefacts())
            answer = self._send_until_decided(entry, parcels)
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

    def _send_until_decided(self, entry: Entry, parcels: Parcels) -> Answer:
        began, attempt = self.clock(), 0
        while True:
            sent_before = self.parts_sent
            answer = self._send(entry, parcels)
            kind = self._decide(entry, answer)
            if kind is Verdict.STORED:
                return answer
            entry.count_attempt(answer.reason())
            if kind is not Verdict.RETRY:
                return answer
            if self.parts_sent > sent_before:
                attempt = 0  # it gets on: only a service that takes nothing is left in peace
            wait = retry.delay_s(attempt, draw=self.draw(), retry_after_s=answer.retry_after_s)
            if self.max_wait_s is not None and self.clock() - began + wait > self.max_wait_s:
                return answer
            self.say(f"{answer.reason()}; sending again in {wait:.1f} s (kept in the spool)")
            self.sleep(wait)
            attempt += 1

    def _send(self, entry: Entry, parcels: Parcels) -> Answer:
        if parcels.large and (stopped := self._send_parts(entry, parcels)) is not None:
            return stopped
        form = [(name, (None, text)) for name, text in _form_fields(entry, parcels).items()]
        waits_s = RECEIVING_S if parcels.large else ANSWERING_S
        timeout = httpx.Timeout(waits_s, connect=CONNECTING_S)
        return self._ask("POST", UPLOADS_PATH, files=[*form, *parcels.files()], timeout=timeout)

    def _send_parts(self, entry: Entry, parcels: Parcels) -> Answer | None:
        """Send what the service does not have; None when all is there, else its refusal."""
        path = f"{UPLOADS_PATH}/{entry.id}/parts"
        answer = self._ask("GET", path)
        if answer.status != 200 or "parts" not in answer.body:
            return answer
        if answer.body.get("received"):
            return None
        there = {(part["artefact"], part["number"]) for part in answer.body["parts"]}
        for part in parcels.missing(there):
            place = f"{path}/{part.artefact_sha256}/{part.number}"
            answer = self._ask("PUT", place, content=part.content, headers=_digest(part))
            if answer.status not in (200, 201):
                return answer
            self.parts_sent += 1
        return None

    def _ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, **content: Any
    ) -> Answer:
        headers = {**(headers or {}), "Authorization": f"Bearer {self.target.token}"}
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
    timeout = httpx.Timeout(ANSWERING_S, connect=CONNECTING_S)
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


def _form_fields(entry: Entry, parcels: Parcels) -> dict[str, str]:
    """The envelope as it lies on disk: the same text on every try."""
    tool = (entry.envelope() or {}).get("tool")
    fields = {"envelope": entry.envelope_text() or ""}
    if tool is not None:
        fields["tool"] = tool
    if parcels.large:
        fields["parts"] = json.dumps([parcel.named() for parcel in parcels.large])
    return fields


def _digest(part: Part) -> dict[str, str]:
    """The checksum of a part as RFC 9530 writes it."""
    digest = base64.b64encode(hashlib.sha256(part.content).digest()).decode()
    kind = "application/octet-stream"
    return {"Content-Digest": f"sha-256=:{digest}:", "Content-Type": kind}


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
