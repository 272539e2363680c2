"""What a person leaves unfinished at a service, and must find after its upgrade."""

import contextlib
import io
import json
import re
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import psutil
import redis

from backend.ingest.receiving.hints import HINTED_S
from backend.testing.chaos.senders import make_measurement
from backend.testing.reports import WRK, make_envelope, make_trial
from backend.testing.supervised import SupervisedSite, tree_of
from backend.testing.waiting import wait_until

WITHIN_S, ACCEPTED_WITHIN_S = 180.0, 60.0
SIGN_IN = {"login": "anna", "password": "a long walk by the sea"}
FAILING = WRK.replace("Requests/sec", "  Non-2xx or 3xx responses: 900\nRequests/sec")
# Settings of the service before its upgrade: workers do not look for runs and messages, so that
# these wait, and the clock soon sends a task.
SETTINGS = {"POLL_INTERVAL_S": "600", "COLLECT_INTERVAL_S": "5"}
TASKS = {"config.canary", "ingest.collect", "ingest.drain", "sharing.draw", "transfer.write"}
STATES = ["parsed", "parsing", *["received"] * 5]
PAGES = ("runs", "uploads", "compare", "alerts", "channels", "exports", "settings", "result-sets")


class NotAccepted(Exception):
    """The service of before the upgrade refuses uploads; the message has its answer."""


class Receiver(BaseHTTPRequestHandler):
    """Takes every message."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Prints nothing: the channel's log tells what arrived."""


@dataclass
class LeftBehind:
    """Everything by HTTP, as a browser and an agent do. `missing` names what was not as demanded,
    `faults` the answers of 5xx."""

    url: str
    broker: redis.Redis
    receiver_url: str
    # Takes a line about each demand.
    say: Callable[[str], object]
    missing: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    uploads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.client = self._browser()

    def leave(self, site: SupervisedSite) -> None:
        """Sign up, leave everything, and end the service with its workers in the middle of it."""
        (link,) = re.findall(r"/first-owner/\S+", site.output.read_text())
        password = SIGN_IN["password"]
        _fill(self.client, link, username="anna", password1=password, password2=password)
        _fill(self.client, "/new-workspace", name="lab", slug="lab")
        token = self._make("tokens", workspace="lab", name="agent", scopes=["agent"])["token"]
        view = self._make("views", workspace="lab", name="all", query="")["id"]
        rule = {"kind": "error_rate", "name": "errors", "view": view}
        self._make("alert-rules", workspace="lab", **rule)
        hook = {"kind": "webhook", "name": "hook", "address": self.receiver_url}
        topics = ["alerts", "runs"]
        self.channel = self._make("channels", workspace="lab", topics=topics, **hook)["id"]
        self._upload(token, "failing", FAILING)
        self.demand("before: a run is read", lambda: self._states() == ["parsed"])
        self._upload(token, "large", make_measurement(0, seed=1).text * 16, tool="vegeta")
        wait_until(lambda: "parsing" in self._states(), WITHIN_S, every_s=0.01)
        worker = site.child("worker")
        with _ending(tree_of(worker.pid) if worker else [], site.process):
            self._leave_for_workers(token)

    def _leave_for_workers(self, token: str) -> None:
        for _ in STATES[2:]:
            self._upload(token, "hello", WRK)
            # One task goes to the frozen worker, and the next hint is sent when the first is old.
            time.sleep(HINTED_S / 2)
        kept = self._make("result-sets", workspace="lab", query="", title="kept")
        self.result_set = kept["id"]
        self.export = self._make("exports", workspace="lab")["id"]
        self._make(f"channels/{self.channel}/test")
        self.demand(f"before: uploads are {', '.join(STATES)}", lambda: self._states() == STATES, 0)
        self.demand("before: a run waits for the rules", lambda: self._to_judge() == "1", 0)
        self.demand("before: a message waits", lambda: self._deliveries() == {"waiting"}, 0)
        self.demand("before: tasks wait", lambda: set(self._tasks().values()) >= TASKS)
        self.tasks = self._tasks()
        self.say(f"         {', '.join(sorted(set(self.tasks.values())))}")

    def expect(self) -> None:
        """Everything is there, and was worked on."""
        self.faults.clear()
        rows = [f"runs/{upload}" for upload in self.uploads] + [f"result-sets/{self.result_set}"]
        paths = [*(f"/w/lab/{page}" for page in PAGES), *(f"/api/v1/{row}" for row in rows)]
        export = f"exports/{self.export}"
        if not self.demand("the session is signed in", lambda: self._is_shown(paths[0]), 0):
            # Everything else may be there.
            _fill(self.client, "/accounts/login/", **SIGN_IN)
        self.demand("all uploads are read", lambda: set(self._states()) == {"parsed"})
        refused = [path for path in paths if not self._is_shown(path)]
        self.demand(" ".join(["all pages and rows are shown", *refused]), lambda: not refused, 0)
        self.demand("the archive is made", lambda: self._ask(export).get("state") == "done")
        archive = io.BytesIO(self.client.get(f"/api/v1/{export}/file").content)
        self.demand("the archive is a zip file", lambda: zipfile.is_zipfile(archive), 0)
        self.demand("no run waits for the rules", lambda: self._to_judge() == "0")
        judged = self.uploads[0]
        self.demand("the run that waited has an alert", lambda: judged in str(self._ask("alerts")))
        self.demand("the messages are sent", lambda: self._deliveries() == {"delivered"})
        self.demand("no task of before waits", lambda: not self.tasks.keys() & self._tasks())
        # Last: a hash of a former kind is replaced then, which ends other sessions.
        other = self._browser()
        self.demand("the password signs in", lambda: _fill(other, "/accounts/login/", **SIGN_IN), 0)

    def demand(self, what: str, is_so: Callable[[], object], within_s: float = WITHIN_S) -> bool:
        """Say whether it becomes so in time."""
        is_kept = wait_until(is_so, within_s)
        self.missing += [] if is_kept else [what]
        self.say(f"{'ok' if is_kept else 'MISSING':8} {what}")
        return is_kept

    def _browser(self) -> httpx.Client:
        hooks = {"response": [self._look]}
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False, event_hooks=hooks)

    def _look(self, answer: httpx.Response) -> None:
        if answer.is_server_error:
            text = answer.read().decode(errors="replace")[:300]
            self.faults.append(f"{answer.status_code} {answer.url} {text}")

    def _is_shown(self, path: str) -> bool:
        return self.client.get(path).is_success

    def _ask(self, path: str) -> dict[str, Any]:
        """Empty where the API refuses."""
        answer = self.client.get(f"/api/v1/{path}")
        return dict(answer.json()) if answer.is_success else {}

    def _make(self, path: str, **body: object) -> dict[str, Any]:
        headers = {"X-CSRFToken": self.client.cookies["csrftoken"]}
        answer = self.client.post(f"/api/v1/{path}", json=body, headers=headers)
        return dict(answer.raise_for_status().json())

    def _upload(self, token: str, server: str, text: str | bytes, tool: str = "wrk") -> None:
        trial = make_trial(0, server={"name": server, "version": "1"})
        trial["load"]["tool"] = tool
        data = {"envelope": json.dumps({**make_envelope(0), "trials": [trial]})}
        headers, files = {"Authorization": f"Bearer {token}"}, {"file": ("0.txt", text)}
        send = partial(self._browser().post, "/api/v1/uploads", data=data, headers=headers)
        # As an agent does, again and again while the service is busy.
        if not wait_until(lambda: send(files=files).is_success, ACCEPTED_WITHIN_S, every_s=1):
            raise NotAccepted(f"The upload {server} was not accepted. {self.faults[-1:]}")
        self.uploads.append(json.loads(data["envelope"])["id"])

    def _states(self) -> list[str]:
        return [self._ask(f"uploads/{upload}").get("state", "gone") for upload in self.uploads]

    def _deliveries(self) -> set[str]:
        listed = self._ask(f"channels/{self.channel}/deliveries").get("deliveries", [])
        return {delivery["state"] for delivery in listed}

    def _tasks(self) -> dict[str, str]:
        """The names of the tasks that wait in the broker, by the id of the message."""
        lists: list[Any] = [
            self.broker.lrange(key, 0, -1) for key in self.broker.scan_iter(_type="LIST")
        ]
        heads = [
            json.loads(text)["headers"] for each in lists for text in each if b'"task"' in text
        ]
        return {head["id"]: head["task"] for head in heads}

    def _to_judge(self) -> str:
        metrics = self.client.get("/metrics").text
        return "".join(re.findall(r"^loadsheet_runs_to_judge (\d+)", metrics, re.MULTILINE))


@contextlib.contextmanager
def _ending(workers: list[psutil.Process], supervisor: subprocess.Popen[bytes]) -> Iterator[None]:
    """The workers are frozen in the block; then the service ends, and they are killed."""
    for process in workers:
        process.suspend()
    yield
    supervisor.terminate()
    # Then it starts no worker again.
    time.sleep(1)
    for process in workers:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    supervisor.wait()


def _fill(client: httpx.Client, path: str, **fields: str) -> bool:
    """Send the form of a page; whether it was taken."""
    page = client.get(path, follow_redirects=True)
    fields["csrfmiddlewaretoken"] = client.cookies["csrftoken"]
    return client.post(page.url, data=fields).is_redirect
