"""Sends each trial as it ends, so that the run can be read while it goes on.

What is not taken, or is too large to be sent between two trials, goes with the rest at the end. A
trial that was taken twice is there once: the service puts it in its place by its number.
"""

from __future__ import annotations

import gzip
import json
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from loadsheet_agent.upload.api_client import Line
from loadsheet_agent.upload.delivery import READ_STATES, UPLOADS_PATH
from loadsheet_agent.upload.envelope import RunRecord
from loadsheet_agent.upload.parts import COMPRESSED_STARTS, GZIP_FROM_BYTES

# As sent: more would hold up the next trial on a slow line.
MOST_BYTES = 1 << 20
TIMEOUT_S = 3.0
# How long the next trial waits for a service on this machine to have read the one before.
READING_S = 2.0
READING_POLL_S = 0.03


class EarlyTrials:
    """`waits`: the service is on this machine, where its reading would disturb the next trial."""

    def __init__(
        self,
        line: Line,
        record: RunRecord,
        directory: Path,
        *,
        waits: bool,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._line = line
        self._record = record
        self._directory = directory
        self._waits = waits
        self._sleep = sleep

    def send(self, trial: Mapping[str, Any]) -> None:
        """Remembers in the record that the service has the trial, once it does."""
        files = self._files(trial["artefacts"])
        if not files:
            return
        upload_id = str(uuid.uuid4())
        envelope = json.dumps(self._record.as_early(upload_id, trial), ensure_ascii=False)
        fields = {"envelope": envelope}
        answer = self._line.ask("POST", UPLOADS_PATH, TIMEOUT_S, data=fields, files=files)
        # A sign-in page or a proxy can answer 200 too; that is no receipt.
        if answer is None or _body(answer).get("id") != upload_id:
            return
        self._record.sent_early[trial["ordinal"]] = upload_id
        if self._waits:
            self._wait_until_read(upload_id)

    def close(self) -> None:
        self._line.close()

    def _files(self, names: list[str]) -> list[tuple[str, tuple[str, bytes, str]]]:
        """The form's parts; none where they are too large."""
        paths = [self._directory / name for name in names]
        if sum(path.stat().st_size for path in paths) > 16 * MOST_BYTES:
            return []
        packed = {path.name: _packed(path.read_bytes()) for path in paths}
        if sum(map(len, packed.values())) > MOST_BYTES:
            return []
        kind = "application/octet-stream"
        return [("file", (name, content, kind)) for name, content in packed.items()]

    def _wait_until_read(self, upload_id: str) -> None:
        until = time.monotonic() + READING_S
        while time.monotonic() < until:
            answer = self._line.ask("GET", f"{UPLOADS_PATH}/{upload_id}", TIMEOUT_S)
            if answer is None or _body(answer).get("state") in READ_STATES:
                return
            self._sleep(READING_POLL_S)


def _packed(content: bytes) -> bytes:
    if len(content) < GZIP_FROM_BYTES or content.startswith(COMPRESSED_STARTS):
        return content
    return gzip.compress(content, mtime=0)


def _body(answer: Any) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
