"""scripts/bench api: lists and details among 1,000,000 trials, and the memory of a web process.

Starts its own service with a fresh data folder and loads made-up runs with COPY, as
`scripts/bench compare`; a run has 800 trials. Each run has its upload, each trial its artefact, and
there are frozen result sets. Server time is the Server-Timing header. Lists are asked for as a
program reads them: pages of the usual length, each by the `next` of the page before, so that late
pages count like early ones. Details are asked once each, so nothing comes from a cache of answers.

Then it sends 100,000 of the same requests over several connections and reads the resident memory of
the web processes: the last quarter must not need more than the second, but for MOST_GROWTH. After
LOOKED_AT requests, and at the end once more after malloc_trim, it prints what lives in the memory
and what is free and kept, so that a leak can be told from fragmentation (probe/__init__.py). Most
requests are for one trial, load point, upload or result set, and each of the others comes a
thousand times: of all kinds alike they would take hours. Figures of a shared machine: compare
within one run.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import itertools
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx
import psutil
import psycopg
from compare import Store, held, p95, server_ms, spread
from own_service import demo_token, own_service, print_machine
from probe import ask_memory, probed

from backend.config.site.site import Site

TRIALS, REQUESTS = 1_000_000, 100_000
# Of each endpoint: p95 is the tenth slowest.
ASKED = 200
RESULT_SETS = 2_000
SNAPSHOT = b"{" + b" " * 20_000 + b"}"
TARGET_MS = 50
# Of the memory after the first half: fragmentation grows for longer than that, a leak without end.
MOST_GROWTH = 1.05
SAMPLES = 200
LOOKED_AT = (10_000, 30_000, 60_000, 100_000)
CONNECTIONS = 4
# Of the memory: a turn of these many times, then once of everything.
QUICK = ("trial", "trials of a point", "upload", "result set")
QUICK_TURNS = 20
LISTS = {
    "runs": "/api/v1/runs",
    "runs by throughput": "/api/v1/runs?sort=throughput",
    "runs of a server": "/api/v1/runs?server=server%203",
    "server by throughput": "/api/v1/runs?server=server%203&sort=throughput",
    "runs of a state": "/api/v1/runs?state=interrupted",
    "runs of a search": "/api/v1/runs?q=load%202",
    "runs of no word": "/api/v1/runs?q=nothing-like-it",
    "runs of a label": "/api/v1/runs?q=1249",
    "explore": "/api/v1/explore?kind=runs&q=nothing-like-it",
    "servers": "/api/v1/servers?limit=5",
    "hosts": "/api/v1/hosts?limit=1",
    "workloads": "/api/v1/workloads?limit=1",
    "uploads": "/api/v1/uploads",
    "failed uploads": "/api/v1/uploads?state=failed",
    "result sets": "/api/v1/result-sets",
}


def main() -> None:
    options = _options()
    print_machine()
    with probed() as probe, own_service(options.folder, {"PYTHONPATH": str(probe)}) as site:
        headers = {"authorization": f"Bearer {demo_token(site)}"}
        with psycopg.connect(site.environment["DATABASE_URL"]) as database:
            store = Store(database)
            store.grow(options.trials)
            add_uploads(store)
            add_result_sets(store)
            details = detail_addresses(store)
        print(f"{options.trials:,} trials in {len(store.runs):,} runs", flush=True)
        with httpx.Client(base_url=site.url, headers=headers, timeout=120) as client:
            addresses = measure_lists(client) | measure_details(client, details)
        measure_memory(addresses, Asked(site, headers, probe), options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench api", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="trials that are stored")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="requests for the memory")
    parser.add_argument(
        "--look-at",
        type=int,
        nargs="*",
        default=LOOKED_AT,
        help="after how many requests the memory is looked at",
    )
    parser.add_argument("--folder", help="where the data folder is made (a temporary folder)")
    return parser.parse_args()


def add_uploads(store: Store) -> None:
    """An upload of each run, with a file for each trial."""
    database = store.database
    database.execute("SET LOCAL session_replication_role = replica")
    database.execute("ALTER TABLE ingest_artefact ALTER COLUMN id SET DEFAULT gen_random_uuid()")
    database.execute(
        """
        INSERT INTO ingest_upload (id, workspace_id, run_id, envelope, tool_hint, content_sha256,
            state, reason, received_at, finished_at, attempts, faults, fence, parser_version)
        SELECT id, workspace_id, id, '{}', 'wrk', md5(id::text) || md5(id::text), 'parsed', '',
            recorded_at, recorded_at, 1, 0, 1, '1'
        FROM runs_run WHERE id = ANY(%s)
        """,
        [store.runs],
    )
    database.execute(
        """
        INSERT INTO ingest_artefact (upload_id, position, name, sha256, size_bytes)
        SELECT run_id, ordinal, 'trial-' || ordinal || '.txt', md5(id::text) || md5(id::text), 1500
        FROM runs_trial WHERE run_id = ANY(%s)
        """,
        [store.runs],
    )
    database.execute(
        """
        INSERT INTO ingest_artefact_trials (artefact_id, trial_id)
        SELECT artefact.id, trial.id FROM ingest_artefact artefact
        JOIN runs_trial trial
            ON trial.run_id = artefact.upload_id AND trial.ordinal = artefact.position
        WHERE artefact.upload_id = ANY(%s)
        """,
        [store.runs],
    )
    database.commit()


def add_result_sets(store: Store) -> None:
    """Frozen result sets, each of one run. No run is newer than they are."""
    rows = [
        (f"run={store.runs[number % len(store.runs)]}", number) for number in range(RESULT_SETS)
    ]
    with store.database.cursor() as cursor:
        cursor.executemany(
            """
            INSERT INTO sharing_resultset (id, link, workspace_id, kind, title, notes, query,
                visibility, created_at, snapshot, sha256, moved_through, withdrawn_reason)
            SELECT made, made, %s, 'frozen', 'A comparison', '', %s, 'private',
                now() + make_interval(secs => %s), %s, %s, '[]', ''
            FROM gen_random_uuid() AS made
            """,
            [
                (store.workspace, query, seconds, SNAPSHOT, hashlib.sha256(SNAPSHOT).hexdigest())
                for query, seconds in rows
            ],
        )
    store.vacuum()


def detail_addresses(store: Store) -> dict[str, list[str]]:
    """By endpoint, ASKED addresses of different runs, trials and load points."""
    runs = [store.runs[number * 7919 % len(store.runs)] for number in range(ASKED)]
    rows = store.database.execute(
        """
        SELECT DISTINCT ON (run_id) id, cell_id FROM runs_trial
        WHERE run_id = ANY(%s) ORDER BY run_id, id
        """,
        [runs],
    ).fetchall()
    uploads = [f"/api/v1/uploads/{run}" for run in runs]
    links = store.database.execute(
        "SELECT link FROM sharing_resultset ORDER BY link LIMIT %s", [ASKED]
    ).fetchall()
    return {
        "run": [f"/api/v1/runs/{run}" for run in runs],
        "trial": [f"/api/v1/trials/{trial}" for trial, _ in rows],
        "trials of a point": [f"/api/v1/trials?cell={cell}" for _, cell in rows],
        "upload": uploads,
        "result set": [f"/api/v1/result-sets/{link}" for (link,) in links],
    }


def measure_lists(client: httpx.Client) -> dict[str, list[str]]:
    """Print the server time of each list; the addresses of its pages."""
    addresses = {}
    for name, first in LISTS.items():
        pages, taken = [], []
        following: str | None = first
        while len(taken) < ASKED:
            address = following or first
            answer, took = ask(client, address)
            pages.append(address)
            taken.append(took)
            following = answer.json()["next"]
        addresses[name] = pages
        show(name, taken, f"{len(set(pages))} different pages")
    return addresses


def measure_details(
    client: httpx.Client, details: Mapping[str, list[str]]
) -> Mapping[str, list[str]]:
    """Print the server time of each detail; returns the addresses."""
    for name, asked in details.items():
        show(name, [ask(client, address)[1] for address in asked], f"{len(set(asked))} different")
    return details


def ask(client: httpx.Client, address: str) -> tuple[httpx.Response, float]:
    """The answer, and its milliseconds of server time."""
    answer = client.get(address)
    answer.raise_for_status()
    return answer, server_ms(answer)


def show(name: str, taken: list[float], note: str) -> None:
    print(f"  {name:20} {spread(taken)} {held(p95(taken), TARGET_MS)}, {note}", flush=True)


def measure_memory(
    addresses: Mapping[str, list[str]], asked: Asked, options: argparse.Namespace
) -> None:
    """Print the memory of the web processes together, over requests of all kinds."""
    asking = Asking(addresses, asked, options)
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for connection in [pool.submit(asking.ask_until_end) for _ in range(CONNECTIONS)]:
            connection.result()
    asking.look("after malloc_trim", trim=True)
    sizes = asking.sizes
    parts = [sizes[at * len(sizes) // 4 : (at + 1) * len(sizes) // 4] for at in range(4)]
    quarters = [median(part) for part in parts]
    growth = quarters[3] / quarters[1]
    shown = ", ".join(f"{size:.0f}" for size in quarters)
    missed = "" if growth <= MOST_GROWTH else ", MISSED"
    print(f"  {shown} MB in the quarters", end="; ")
    print(f"last ÷ second {growth:.3f} (target {MOST_GROWTH}{missed})")


class Asked(NamedTuple):
    """A service, what each request to it has, and where its processes say what they have."""

    site: Site
    headers: Mapping[str, str]
    probe: Path


class Asking:
    """Requests that several connections take in turn, and the memory meanwhile."""

    def __init__(
        self,
        addresses: Mapping[str, list[str]],
        asked: Asked,
        options: argparse.Namespace,
    ) -> None:
        self.sizes: list[float] = []
        self._addresses = _mixed(addresses)
        self._port, self._headers = asked.site.port, dict(asked.headers)
        self._pids = web_processes(asked.site)
        self._probe = asked.probe
        self._look_at = frozenset(options.look_at)
        self._requests, self._asked = options.requests, 0
        # How often the memory is read, where few requests are asked.
        self._each = max(1, options.requests // SAMPLES)
        self._started = time.perf_counter()
        self._lock = threading.Lock()

    def ask_until_end(self) -> None:
        """Send requests over one connection. What goes wrong ends the other connections too."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            while (address := self._next()) is not None:
                connection.request("GET", address, headers=self._headers)
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    raise SystemExit(f"{address} was answered {answer.status}: {body[:200]!r}")
        finally:
            self._requests = 0
            connection.close()

    def _next(self) -> str | None:
        with self._lock:
            if self._asked >= self._requests:
                return None
            self._asked += 1
            if self._asked % self._each == 0:
                self.sizes.append(memory_mb(self._pids))
            if self._asked in self._look_at:
                rate = self._asked / (time.perf_counter() - self._started)
                self.look(f"{self._asked:,} requests at {rate:.0f}/s")
            return next(self._addresses)

    def look(self, when: str, *, trim: bool = False) -> None:
        """Print what the memory consists of."""
        print(f"  {when}: {ask_memory(self._pids, self._probe, trim=trim).line}", flush=True)


def _mixed(addresses: Mapping[str, list[str]]) -> Iterator[str]:
    """Without an end: QUICK_TURNS turns of what is quick, then one of each kind."""
    asked = {name: itertools.cycle(each) for name, each in addresses.items()}
    while True:
        for name in [*QUICK * QUICK_TURNS, *asked]:
            yield next(asked[name])


def web_processes(site: Site) -> set[int]:
    """All of them: to the system, only one holds the socket that they share."""
    return {
        child.process.pid
        for child in site.children
        if child.name.startswith("web-") and child.process is not None
    }


def memory_mb(pids: Collection[int]) -> float:
    """The resident memory of the processes together."""
    return sum(psutil.Process(pid).memory_info().rss for pid in pids) / 1e6


if __name__ == "__main__":
    main()
