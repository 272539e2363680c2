"""Client processes that send one request again and again: what `scripts/bench service` loads with.

As light as clients can be: what they spend on the same cores is not the service's.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

MARK = "@number@"
_CLIENT = """
import http.client, json, os, sys, time
order = json.load(sys.stdin)
connection = http.client.HTTPConnection(order["host"], timeout=60)
before, mark, after = (part.encode() for part in order["body"].partition(order["mark"]))
taken, number, began = [], 0, time.monotonic()
while (now := time.monotonic()) < began + order["seconds"] and number < order["most"]:
    if order["rate"] and (early := began + number / order["rate"] - now) > 0:
        time.sleep(early)
    own = b"%d-%d" % (os.getpid(), number) if mark else b""
    body = before + own + after
    started = time.perf_counter()
    connection.request("POST", order["path"], body, order["headers"])
    answer = connection.getresponse()
    text = answer.read()
    taken.append((time.perf_counter() - started) * 1000)
    assert 200 <= answer.status < 300, (answer.status, text[:300])
    number += 1
print(json.dumps(taken))
"""


@dataclass(frozen=True, slots=True)
class Order:
    """What each client sends, for how long, and how often a second; `rate` 0: without a pause.

    A client that has sent `most` requests ends before. Where the body holds MARK, each request has
    another text in its place.
    """

    host: str
    path: str
    headers: Mapping[str, str]
    body: str
    seconds: float
    rate: float = 0.0
    most: int = sys.maxsize


@dataclass(frozen=True, slots=True)
class Sent:
    """What the clients sent: the time of each answer in ms, in rising order."""

    taken_ms: list[float]
    seconds: float

    @property
    def per_second(self) -> float:
        return len(self.taken_ms) / self.seconds

    def percentile(self, percent: float) -> float:
        return percentile(self.taken_ms, percent)


def percentile(ordered: list[float], percent: float) -> float:
    """Of values in rising order; NaN of none."""
    place = min(len(ordered) - 1, int(len(ordered) * percent / 100))
    return ordered[place] if ordered else float("nan")


def send(order: Order, *, clients: int) -> Sent:
    """Let so many processes send at the same time. Raises CalledProcessError where an answer is no
    2xx."""
    message = json.dumps({**asdict(order), "mark": MARK})

    def run(_: int) -> list[float]:
        done = subprocess.run(
            [sys.executable, "-c", _CLIENT],
            input=message,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        taken: list[float] = json.loads(done.stdout)
        return taken

    with ThreadPoolExecutor(clients) as pool:
        taken_ms = sorted(ms for each in pool.map(run, range(clients)) for ms in each)
    return Sent(taken_ms, order.seconds)


def upload_order(host: str, token: str, text: str, *, seconds: float, rate: float = 0.0) -> Order:
    """Uploads of a text of 4 KB as curl sends them, each with another last line."""
    part = 'Content-Disposition: form-data; name="file"; filename="ab.txt"'
    kept = text[: 4096 - 40]
    body = f"--cut\r\n{part}\r\n\r\n{kept}\n# upload {MARK}\n\r\n--cut--\r\n"
    headers = {
        "authorization": f"Bearer {token}",
        "content-type": "multipart/form-data; boundary=cut",
    }
    return Order(host, "/api/v1/uploads", headers, body, seconds, rate)


def report_order(
    host: str, project: str, token: str, *, seconds: float, most: int = sys.maxsize
) -> Order:
    """Reports of seven figures as a Bencher server takes them: what it keeps of a report of ab."""
    names = ("throughput", "p50", "p90", "p95", "p99", "requests", "failed")
    figures = {name: {"value": 100.5 + place} for place, name in enumerate(names)}
    report = {
        "branch": "main",
        "testbed": "localhost",
        "start_time": "2026-11-22T12:00:00Z",
        "end_time": "2026-11-22T12:00:10Z",
        "results": [json.dumps({"hello": figures})],
        "settings": {"adapter": "json"},
    }
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    path = f"/v0/projects/{project}/reports"
    return Order(host, path, headers, json.dumps(report), seconds, most=most)
