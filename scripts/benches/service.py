"""scripts/bench service: receiving and reading, with everything running.

Starts its own service on a free port with a fresh data folder, sends to loopback only, and prints
what it measured beside the machine's facts. Figures of a shared machine: compare within one run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import psycopg

from backend.config.embedded import free_port
from backend.config.site import Site
from backend.testing.load_clients import report_order, send, upload_order
from backend.testing.reports import WRK, make_envelope, make_trial

CLIENTS, FLOOD, ALONE_S = 8, 10_000, 15
CAPTURE = Path(__file__).parents[2] / "backend/formats/ab/tests/captures/close-c100-40-tsv"
AB = (CAPTURE / "stdout").read_text()
READ_TIMEOUT_S = 900


def main() -> None:
    given = arguments()
    print(f"{os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="loadsheet-bench-") as folder:
        Path(folder).chmod(0o755)
        # Two idle cores receive more than one sender may send.
        os.environ["UPLOADS_PER_MINUTE"] = str(1_000_000)
        site = Site(free_port(), Path(folder))
        try:
            site.start()
            bench = Bench(site, json.loads(site.manage("make_demo"))["token"])
            pace_before_ms = pace_ms()
            measure(bench, given)
            print(f"the machine's pace: {pace_before_ms:.1f} ms before, {pace_ms():.1f} ms after")
        finally:
            site.stop()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench service", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="of receiving and reading")
    parser.add_argument(
        "--bencher", metavar="URL", help="a Bencher server to time; BENCHER_TOKEN, BENCHER_PROJECT"
    )
    parser.add_argument("--only-rates", action="store_true", help="receiving and reading alone")
    return parser.parse_args()


def measure(bench: Bench, given: argparse.Namespace) -> None:
    time.sleep(5)
    idle_memory(bench)
    envelope_of_trials(bench, 120, aim_s=0.5)
    received_and_read(bench, given.seconds)
    accepted_alone(bench)
    if given.bencher:
        bencher(given.bencher, given.seconds)
    if given.only_rates:
        return
    paced(bench)
    beside_a_flood(bench)
    envelope_of_trials(bench, 5_000, aim_s=15)


class Bench:
    """The service that is measured, and its database."""

    def __init__(self, site: Site, token: str) -> None:
        self.site, self.token = site, token
        self.host = site.url.removeprefix("http://")
        self._database = psycopg.connect(site.environment["DATABASE_URL"], autocommit=True)

    def client(self) -> httpx.Client:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.site.url, headers=headers, timeout=120)

    def make_workspace(self, slug: str) -> str:
        """A workspace beside the demo's; a token for it."""
        self.site.manage("make_workspace", slug, "--name", slug)
        return self.site.manage("make_token", "--workspace", slug, "--name", "bench").split()[-1]

    def number(self, query: str, *values: object) -> float:
        row = self._database.execute(query.encode(), values).fetchone()
        assert row is not None
        return float(row[0] or 0)

    def now(self) -> object:
        """By the database's clock."""
        row = self._database.execute("SELECT clock_timestamp()").fetchone()
        return None if row is None else row[0]

    def waiting_count(self) -> int:
        waiting = "state IN ('received', 'parsing')"
        return int(self.number(f"SELECT count(*) FROM ingest_upload WHERE {waiting}"))  # noqa: S608

    def read_count(self, since: object) -> int:
        query = "SELECT count(*) FROM ingest_upload WHERE state = 'parsed' AND received_at >= %s"
        return int(self.number(query, since))

    def wait_until_read(self) -> None:
        deadline = time.monotonic() + READ_TIMEOUT_S
        while self.waiting_count():
            if time.monotonic() > deadline:
                sys.exit(f"uploads were not read in {READ_TIMEOUT_S} s")
            time.sleep(0.05)

    def waits_s(self, since: object, slug: str, percent: int) -> float:
        """Of the uploads of a workspace received since then: from received to readable."""
        return self.number(
            """
            SELECT percentile_disc(%s / 100.0) WITHIN GROUP (ORDER BY
                extract(epoch FROM finished_at - received_at))
            FROM ingest_upload JOIN accounts_workspace AS workspace
                ON workspace.id = workspace_id
            WHERE received_at >= %s AND workspace.slug = %s AND state = 'parsed'
            """,
            percent,
            since,
            slug,
        )

    @contextlib.contextmanager
    def stopped_readers(self) -> Iterator[None]:
        """Nothing is read in the block."""
        readers = [each for each in processes() if program_of(each) in ("worker", "parser")]
        for process in readers:
            process.suspend()
        try:
            yield
        finally:
            for process in readers:
                process.resume()


def show(what: str, aim: str, measured: str) -> None:
    """One row of the table."""
    print(f"| {what} | {aim} | {measured} |", flush=True)


def post(client: httpx.Client, name: str = "wrk.txt") -> dict[str, str]:
    answer = client.post("/api/v1/uploads", files={"file": (name, WRK)})
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


def envelope_of_trials(bench: Bench, count: int, aim_s: float) -> None:
    with bench.client() as client:
        wait_parsed(client, post(client)["id"])  # warm-up, discarded
        started = time.perf_counter()
        upload_id = send_envelope(client, [make_trial(number) for number in range(count)])
        sent = time.perf_counter()
        wait_parsed(client, upload_id)
        parsed = time.perf_counter()
    show(
        f"one envelope of {count:,} trials, readable after its 202 (accepted in "
        f"{sent - started:.2f} s)",
        f"<= {aim_s:g} s",
        f"{parsed - sent:.2f} s",
    )


def paced(bench: Bench, rate: int = 20, seconds: int = 15) -> None:
    """Uploads at a steady rate; times by the service's own clock, so that asking costs nothing."""
    since = bench.now()
    send(upload_order(bench.host, bench.token, AB, seconds=seconds, rate=rate), clients=1)
    bench.wait_until_read()
    p50_s, p95_s = (bench.waits_s(since, "demo", percent) for percent in (50, 95))
    what = f"upload to readable at {rate} a second (p50 {p50_s:.3f} s), p95"
    show(what, "<= 0.3 s", f"{p95_s:.3f} s")


def received_and_read(bench: Bench, seconds: int) -> None:
    """Uploads as fast as they are accepted; until the last is readable."""
    since, cpu_before, began = bench.now(), cpu_by_program(), time.monotonic()
    sent = send(upload_order(bench.host, bench.token, AB, seconds=seconds), clients=CLIENTS)
    read = bench.read_count(since)
    bench.wait_until_read()
    took_s = time.monotonic() - began
    count = len(sent.taken_ms)
    what = f"received, read and queryable: {CLIENTS} clients for {seconds} s, until all are read"
    show(what, ">= 450/s", f"{count / took_s:.0f}/s")
    show("— received meanwhile", "", f"{sent.per_second:.0f}/s")
    show("— read while others were received", "", f"{read / seconds:.0f}/s")
    show("— ms of CPU for each", "", cpu_of_each(cpu_before, count))


def accepted_alone(bench: Bench) -> None:
    """Nobody reads meanwhile."""
    cpu_before = cpu_by_program()
    with bench.stopped_readers():
        order = upload_order(bench.host, bench.token, AB, seconds=ALONE_S)
        sent = send(order, clients=CLIENTS)
    show(f"accepted alone, {CLIENTS} clients", ">= 800/s", f"{sent.per_second:.0f}/s")
    show("— time of the answer, p99", "<= 60 ms", f"{sent.percentile(99):.0f} ms")
    show("— ms of CPU for each", "", cpu_of_each(cpu_before, len(sent.taken_ms)))
    began, waiting = time.monotonic(), bench.waiting_count()
    bench.wait_until_read()
    show("— then read alone", "", f"{waiting / (time.monotonic() - began):.0f}/s")


def beside_a_flood(bench: Bench) -> None:
    """A workspace that uploads five times a second, alone and beside 10,000 uploads that wait."""
    token = bench.make_workspace("small")
    alone_s = small_workspace(bench, token)
    with bench.stopped_readers():
        while bench.waiting_count() < FLOOD:
            send(upload_order(bench.host, bench.token, AB, seconds=5), clients=CLIENTS)
    beside_s = small_workspace(bench, token)
    left = bench.waiting_count()
    show("small workspace alone: p95 of upload to readable", "", f"{alone_s:.3f} s")
    what = f"— beside {FLOOD:,} uploads that wait ({left:,} at the end)"
    show(what, "<= 2 times", f"{beside_s:.3f} s, {beside_s / alone_s:.1f} times")
    bench.wait_until_read()


def small_workspace(bench: Bench, token: str) -> float:
    since = bench.now()
    send(upload_order(bench.host, token, AB, seconds=10, rate=5), clients=1)
    time.sleep(1)
    return bench.waits_s(since, "small", 95)


def idle_memory(bench: Bench) -> None:
    """Of everything that was started. Pages that processes share count once."""
    shares: Counter[str] = Counter()
    for process in processes():
        with contextlib.suppress(psutil.Error):
            shares[program_of(process)] += process.memory_full_info().pss
    by_program = ", ".join(f"{name} {used >> 20}" for name, used in shares.most_common())
    show(f"idle memory in MiB ({by_program})", "<= 600", str(sum(shares.values()) >> 20))


def bencher(url: str, seconds: int) -> None:
    """The same clients against a Bencher server: its answer means stored and queryable."""
    token, project = (os.environ.get(name, "") for name in ("BENCHER_TOKEN", "BENCHER_PROJECT"))
    order = report_order(url.removeprefix("http://"), project, token, seconds=seconds)
    show(f"Bencher at {url}: reports", "", f"{send(order, clients=CLIENTS).per_second:.0f}/s")


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


def processes() -> list[psutil.Process]:
    """Everything that the service runs."""
    children: list[psutil.Process] = psutil.Process().children(recursive=True)
    return children


def program_of(process: psutil.Process) -> str:
    """Raises psutil.Error where it has ended."""
    line = " ".join(process.cmdline())
    return next((name for word, name in PROGRAMS.items() if word in line), "other")


def cpu_by_program() -> Counter[str]:
    """CPU seconds so far of this process' descendants, those that ended included."""
    used: Counter[str] = Counter()
    for process in processes():
        with contextlib.suppress(psutil.Error):
            used[program_of(process)] += sum(process.cpu_times()[:4])
    used["clients"] = sum(psutil.Process().cpu_times()[2:4])
    return used


def cpu_of_each(before: Counter[str], count: int) -> str:
    """Milliseconds of CPU of each program for one upload."""
    after = cpu_by_program()
    used = {name: (after[name] - before[name]) / max(1, count) * 1000 for name in after}
    shares = ", ".join(f"{name} {ms:.2f}" for name, ms in used.items() if ms >= 0.01)
    return f"{shares}; together {sum(used.values()):.2f}"


if __name__ == "__main__":
    main()
