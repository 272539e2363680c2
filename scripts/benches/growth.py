"""scripts/bench growth: ten million trials in one PostgreSQL, and the way to partitions.

Fills two fresh services with COPY, a small and a large one, and asks both the same questions in
turn, so that the ratios hold on a busy machine too. Prints what tables and indexes weigh, times
migrations over the rows, and puts the trials into partitions with
docs/recipes/partition-trials.sql, step by step, and asks again. A reader asks all the while, so
that each step also says for how long it held up a reader. Takes 30 GB of disk and an hour.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median

import httpx
import psycopg
from compare import ASKED, QUESTIONS, Store, facet, p95, server_ms, spread
from own_service import demo_token, own_service, print_machine

from backend.config.site.site import ROOT, Site
from backend.testing.waiting import beside

RECIPE = ROOT / "docs" / "recipes" / "partition-trials.sql"
TABLES = ("runs_run", "runs_cell", "runs_trial", "runs_series")
_ALL_MIGRATIONS = (ROOT / "backend" / "runs" / "migrations").glob("00*.py")
# The last ones, which are tried over the rows.
MIGRATIONS = sorted(path.stem[:4] for path in _ALL_MIGRATIONS)[-4:]
ASKED_BROADLY = 8
_SERVER = {"server": "server 3"}
# What is not narrowed to a run or a day may grow with all that there is. A limit of its own makes
# each question one that was never asked.
_BROAD: dict[str, tuple[str, Mapping[str, str]]] = {
    "a version of a server, all runs": ("compare", {**_SERVER, "version": "1.0"}),
    "a server over all dates": ("compare", {**_SERVER, "x": "date"}),
    "the list of runs": ("runs", {}),
    "the list of runs by throughput": ("runs", {"sort": "throughput"}),
    "the list of servers": ("servers", {}),
}
Question = Callable[[Store, int], Mapping[str, str]]
_SIZES = "SELECT pg_table_size(%s), pg_indexes_size(%s)"
_READ = (
    "SELECT trial.throughput_rps FROM runs_cell AS cell"
    " JOIN runs_trial AS trial ON trial.cell_id = cell.id"
    " WHERE cell.run_id = (SELECT id FROM runs_run LIMIT 1)"
)


def main() -> None:
    given = _arguments()
    print_machine()
    if given.only_migrations:
        with _service(given.large, given.folder) as large:
            large.print_sizes()
            large.time_migrations()
        return
    with (
        _service(given.small, given.folder) as small,
        _service(given.large, given.folder) as large,
    ):
        ask_both(small, large)
        large.print_sizes()
        large.time_migrations()
        large.partition()
        ask_both(small, large)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench growth", description=__doc__)
    parser.add_argument("--small", type=int, default=10_000, help="trials of the small service")
    parser.add_argument("--large", type=int, default=10_000_000, help="trials of the large one")
    parser.add_argument(
        "--only-migrations", action="store_true", help="time the migrations over the large one"
    )
    parser.add_argument("--folder", help="where the data folders are made (temporary folders)")
    return parser.parse_args()


@contextmanager
def _service(trials: int, folder: str | None) -> Iterator[Service]:
    with own_service(folder) as site:
        service = Service(site)
        began = time.monotonic()
        service.store.grow(trials)
        print(f"{trials:,} trials loaded in {time.monotonic() - began:.0f} s", flush=True)
        yield service


def ask_both(small: Service, large: Service) -> None:
    """Print the server time of each question at both, and the ratios."""
    for service in (small, large):
        service.forget_answers()
    for name, path, make_query, times in QUESTIONS_ASKED:
        pairs = [
            (small.ask(path, make_query, number), large.ask(path, make_query, number))
            for number in range(times)
        ]
        answered = [(below, above) for below, above in pairs if below and above]
        if not answered:
            print(f"  {name:36} not answered", flush=True)
            continue
        below, above = (sorted(taken) for taken in zip(*answered, strict=True))
        print(
            f"  {name:36} {spread(below)} | {spread(above)} | {median(above) / median(below):.2f} "
            f"times in the median, {p95(above) / p95(below):.2f} at p95; "
            f"{times - len(answered)} of {times} not answered",
            flush=True,
        )


class Service:
    """A service that was filled, and what is done with it."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.url = site.environment["DATABASE_URL"]
        self.database = psycopg.connect(self.url)
        self.store = Store(self.database)
        headers = {"authorization": f"Bearer {demo_token(site)}"}
        self.client = httpx.Client(base_url=site.url, headers=headers, timeout=120)

    def forget_answers(self) -> None:
        """Questions that were asked before are computed again."""
        self.database.execute("UPDATE accounts_workspace SET data_version = data_version + 1")
        self.database.commit()

    def ask(self, path: str, make_query: Question, number: int) -> float | None:
        """Milliseconds of server time; None if the answer is no 200."""
        answer = self.client.get(f"/api/v1/{path}", params=make_query(self.store, number))
        if not answer.is_success:
            print(f"  {answer.url}: {answer.status_code} {answer.text[:200]}", flush=True)
            return None
        return server_ms(answer)

    def print_sizes(self) -> None:
        """Of the tables that grow with trials."""
        for table in TABLES:
            row = self.database.execute(_SIZES, [table, table]).fetchone()
            assert row is not None
            print(f"{table:12} {row[0] / 1e9:.2f} GB, indexes {row[1] / 1e9:.2f} GB", flush=True)
        self.database.commit()

    def time_migrations(self) -> None:
        """Back, and forth again one by one."""
        before = f"{int(MIGRATIONS[0]) - 1:04}"
        with self.timed(f"back to runs {before}"):
            self.site.manage("migrate", "runs", before, "--verbosity=0")
        for name in MIGRATIONS:
            with self.timed(f"migration runs {name}"):
                self.site.manage("migrate", "runs", name, "--verbosity=0")
        self.site.manage("migrate", "--verbosity=0")

    def partition(self) -> None:
        """The steps of the recipe, and away with the former table."""
        self.database.autocommit = True
        for name, statements in steps(RECIPE.read_text()):
            with self.timed(f"partitions: {name}"):
                self.database.execute(statements.encode())
        self.database.execute("DROP TABLE runs_trial_before")
        self.store.vacuum()

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Print how long the block took, and how long a reader waited most."""
        waited_s = [0.0]
        began = time.monotonic()
        with (
            psycopg.connect(self.url, autocommit=True) as reader,
            beside(lambda: waited_s.append(_read_s(reader)), every_s=0.05),
        ):
            yield
        took_s = time.monotonic() - began
        print(f"{step}: {took_s:.1f} s; a reader waited {max(waited_s):.2f} s at most")


def _read_s(reader: psycopg.Connection) -> float:
    """Asks for a cell and its trials, as a page does."""
    began = time.monotonic()
    reader.execute(_READ).fetchall()
    return time.monotonic() - began


def _broad(path: str, query: Mapping[str, str]) -> Question:
    def make_query(_: Store, number: int) -> Mapping[str, str]:
        return {**query, "limit": str(20_000 + number)} if path == "compare" else query

    return make_query


QUESTIONS_ASKED: list[tuple[str, str, Question, int]] = [
    *((f"compare by {name}", "compare", question, ASKED) for name, question in QUESTIONS.items()),
    ("all facet counts", "facets", facet, ASKED_BROADLY),
    *((name, path, _broad(path, query), ASKED_BROADLY) for name, (path, query) in _BROAD.items()),
]


def steps(recipe: str) -> Iterator[tuple[str, str]]:
    """Name and statements of each step."""
    _, *parts = re.split(r"^-- step: ", recipe, flags=re.MULTILINE)
    for part in parts:
        name, _, statements = part.partition("\n")
        yield name, statements


if __name__ == "__main__":
    main()
