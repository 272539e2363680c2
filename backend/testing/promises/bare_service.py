"""A service without a supervisor, for trials that kill: each process is started again at once."""

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Mapping

from backend.testing.chaos.outcome import READ
from backend.testing.promises.ground import Say, Sending, Service
from backend.testing.scale.machines import Cluster, Machine, start_all
from backend.testing.supervised import open_folder

SAY_EVERY_S = 10.0
LOOK_EVERY_S = 0.1


class BareService(Service):
    """Web processes and workers over one PostgreSQL, one Valkey and one folder."""

    def __init__(
        self, cluster: Cluster, webs: list[Machine], workers: list[Machine], say: Say
    ) -> None:
        urls = tuple(machine.url for machine in webs)
        super().__init__(urls, cluster.token, cluster.postgres.url, say)
        self.cluster = cluster
        self.webs = webs
        self.workers = workers
        self._say_at = 0.0

    def tend(self, sending: Sending, is_done: Callable[[], bool], *, within_s: float) -> bool:
        """Until it is done; whether it was in time. Meanwhile the senders learn what was read."""
        deadline = time.monotonic() + within_s
        while not (done := is_done()) and time.monotonic() < deadline:
            ledger = sending.ledger
            ledger.read_count = self.tables.number(READ) or ledger.read_count
            self._say_progress(sending)
            time.sleep(LOOK_EVERY_S)
        return done

    def _say_progress(self, sending: Sending) -> None:
        if time.monotonic() < self._say_at:
            return
        self._say_at = time.monotonic() + SAY_EVERY_S
        ledger = sending.ledger
        self.say(f"{len(ledger.accepted)} accepted, {ledger.read_count} read of {ledger.uploads}")

    def expect_verified(self) -> None:
        """Every row has its bytes, with their SHA-256."""
        done = self.cluster.verify()
        self.finding.expect(done.returncode == 0, f"manage.py verify: {done.stdout[-300:]}")
        self.finding.note(f"manage.py verify --hash ended with status {done.returncode}")


@contextlib.contextmanager
def bare_service(
    say: Say,
    *,
    webs: int = 1,
    workers: int = 1,
    readers: int = 2,
    variables: Mapping[str, str] | None = None,
    prepare: Callable[[Machine], object] = lambda _: None,
) -> Iterator[BareService]:
    """All of them work. `prepare` gets each worker before it starts. Raises TimeoutError."""
    with (
        open_folder("loadsheet-promises-") as folder,
        Cluster(folder, variables, has_bucket=False) as cluster,
    ):
        web_machines = [cluster.machine(f"web-{number}") for number in range(1, webs + 1)]
        worker_machines = [cluster.machine(f"worker-{number}") for number in range(1, workers + 1)]
        for machine in worker_machines:
            prepare(machine)
        start_all(web_machines, worker_machines, readers=readers)
        yield BareService(cluster, web_machines, worker_machines, say)


def draw_counts(chance: random.Random, uploads: int, count: int) -> list[int]:
    """After how many uploads each of so many kills is due."""
    return sorted(chance.randrange(uploads // 20, uploads * 19 // 20) for _ in range(count))
