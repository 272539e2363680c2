"""The run of as many trials as an envelope may have, which strangers upload, share and ask for."""

import json
import time
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import httpx

from backend.testing.reports import WRK, make_envelope

TRIALS = 5_000
# A load point has so many trials.
REPEATS = 5
READ_WITHIN_S = 300.0


class LargeRun(NamedTuple):
    """Its id, and the link under which everyone reads it."""

    id: str
    link: str


def make_large_run(client: httpx.Client) -> LargeRun:
    """Upload the run and share it, once it is read. All trials name one file."""
    envelope = make_envelope(TRIALS)
    for trial in envelope["trials"]:
        trial["artefacts"] = ["0.txt"]
        trial["load"]["connections"] = 1 + trial["ordinal"] // REPEATS
        trial["command"] = ["wrk", "-t2", "-d10s", "--latency", "http://127.0.0.1:8080/plaintext"]
    answer = client.post(
        "/api/v1/uploads",
        data={"envelope": json.dumps(envelope)},
        files={"file": ("0.txt", WRK)},
    )
    run_id = _wait_until_read(client, answer.raise_for_status().json()["id"])
    shared = client.patch(f"/api/v1/runs/{run_id}/sharing", json={"visibility": "unlisted"})
    return LargeRun(run_id, shared.raise_for_status().json()["url"].rpartition("/")[2])


def _wait_until_read(client: httpx.Client, upload_id: str) -> str:
    """The id of the run; raises TimeoutError."""
    deadline = time.monotonic() + READ_WITHIN_S
    while time.monotonic() < deadline:
        upload = client.get(f"/api/v1/uploads/{upload_id}").json()
        if upload.get("state") == "parsed":
            return str(upload["run"])
        time.sleep(0.5)
    raise TimeoutError(f"The run of {TRIALS} trials was not read within {READ_WITHIN_S:g} s.")


def requests_for(run: LargeRun) -> Iterator[tuple[str, str, dict[str, str] | None]]:
    """Method, path and JSON of each answer that is large because of the run, in turn, for ever."""
    for number in count():
        for path in (
            f"/shared/runs/{run.link}",
            f"/api/v1/runs/{run.id}",
            f"/api/v1/shared-runs/{run.link}",
            "/api/v1/runs?expand=trial_details&limit=10",
            "/api/v1/trials.csv",
            "/api/v1/trials.parquet",
        ):
            yield "GET", path, None
        yield "PATCH", f"/api/v1/runs/{run.id}", {"notes": f"{number}"}
