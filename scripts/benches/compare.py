"""scripts/bench compare: comparing and counting among 10,000 to 1,000,000 trials.

Starts its own service with a fresh data folder, loads made-up runs with COPY, and asks over
loopback. A run is 20 servers × 8 load points × 5 trials; each has its day and its label. Server
time is the Server-Timing header. No question is asked twice, but where it says so. Figures of a
shared machine: compare within one run.
"""

import argparse
import hashlib
import json
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import numpy as np
import psycopg
from own_service import demo_token, own_service, print_machine

from backend.stats import Histogram
from backend.stats.histogram import percentile_curve, stored_percentiles

SIZES = (10_000, 100_000, 1_000_000)
SERVERS, POINTS, TRIALS = 20, 8, 5
VERSIONS, HOSTS, WORKLOADS = 10, 4, 4
ASKED, AGAIN = 40, 101
# More would need much memory.
RUNS_AT_ONCE = 1000
SEED = 20_261_121
FIRST_DAY = datetime(2020, 1, 1, 12, tzinfo=UTC)
# What the database keeps of each run, where its triggers run.
TOTALS = """
UPDATE runs_run SET
    counted_trials = (SELECT count(*) FROM runs_trial WHERE run_id = runs_run.id AND NOT warmup),
    best_rps = (SELECT max(throughput_rps) FROM runs_cell WHERE run_id = runs_run.id)
"""
COMPARE_MS, GROWTH, FACETS_MS, KEPT_MS = 60, 1.5, 100, 5


def main() -> None:
    options = _options()
    print_machine()
    with own_service(options.folder) as site:
        headers = {"authorization": f"Bearer {demo_token(site)}"}
        with psycopg.connect(site.environment["DATABASE_URL"]) as database:
            measure(Store(database), site.url, headers, options.sizes)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench compare", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of trials")
    parser.add_argument("--folder", help="where the data folder is made (a temporary folder)")
    return parser.parse_args()


@dataclass
class Store:
    """The database, and the made-up things that are in it."""

    database: psycopg.Connection[Any]
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))  # noqa: S311  figures, no secrets
    workspace: Any = None
    ids_by_kind: dict[str, list[uuid.UUID]] = field(default_factory=dict)
    series: dict[tuple[int, ...], uuid.UUID] = field(default_factory=dict)
    runs: list[uuid.UUID] = field(default_factory=list)

    def grow(self, trials: int) -> None:
        """Add runs until there are so many trials."""
        # References are right by construction; to check each takes longer than to load it.
        self.database.execute("SET LOCAL session_replication_role = replica")
        if self.workspace is None:
            self._begin()
        wanted = trials // (SERVERS * POINTS * TRIALS)
        while (count := len(self.runs)) < wanted:
            self._add_runs(range(count, min(wanted, count + RUNS_AT_ONCE)))
        self.database.execute(TOTALS)
        self.database.execute("UPDATE accounts_workspace SET data_version = data_version + 1")
        self.vacuum()

    def vacuum(self) -> None:
        self.database.commit()
        self.database.autocommit = True
        self.database.execute("VACUUM ANALYZE")
        self.database.autocommit = False

    def _add_runs(self, numbers: range) -> None:
        self.runs += [uuid.UUID(int=self.chance.getrandbits(128), version=4) for _ in numbers]
        self._series(numbers)
        self._copy("runs_run", RUN, (self._run(number) for number in numbers))
        cells = list(self._cells(numbers))
        self._copy("runs_cell", CELL, iter(cells))
        self._copy("runs_trial", TRIAL, self._trials(cells))

    def _begin(self) -> None:
        row = self.database.execute("SELECT id FROM accounts_workspace WHERE slug = 'demo'")
        (self.workspace,) = row.fetchone() or (None,)
        kinds = {"server": SERVERS * VERSIONS, "host": HOSTS, "workload": WORKLOADS}
        self.ids_by_kind = {kind: [uuid.uuid4() for _ in range(n)] for kind, n in kinds.items()}
        self._copy("runs_server", SERVER, map(self._server, range(kinds["server"])))
        self._copy("runs_host", HOST, map(self._host, range(HOSTS)))
        self._copy("runs_workload", WORKLOAD, map(self._workload, range(WORKLOADS)))

    def _copy(
        self, table: str, columns: tuple[str, ...], rows: Iterator[tuple[object, ...]]
    ) -> None:
        self._default_others(table, columns)
        with self.database.cursor() as cursor:
            statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
            with cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)

    def _default_others(self, table: str, columns: tuple[str, ...]) -> None:
        """What comparisons do not read, and must not be null, is empty."""
        needed = self.database.execute(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s"
            " AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'",
            [table],
        ).fetchall()
        for name, kind in needed:
            if name not in columns:
                change = f"ALTER TABLE {table} ALTER COLUMN {name} SET DEFAULT '{EMPTY[kind]}'"
                self.database.execute(change)

    def _server(self, number: int) -> tuple[object, ...]:
        name, version = f"server {number % SERVERS}", f"{number // SERVERS}.0"
        key = self.ids_by_kind["server"][number]
        slot = number % SERVERS
        return key, self.workspace, key.bytes, FIRST_DAY, name, version, None, "{}", slot

    def _host(self, number: int) -> tuple[object, ...]:
        key = self.ids_by_kind["host"][number]
        return key, self.workspace, key.bytes, FIRST_DAY, f"host {number}", f"Xeon {number}", 8

    def _workload(self, number: int) -> tuple[object, ...]:
        key = self.ids_by_kind["workload"][number]
        size = 13 * 10**number
        return key, self.workspace, key.bytes, FIRST_DAY, f"load {number}", "GET", "/", size, "{}"

    def identity(self, number: int) -> tuple[int, int, int]:
        """Version, host and workload of a run."""
        return number % VERSIONS, number // 3 % HOSTS, number // 7 % WORKLOADS

    def _series(self, numbers: range) -> None:
        wanted = {
            (*self.identity(number), server) for number in numbers for server in range(SERVERS)
        }
        fresh = sorted(wanted - self.series.keys())
        self.series |= {identity: uuid.uuid4() for identity in fresh}
        self._copy("runs_series", SERIES, (self._series_row(identity) for identity in fresh))

    def _series_row(self, identity: tuple[int, ...]) -> tuple[object, ...]:
        version, host, workload, server = identity
        key, machine = self.series[identity], self.ids_by_kind["host"][host]
        software = self.ids_by_kind["server"][version * SERVERS + server]
        asked = self.ids_by_kind["workload"][workload]
        return (
            *(key, self.workspace, key.bytes, software, asked),
            *(machine, machine, "wrk", "4.2.0", "closed"),
        )

    def _run(self, number: int) -> tuple[object, ...]:
        machine = self.ids_by_kind["host"][self.identity(number)[1]]
        day = FIRST_DAY + timedelta(days=number)
        labels = json.dumps({"build": str(number)})
        return (
            *(self.runs[number], self.workspace, machine, machine, False, day, day, day),
            *(False, labels, "", "", "{}"),
        )

    def _cells(self, numbers: range) -> Iterator[tuple[object, ...]]:
        for number in numbers:
            for server in range(SERVERS):
                series = self.series[(*self.identity(number), server)]
                for point in range(POINTS):
                    key = uuid.UUID(int=self.chance.getrandbits(128), version=4)
                    run = self.runs[number]
                    yield (
                        *(key, run, self.workspace, series, 2**point, None, TRIALS),
                        *(ENCODED, QUANTILES, CURVE, "[]", 1000.0 + 100 * server),
                    )

    def _trials(self, cells: list[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
        for number, cell in enumerate(cells):
            for repeat in range(TRIALS):
                rate = 1000.0 + 100 * (number % SERVERS) + self.chance.gauss(0, 5)
                ordinal = number % (SERVERS * POINTS) * TRIALS + repeat
                key = uuid.UUID(int=self.chance.getrandbits(128), version=4)
                yield (
                    *(key, cell[1], cell[0], ordinal, repeat, False, "[]", 0, "", False),
                    *(10.0, round(rate * 10), round(rate * 10), rate, rate, 0.0),
                    *(ERRORS, "{}", QUANTILES, "computed", "{}", "{}", "[]"),
                    # No output is there twice, but each is looked for.
                    hashlib.sha256(key.bytes).digest(),
                    # Each trial has a start of its server, and a time.
                    *(f'{{"start": {ordinal + 1}}}', FIRST_DAY + timedelta(minutes=ordinal)),
                )


_SAMPLES = Histogram.from_samples(
    8000 * np.exp(0.6 * np.random.default_rng(SEED).standard_normal(2000))
)
ENCODED = _SAMPLES.encode()
QUANTILES = json.dumps(stored_percentiles(_SAMPLES))
CURVE = json.dumps({"count": _SAMPLES.count, "points": percentile_curve(_SAMPLES)})
ERRORS = json.dumps(dict.fromkeys(("connect", "read", "timeout", "status"), 0))
EMPTY = {"jsonb": "{}", "text": "", "character varying": "", "boolean": "false"}
RUN = (
    *("id", "workspace_id", "server_host_id", "client_host_id", "same_host", "started_at"),
    *("finished_at", "recorded_at", "interrupted", "labels", "plan", "plan_sha256", "facts"),
)
_THING = ("id", "workspace_id", "identity", "created_at")
SERVER = (*_THING, "name", "version", "runtime", "configuration", "slot")
HOST = (*_THING, "name", "cpu_model", "cores")
WORKLOAD = (*_THING, "name", "method", "path", "payload_bytes", "headers")
SERIES = (
    *("id", "workspace_id", "key", "server_id", "workload_id", "server_host_id"),
    *("client_host_id", "tool", "tool_version", "loop"),
)
CELL = (
    *("id", "run_id", "workspace_id", "series_id", "connections", "rate_rps", "trial_count"),
    *("histogram", "percentiles_us", "curve", "checks", "throughput_rps"),
)
TRIAL = (
    *("id", "run_id", "cell_id", "ordinal", "repeat", "warmup", "command", "exit_code", "error"),
    *("incomplete", "elapsed_s", "requests_completed", "requests_ok", "throughput_rps"),
    *("goodput_rps", "error_rate", "errors", "tool_errors", "percentiles_us"),
    *("percentiles_origin", "resources", "parsed", "checks", "output_sha256"),
    *("load", "started_at"),
)


def measure(store: Store, url: str, headers: Mapping[str, str], sizes: list[int]) -> None:
    """Print what each size costs; the first one is what the others are held against."""
    least: dict[str, float] = {}
    for size in sizes:
        started = time.perf_counter()
        store.grow(size)
        took = time.perf_counter() - started
        print(f"{size:,} trials in {len(store.runs):,} runs (loaded in {took:.0f} s)", flush=True)
        with httpx.Client(base_url=url, headers=headers, timeout=120) as client:
            for name, question in QUESTIONS.items():
                taken = ask(client, [question(store, n) for n in range(ASKED)])
                high = p95(taken)
                # The first size is held against the clock, the others against the first.
                target = GROWTH * least[name] if name in least else COMPARE_MS
                grown = f", {high / least.setdefault(name, high):.2f} x the least"
                print(f"  compare by {name:18} {spread(taken)} {held(high, target)}{grown}")
            counted = ask(client, [facet(store, n) for n in range(ASKED)], "facets")
            print(
                f"  all facet counts            {spread(counted)} {held(p95(counted), FACETS_MS)}"
            )
            repeated = ask(client, [QUESTIONS["run"](store, 0)] * AGAIN)[1:]
            print(
                f"  a comparison again          {spread(repeated)} {held(p95(repeated), KEPT_MS)}"
            )


def _some_run(store: Store, number: int) -> int:
    return number * 7919 % len(store.runs)


def by_run(store: Store, number: int) -> dict[str, str]:
    # A limit of its own makes each question one that was never asked, also where runs are few.
    return {"run": str(store.runs[_some_run(store, number)]), "limit": str(20_000 + number)}


def by_label(store: Store, number: int) -> dict[str, str]:
    return {"label": f"build:{_some_run(store, number)}", "limit": str(20_000 + number)}


def by_day(store: Store, number: int) -> dict[str, str]:
    run = _some_run(store, number)
    day = f"{FIRST_DAY + timedelta(days=run):%Y-%m-%d}"
    workload = f"load {store.identity(run)[2]}"
    return {"since": day, "until": day, "workload": workload, "limit": str(20_000 + number)}


QUESTIONS: dict[str, Callable[[Store, int], dict[str, str]]] = {
    "run": by_run,
    "label": by_label,
    "day and workload": by_day,
}


def facet(store: Store, number: int) -> dict[str, str]:
    """Under one filter, two, one on the load, or none: what they cost differs."""
    server, version = f"server {number % SERVERS}", f"{number % VERSIONS}.0"
    filters = ({"server": server}, {"server": server, "version": version}, {"connections": "4"}, {})
    return {**filters[number % len(filters)], "limit": str(20_000 + number)}


def ask(
    client: httpx.Client, queries: list[dict[str, str]], endpoint: str = "compare"
) -> list[float]:
    """Milliseconds of server time of each question."""
    taken = []
    for number, query in enumerate(queries):
        answer = client.get(f"/api/v1/{endpoint}", params=query)
        answer.raise_for_status()
        if endpoint == "compare":
            assert_whole(answer.json(), number)
        taken.append(server_ms(answer))
    return taken


def server_ms(answer: httpx.Response) -> float:
    return float(answer.headers["server-timing"].removeprefix("app;dur="))


def assert_whole(figures: Mapping[str, Any], number: int) -> None:
    points = [point for series in figures["series"] for point in series["points"]]
    if len(points) != SERVERS * POINTS or {point["trials"] for point in points} != {TRIALS}:
        raise SystemExit(f"question {number} was answered with {len(points)} points")


def p95(taken: list[float]) -> float:
    return sorted(taken)[int(len(taken) * 0.95)]


def spread(taken: list[float]) -> str:
    return f"median {sorted(taken)[len(taken) // 2]:5.1f} ms, p95 {p95(taken):5.1f} ms"


def held(value: float, target: float) -> str:
    return f"(target {target:.3g} ms{'' if value <= target else ', MISSED'})"


if __name__ == "__main__":
    main()
