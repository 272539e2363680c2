"""Workers, their readers and their parsers that are killed while uploads come (A2)."""

import contextlib
import random
import time
from collections import Counter
from itertools import cycle

import psutil

from backend.testing.promises.bare_service import BareService, bare_service, draw_counts
from backend.testing.promises.ground import SEED, Finding, Say, Sending, counted
from backend.testing.scale.machines import Machine
from backend.testing.supervised import running_program

UPLOADS, KILLS, BACKLOG, SENDERS = 10_000, 100, 1000, 8
KINDS = ("main", "reader", "parser", "group")
# A kill strikes within so many seconds after its moment.
WITHIN_S = 0.1
LIMIT_S = 900.0


def worker_kills(say: Say, *, share: float = 1.0) -> Finding:
    """The worker's first process, a reader, a parser, and all of them at once, in turn.

    `share` is that of the uploads and of the kills.
    """
    uploads, kills = int(UPLOADS * share), int(KILLS * share)
    chance = random.Random(SEED)  # noqa: S311  the same for the same seed
    with bare_service(say) as service:
        killed: Counter[str] = Counter()
        with service.sending(uploads, senders=SENDERS, backlog=BACKLOG) as sending:
            counts = draw_counts(chance, uploads, kills)
            for due, kind in zip(counts, cycle(KINDS), strict=False):
                _strike_worker(service, sending, chance, killed, due=due, kind=kind)
            service.tend(sending, lambda: sending.senders.are_done, within_s=LIMIT_S)
        service.finding.note(f"seed {SEED}; killed: {counted(killed)}")
        service.finding.expect(killed.total() >= kills, f"only {killed.total()} kills")
        outcome = service.expect_all_read(sending)
        service.finding.note(
            f"attempts: {outcome.most_attempts} at most, more than 1 of {outcome.again} uploads; "
            f"{outcome.passing_faults} readings that the end of a worker ended were not counted"
        )
        service.finding.expect(not outcome.failed, f"{outcome.failed} good uploads failed")
        service.expect_verified()
        return service.finding


def _strike_worker(
    service: BareService,
    sending: Sending,
    chance: random.Random,
    killed: Counter[str],
    *,
    due: int,
    kind: str,
) -> None:
    """Once so many uploads are read, and there is a process of this kind."""
    (worker,) = service.workers
    service.tend(sending, lambda: sending.ledger.read_count >= due, within_s=LIMIT_S)
    time.sleep(chance.uniform(0, WITHIN_S))
    service.tend(sending, lambda: bool(_targets(worker, kind)), within_s=LIMIT_S)
    if kind == "group":
        worker.kill()
        killed[kind] += 1
    elif targets := _targets(worker, kind):
        killed[kind] += _kill(chance.choice(targets))
    if kind in ("main", "group"):
        worker.start_worker(readers=2)


def _targets(worker: Machine, kind: str) -> list[psutil.Process]:
    """Readers are children of the worker's first process, parsers are theirs."""
    processes = worker.processes()
    if kind == "parser":
        return list(running_program(processes, "parser"))
    if kind == "reader":
        return [process for process in processes[1:] if _is_child(process, processes[0])]
    return processes[:1]


def _is_child(process: psutil.Process, parent: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return bool(process.ppid() == parent.pid)
    return False


def _kill(process: psutil.Process) -> bool:
    """Whether it was there."""
    with contextlib.suppress(psutil.Error):
        process.kill()
        return True
    return False
