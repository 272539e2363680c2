"""Sends each trial as it ends, so that the run's page fills in while the run goes on.

A trial that the service does not take, or that is too large to be sent between two trials, goes
with the upload at the end. A trial that was sent twice is stored once: the service places it by its
number.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from loadsheet_agent.upload.api_client import ApiClient, json_object
from loadsheet_agent.upload.delivery import READ_STATES, UPLOADS_PATH
from loadsheet_agent.upload.parts import pack

# As sent: more would hold up the next trial on a slow network.
MOST_BYTES = 1 << 20
# Before packing: text shrinks to a tenth, and packing more would take longer than it may.
MOST_UNPACKED_BYTES = 16 << 20
TIMEOUT_S = 3.0
# How long the next trial waits for a service on this machine to have read the previous trial.
READING_S = 2.0
READING_POLL_S = 0.03


class EarlyTrials:
    """`waits`: the service is on this machine, where reading would disturb the next trial."""

    def __init__(self, client: ApiClient, directory: Path, *, waits: bool) -> None:
        self._client = client
        self._directory = directory
        self._waits = waits

    def send(self, envelope: Mapping[str, Any], artefacts: list[str]) -> bool:
        """Whether the service has stored the trial; it is tried once."""
        if not self._post(envelope, [self._directory / name for name in artefacts]):
            return False
        if self._waits:
            self._wait_until_read(envelope["id"])
        return True

    def close(self) -> None:
        self._client.close()

    def _post(self, envelope: Mapping[str, Any], paths: list[Path]) -> bool:
        if sum(path.stat().st_size for path in paths) > MOST_UNPACKED_BYTES:
            return False
        with ExitStack() as stack:
            packed = pack(stack, paths)
            if not packed.small or packed.size_bytes > MOST_BYTES:
                return False
            answer = self._client.ask(
                "POST",
                UPLOADS_PATH,
                TIMEOUT_S,
                data={"envelope": json.dumps(envelope, ensure_ascii=False)},
                files=packed.form_files(),
            )
        # A sign-in page or a proxy can answer 200 too; that is no receipt.
        return answer is not None and json_object(answer).get("id") == envelope["id"]

    def _wait_until_read(self, upload_id: str) -> None:
        until = time.monotonic() + READING_S
        while time.monotonic() < until:
            answer = self._client.ask("GET", f"{UPLOADS_PATH}/{upload_id}", TIMEOUT_S)
            if answer is None or json_object(answer).get("state") in READ_STATES:
                return
            time.sleep(READING_POLL_S)
