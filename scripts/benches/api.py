"""scripts/bench api: lists and details among 1,000,000 trials, and the memory of a web process.

Starts its own service with a fresh data folder and loads made-up runs with COPY, as
`scripts/bench compare`. Server time is the Server-Timing header. Then it sends requests of all
kinds in turn and reads the resident memory of the web processes: the last quarter must not need
more than the second, but for MOST_GROWTH. Figures of a shared machine: compare within one run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

import httpx
import psutil
import psycopg
from compare import ASKED, Store, held, p95, spread

from backend.config.embedded import free_port
from backend.config.site import Site

TRIALS, REQUESTS = 1_000_000, 100_000
TARGET_MS = 50
# Of the memory after the first half: fragmentation grows for longer than that, a leak without end.
MOST_GROWTH = 1.05
SAMPLES = 200
LISTS = {
    "runs": "/api/v1/runs?limit={n}",
    "runs of a server": "/api/v1/runs?server=server%20{some}&limit={n}",
    "runs of a search": "/api/v1/runs?q=load%20{some}&limit={n}",
    "servers": "/api/v1/servers?limit={n}",
    "hosts": "/api/v1/hosts?limit={n}",
    "workloads": "/api/v1/workloads?limit={n}",
    "uploads": "/api/v1/uploads?limit={n}",
    "result sets": "/api/v1/result-sets?limit={n}",
}


def main() -> None:
    options = _options()
    print(f"{os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="loadsheet-bench-", dir=options.folder) as folder:
        Path(folder).chmod(0o755)
        site = Site(free_port(), Path(folder))
        try:
            site.start()
            token = json.loads(site.manage("make_demo"))["token"]
            headers = {"authorization": f"Bearer {token}"}
            with psycopg.connect(site.environment["DATABASE_URL"]) as database:
                store = Store(database)
                store.grow(options.trials)
                addresses = list_addresses(store)
            print(f"{options.trials:,} trials in {len(store.runs):,} runs", flush=True)
            with httpx.Client(base_url=site.url, headers=headers, timeout=120) as client:
                measure_times(client, addresses)
                measure_memory(client, addresses, site, options.requests)
        finally:
            site.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench api", description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="trials that are stored")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="requests for the memory")
    parser.add_argument("--folder", help="where the data folder is made (a temporary folder)")
    return parser.parse_args()


def list_addresses(store: Store) -> dict[str, list[str]]:
    """By endpoint, ASKED addresses: other runs, other pages, other filters."""
    runs = [store.runs[number * 7919 % len(store.runs)] for number in range(ASKED)]
    rows = store.database.execute(
        "SELECT id, cell_id FROM runs_trial WHERE run_id = ANY(%s) AND ordinal = 3", [runs]
    ).fetchall()
    addresses = {name: _numbered(template) for name, template in LISTS.items()}
    addresses["run"] = [f"/api/v1/runs/{run}" for run in runs]
    addresses["trial"] = [f"/api/v1/trials/{trial}" for trial, _ in rows]
    addresses["trials of a point"] = [f"/api/v1/trials?cell={cell}" for _, cell in rows]
    return addresses


def _numbered(template: str) -> list[str]:
    """ASKED addresses that differ in `n`."""
    return [template.format(n=number + 1, some=number % 4) for number in range(ASKED)]


def measure_times(client: httpx.Client, addresses: Mapping[str, list[str]]) -> None:
    """Print the server time of each endpoint."""
    for name, asked in addresses.items():
        taken = []
        for address in asked:
            answer = client.get(address)
            answer.raise_for_status()
            taken.append(float(answer.headers["server-timing"].removeprefix("app;dur=")))
        print(f"  {name:20} {spread(taken)} {held(p95(taken), TARGET_MS)}", flush=True)


def measure_memory(
    client: httpx.Client, addresses: Mapping[str, list[str]], site: Site, requests: int
) -> None:
    """Print the memory of the web processes together, over so many requests of all kinds."""
    turn = itertools.cycle(list(_mixed(addresses)))
    sizes = []
    started = time.perf_counter()
    for number in range(requests):
        client.get(next(turn)).raise_for_status()
        if number % max(1, requests // SAMPLES) == 0:
            sizes.append(web_memory_mb(site.port))
    rate = requests / (time.perf_counter() - started)
    parts = [sizes[at * len(sizes) // 4 : (at + 1) * len(sizes) // 4] for at in range(4)]
    quarters = [median(part) for part in parts]
    growth = quarters[3] / quarters[1]
    shown = ", ".join(f"{size:.0f}" for size in quarters)
    missed = "" if growth <= MOST_GROWTH else ", MISSED"
    print(f"  {requests:,} requests at {rate:.0f}/s: {shown} MB in the quarters", end="; ")
    print(f"last ÷ second {growth:.3f} (target {MOST_GROWTH}{missed})")


def _mixed(addresses: Mapping[str, list[str]]) -> Iterator[str]:
    """One of each kind after the other."""
    for same_turn in zip(*addresses.values(), strict=False):
        yield from same_turn


def web_memory_mb(port: int) -> float:
    """The resident memory of the processes that listen on the port."""
    pids = {
        each.pid
        for each in psutil.net_connections(kind="tcp")
        if each.status == psutil.CONN_LISTEN and each.laddr.port == port and each.pid
    }
    own = {os.getpid()}
    return sum(psutil.Process(pid).memory_info().rss for pid in pids - own) / 1e6


if __name__ == "__main__":
    main()
