"""scripts/bench service: receiving, reading and comparing, with everything running.

Starts its own service on a free port with a fresh data folder, sends to loopback only, and prints
what it measured beside the machine's facts. Figures of a shared machine: compare within one run.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import product
from pathlib import Path

import httpx
import psutil

from backend.config.embedded import free_port
from backend.config.site import Site
from backend.testing.reports import WRK, make_envelope, make_trial

CLIENTS, SECONDS = 8, 10
CAPTURE = Path(__file__).parents[2] / "backend/formats/ab/tests/captures/close-c100-40-tsv"
AB, LATENCIES = (CAPTURE / "stdout").read_text(), (CAPTURE / "plot.tsv").read_text()
TEXT = (WRK + "\n" + "# padding to four kilobytes\n" * 200)[:4096]


def main() -> None:
    print(f"{os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="loadsheet-bench-") as folder:
        Path(folder).chmod(0o755)
        site = Site(free_port(), Path(folder))
        try:
            site.start()
            token = json.loads(site.manage("make_demo"))["token"]
            headers = {"authorization": f"Bearer {token}"}
            envelope_of_trials(site.url, headers)
            paced(site.url, headers)
            comparison(site.url, headers, runs=1)
            comparison(site.url, headers, runs=5)
            accepted(site.url, headers)
        finally:
            site.stop()


def post(client: httpx.Client, name: str = "wrk.txt") -> dict[str, str]:
    answer = client.post("/api/v1/uploads", files={"file": (name, TEXT)})
    answer.raise_for_status()
    return dict(answer.json())


def wait_parsed(client: httpx.Client, upload_id: str, pause_s: float = 0.01) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        state = client.get(f"/api/v1/uploads/{upload_id}").json()["state"]
        if state == "parsed":
            return
        if state in ("failed", "quarantined"):
            sys.exit(f"upload {upload_id} ended as {state}")
        time.sleep(pause_s)
    sys.exit(f"upload {upload_id} was not parsed in 60 s")


def send_envelope(client: httpx.Client, trials: list[dict[str, object]]) -> str:
    envelope = {**make_envelope(0), "id": str(uuid.uuid4()), "trials": trials}
    files = [("file", (f"{number}.txt", WRK)) for number in range(len(trials))]
    answer = client.post(
        "/api/v1/uploads", data={"envelope": json.dumps(envelope)}, files=files, timeout=60
    )
    answer.raise_for_status()
    return str(answer.json()["id"])


def envelope_of_trials(url: str, headers: dict[str, str]) -> None:
    with httpx.Client(base_url=url, headers=headers) as client:
        wait_parsed(client, post(client)["id"])  # warm-up, discarded
        started = time.perf_counter()
        upload_id = send_envelope(client, [make_trial(number) for number in range(120)])
        sent = time.perf_counter()
        wait_parsed(client, upload_id)
        parsed = time.perf_counter()
    print(
        f"120 trials in one envelope: accepted in {sent - started:.2f} s, "
        f"parsed and queryable {parsed - sent:.2f} s later (target 1 s)"
    )


def paced(url: str, headers: dict[str, str], rate: int = 20) -> None:
    """Uploads at a steady rate; times by the service's own clock, so that asking costs nothing."""
    ids: list[str] = []

    def one() -> None:
        with httpx.Client(base_url=url, headers=headers, timeout=30) as client:
            ids.append(post(client)["id"])

    threads = []
    for _ in range(rate * 8):
        threads.append(threading.Thread(target=one))
        threads[-1].start()
        time.sleep(1 / rate)
    for thread in threads:
        thread.join()
    taken = []
    with httpx.Client(base_url=url, headers=headers) as client:
        for upload_id in ids:
            wait_parsed(client, upload_id)
            row = client.get(f"/api/v1/uploads/{upload_id}").json()
            begin, end = (
                datetime.fromisoformat(row[key]) for key in ("received_at", "finished_at")
            )
            taken.append((end - begin).total_seconds())
    taken.sort()
    print(
        f"upload to parsed at {rate}/s: p50 {taken[len(taken) // 2]:.2f} s, "
        f"p95 {taken[int(len(taken) * 0.95)]:.2f} s (target 2 s), n {len(taken)}"
    )


SERVERS, POINTS, TRIALS, ASKED = 20, 8, 5, 100


def comparison(url: str, headers: dict[str, str], *, runs: int) -> None:
    """20 series × 8 points × 5 trials, in one run or pooled over several of equal identities."""
    app_ms, whole_ms = [], []
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        query = {
            "run": [send_sampled(client, TRIALS // runs) for _ in range(runs)],
            "workspace": "demo",
        }
        for run in query["run"]:
            wait_parsed(client, run)
        for _ in range(ASKED):
            started = time.perf_counter()
            answer = client.get("/api/v1/compare", params=query)
            whole_ms.append((time.perf_counter() - started) * 1000)
            answer.raise_for_status()
            app_ms.append(float(answer.headers["server-timing"].removeprefix("app;dur=")))
    first = app_ms[0]
    points = [point for series in answer.json()["series"] for point in series["points"]]
    assert len(points) == SERVERS * POINTS
    assert {point["trials"] for point in points} == {TRIALS}
    assert {point["metrics"]["p99"]["origin"] for point in points} == {"computed"}
    print(
        f"comparison of {SERVERS} series x {POINTS} points x {TRIALS} trials of {runs} run(s): "
        f"server time {spread(app_ms)} (target p95 60 ms), the first {first:.0f} ms; "
        f"with HTTP {spread(whole_ms)}; {len(answer.content) >> 10} KiB"
    )


def send_sampled(client: httpx.Client, repeats: int) -> str:
    """A run of SERVERS × POINTS × `repeats` trials, each with every latency: ab's -g file."""
    trials, files = [], []
    for server, point, repeat in product(range(SERVERS), range(POINTS), range(repeats)):
        number = len(trials)
        trial = make_trial(number, repeat=repeat)
        trial["server"] = {"name": f"server {server}", "version": "1"}
        trial["load"] = {"tool": "ab", "loop": "closed", "connections": 2**point}
        trial["artefacts"] = [f"{number}.txt", f"{number}.tsv"]
        trials.append(trial)
        files += [("file", (f"{number}.txt", AB)), ("file", (f"{number}.tsv", LATENCIES))]
    envelope = {**make_envelope(0), "id": str(uuid.uuid4()), "trials": trials}
    answer = client.post("/api/v1/uploads", data={"envelope": json.dumps(envelope)}, files=files)
    answer.raise_for_status()
    return str(answer.json()["id"])


def spread(taken_ms: list[float]) -> str:
    ordered = sorted(taken_ms)
    middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"median {middle:.0f} ms, p95 {high:.0f} ms"


# As light as a client can be: what it spends on the same cores is not the service's.
CLIENT = """
import http.client, sys, time
host, token, seconds, text = sys.argv[1:]
part = 'Content-Disposition: form-data; name="file"; filename="wrk.txt"'
body = f"--cut\\r\\n{part}\\r\\n\\r\\n{text}\\r\\n--cut--\\r\\n".encode()
headers = {"authorization": token, "content-type": "multipart/form-data; boundary=cut"}
connection = http.client.HTTPConnection(host, timeout=30)
end, count = time.monotonic() + float(seconds), 0
while time.monotonic() < end:
    connection.request("POST", "/api/v1/uploads", body, headers)
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 202, answer.status
    count += 1
print(count)
"""


def accepted(url: str, headers: dict[str, str]) -> None:
    """Eight client processes post 4 KB uploads as fast as they are accepted."""
    command = [
        sys.executable,
        "-c",
        CLIENT,
        url.removeprefix("http://"),
        headers["authorization"],
        str(SECONDS),
        TEXT,
    ]

    def client(_: int) -> int:
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    pace, before = pace_ms(), cpu_by_program()
    with ThreadPoolExecutor(CLIENTS) as pool:
        total = sum(pool.map(client, range(CLIENTS)))
    after = cpu_by_program()
    used = {name: (after[name] - before.get(name, 0.0)) / total * 1000 for name in after}
    shares = ", ".join(f"{name} {ms:.2f}" for name, ms in used.items() if ms >= 0.01)
    print(
        f"accepted: {total / SECONDS:.0f} uploads of 4 KB a second with {CLIENTS} clients "
        f"(target 300), clients on the same cores; ms of CPU for each: {shares}; "
        f"the machine's pace: {pace:.1f} ms before, {pace_ms():.1f} ms after"
    )


def pace_ms() -> float:
    """CPU time of a fixed piece of work: busy neighbours slow the cores themselves, and with them
    every figure above. Runs of unlike pace are not comparable."""
    taken = []
    for _ in range(5):
        started = time.process_time()
        sum(range(1_000_000))
        taken.append(time.process_time() - started)
    return min(taken) * 1000


# What each process of the service is, by a word of its command line.
PROGRAMS = {
    "web_server": "web",
    "celery": "worker",
    "parse_child": "parser",
    "postgres": "postgres",
    "valkey": "valkey",
}


def cpu_by_program() -> Counter[str]:
    """CPU seconds so far of this process' descendants, those that ended included."""
    used: Counter[str] = Counter()
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            name = next((name for word, name in PROGRAMS.items() if word in line), "other")
            used[name] += sum(process.cpu_times()[:4])
    used["clients"] = sum(psutil.Process().cpu_times()[2:4])
    return used


if __name__ == "__main__":
    main()
