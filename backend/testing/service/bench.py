"""The service that is measured: its database and its clients."""

import contextlib
import sys

import httpx
import psycopg

from backend.config.site.site import Site
from backend.testing.service.processes import processes, program_of
from backend.testing.supervised import frozen
from backend.testing.waiting import wait_until

READ_TIMEOUT_S = 900


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
        if not wait_until(lambda: not self.waiting_count(), READ_TIMEOUT_S, every_s=0.05):
            sys.exit(f"uploads were not read in {READ_TIMEOUT_S} s")

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

    def stopped_readers(self) -> contextlib.AbstractContextManager[None]:
        """Nothing is read in the block."""
        return frozen([each for each in processes() if program_of(each) in ("worker", "parser")])
