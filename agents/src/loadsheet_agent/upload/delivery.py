"""Sends a spool entry until the service has stored it, or until sending again is of no use."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urljoin

import httpx

from loadsheet_agent.exits import Exit
from loadsheet_agent.upload import retry
from loadsheet_agent.upload.api_client import ANSWERING_S, CONNECTING_S, json_object
from loadsheet_agent.upload.parts import OCTETS, PackedFiles, Part, pack
from loadsheet_agent.upload.retry import Verdict
from loadsheet_agent.upload.spool import Entry
from loadsheet_agent.upload.target import Target

UPLOADS_PATH = "/api/v1/uploads"
# The service puts a large upload together and removes secrets before it answers.
RECEIVING_S = 600.0
READ_STATES = ("parsed", "failed", "quarantined")


@dataclass(frozen=True)
class Delivery:
    """How a delivery ended. `state` and `result_url` are as the service gave them.

    `holds_others`: no other entry would be taken now.
    """

    exit_code: Exit
    state: str | None = None
    result_url: str | None = None
    detail: str | None = None
    holds_others: bool = False


@dataclass(frozen=True)
class Answer:
    """The service's answer; `status` is None if none came, and `text` says why."""

    status: int | None
    body: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    retry_after_s: float | None = None

    def reason(self) -> str:
        """Why the upload was not stored, in a sentence."""
        if self.status is None:
            return self.text
        sentences = [self.body.get(name) for name in ("title", "detail", "hint")]
        problem = " ".join(str(text) for text in sentences if text) or self.text[:200]
        return f"the service answered {self.status}: {problem}".rstrip(": ")


@dataclass
class Uploader:
    """Sends entries of the spool; `max_wait_s` bounds all tries of one entry, None: no bound."""

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
        """Send until the service has stored it; only then does the entry leave the spool."""
        with ExitStack() as stack:
            files = pack(stack, entry.artefacts())
            answer = self._send_until_decided(entry, files)
        verdict = self._decide(entry, answer)
        if verdict is Verdict.STORED:
            entry.remove()
            return self._wait_until_read(entry.id, answer.body)
        return self._undelivered(entry, verdict, answer)

    def _undelivered(self, entry: Entry, verdict: Verdict, answer: Answer) -> Delivery:
        if verdict is Verdict.REJECT:
            place = entry.reject(answer.body or {"status": answer.status, "detail": answer.text})
            return Delivery(Exit.REJECTED, detail=f"{answer.reason()} (kept in {place})")
        entry.release()
        if verdict is Verdict.RETRY:
            # Only this entry has the wrong time.
            holds_others = answer.status != retry.TOO_EARLY
            return Delivery(Exit.SPOOLED, detail=answer.reason(), holds_others=holds_others)
        return Delivery(Exit.HELD, detail=_hold_text(answer), holds_others=True)

    def _send_until_decided(self, entry: Entry, files: PackedFiles) -> Answer:
        began, attempt = self.clock(), 0
        while True:
            sent_before = self.parts_sent
            answer = self._send(entry, files)
            verdict = self._decide(entry, answer)
            if verdict is Verdict.STORED:
                return answer
            entry.count_attempt(answer.reason())
            is_too_early = retry.is_too_early(answer.status, answer.retry_after_s)
            if verdict is not Verdict.RETRY or is_too_early:
                return answer
            if self.parts_sent > sent_before:
                attempt = 0  # parts get through, so the pause stays short
            wait = retry.delay_s(attempt, draw=self.draw(), retry_after_s=answer.retry_after_s)
            if self.max_wait_s is not None and self.clock() - began + wait > self.max_wait_s:
                return answer
            self.say(f"{answer.reason()}; sending again in {wait:.1f} s (kept in the spool)")
            self.sleep(wait)
            attempt += 1

    def _send(self, entry: Entry, files: PackedFiles) -> Answer:
        if files.large and (refusal := self._send_parts(entry, files)) is not None:
            return refusal
        form = [(name, (None, text)) for name, text in _form_fields(entry, files).items()]
        answering_s = RECEIVING_S if files.large else ANSWERING_S
        timeout = httpx.Timeout(answering_s, connect=CONNECTING_S)
        return self._ask("POST", UPLOADS_PATH, files=[*form, *files.form_files()], timeout=timeout)

    def _send_parts(self, entry: Entry, files: PackedFiles) -> Answer | None:
        """Send the parts the service lacks; None when it has all, else its refusal."""
        path = f"{UPLOADS_PATH}/{entry.id}/parts"
        answer = self._ask("GET", path)
        if answer.status != 200 or "parts" not in answer.body:
            return answer
        if answer.body.get("received"):
            return None
        stored = {(part["artefact"], part["number"]) for part in answer.body["parts"]}
        for part in files.missing_parts(stored):
            part_path = f"{path}/{part.artefact_sha256}/{part.number}"
            answer = self._ask("PUT", part_path, content=part.content, headers=_digest(part))
            if answer.status not in (200, 201):
                return answer
            self.parts_sent += 1
        return None

    def _ask(self, method: str, path: str, **content: Any) -> Answer:
        try:
            response = self.client.request(method, path, **content)
        except httpx.RequestError as error:
            reason = str(error) or type(error).__name__
            return Answer(status=None, text=f"{self.target.url} was not reached ({reason})")
        return _read_answer(response)

    def _decide(self, entry: Entry, answer: Answer) -> Verdict:
        if answer.status is None:
            return Verdict.RETRY
        verdict = retry.verdict(answer.status)
        if verdict is Verdict.STORED and str(answer.body.get("id", "")).lower() != entry.id:
            # A sign-in page or a proxy can answer 200 too; that is no receipt.
            return Verdict.HOLD
        return verdict

    def _wait_until_read(self, upload_id: str, receipt: dict[str, Any]) -> Delivery:
        """`receipt`: the service's last answer, which for a repeated upload may say it is read."""
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


def _form_fields(entry: Entry, files: PackedFiles) -> dict[str, str]:
    """The envelope as it is on disk: the same text on every try."""
    tool = (entry.envelope() or {}).get("tool")
    fields = {"envelope": entry.envelope_text() or ""}
    if tool is not None:
        fields["tool"] = tool
    if files.large:
        fields["parts"] = json.dumps([file.declaration() for file in files.large])
    return fields


def _digest(part: Part) -> dict[str, str]:
    """The checksum of a part as RFC 9530 writes it."""
    digest = base64.b64encode(hashlib.sha256(part.content).digest()).decode()
    return {"Content-Digest": f"sha-256=:{digest}:", "Content-Type": OCTETS}


def _read_answer(response: httpx.Response) -> Answer:
    body = json_object(response)
    now = datetime.now(timezone.utc)
    location = response.headers.get("location")
    text = f"it redirects to {location}" if location else " ".join(response.text[:500].split())
    return Answer(
        status=response.status_code,
        body=body,
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
