"""Several workers and beats, with clocks that differ (A13)."""

import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence

import psutil

from backend.testing.chaos.clocks import SITE, WORKER, Clocks, make_clocks
from backend.testing.chaos.faults import WRONG_BY_S
from backend.testing.promises.bare_service import BareService, bare_service
from backend.testing.promises.ground import SEED, Finding, Say, Sending, counted, spread
from backend.testing.scale.machines import Machine
from backend.testing.supervised import open_folder

UPLOADS, SENDERS, WORKERS = 2000, 8, 4
# In each round one worker is frozen, and meanwhile others are killed: each time in the midst of
# uploads that have just come.
ROUNDS, KILLS_IN_ROUND = 4, 3
WITHIN_S = 1.0
# Longer than a lease: another worker takes the uploads over, and the frozen one goes on with them.
FROZEN_S = 50.0
LIMIT_S = 600.0
# Four beats start collectors meanwhile, not once an hour.
VARIABLES = {"COLLECT_INTERVAL_S": "15"}
# Of an upload, by the clock of the database; senders and database have the right one.
WAITED = "SELECT extract(epoch FROM finished_at - received_at)::float FROM ingest_upload"


def sweepers(say: Say) -> Finding:
    """Each worker looks for uploads and for abandoned ones by itself, and each beat sends what is
    due. One of four is ten minutes ahead, one ten minutes behind."""
    with open_folder("loadsheet-clocks-") as folder:
        clocks = make_clocks(folder / "clocks")
        if clocks is None:
            finding = Finding()
            finding.note("not tried: this machine has no C compiler for wrong clocks")
            return finding
        clocks.shift(SITE, WRONG_BY_S)
        clocks.shift(WORKER, -WRONG_BY_S)
        return _sweep(say, clocks)


def _sweep(say: Say, clocks: Clocks) -> Finding:
    def prepare(machine: Machine) -> None:
        _set_clock(machine, clocks)

    with bare_service(
        say, workers=WORKERS, readers=1, variables=VARIABLES, prepare=prepare
    ) as service:
        beats = _start_beats(service, prepare)
        with service.sending(UPLOADS, senders=SENDERS) as sending:
            struck = _strike_all(service, sending)
            sending.ledger.most_accepted = None
            service.tend(sending, lambda: sending.senders.are_done, within_s=LIMIT_S)
        service.finding.note(f"seed {SEED}; workers struck: {counted(struck)}")
        _note_clocks(service, beats)
        outcome = service.expect_all_read(sending)
        service.finding.expect(not outcome.failed, f"{outcome.failed} good uploads failed")
        service.finding.note(f"{outcome.passing_faults} uploads were taken over from a worker")
        rows = service.tables.connection().execute(WAITED).fetchall()
        service.finding.note(f"from received to read: {spread([row[0] for row in rows])}")
        service.expect_verified()
        return service.finding


def _set_clock(machine: Machine, clocks: Clocks) -> None:
    """The third of a kind is ahead, the fourth behind."""
    names = {"3": SITE, "4": WORKER}
    if name := names.get(machine.name[-1]):
        machine.environment |= clocks.variables_of(name)


def _start_beats(service: BareService, prepare: Callable[[Machine], object]) -> list[Machine]:
    beats = [service.cluster.machine(f"beat-{number}") for number in range(1, WORKERS + 1)]
    for machine in beats:
        prepare(machine)
        machine.start_beat()
    return beats


def _strike_all(service: BareService, sending: Sending) -> Counter[str]:
    """What was done to workers, by kind."""
    chance = random.Random(SEED)  # noqa: S311  the same for the same seed
    struck: Counter[str] = Counter()
    for frozen in service.workers[:ROUNDS]:
        _send_some(service, sending, chance)
        frozen.suspend()
        struck["frozen"] += 1
        for _ in range(KILLS_IN_ROUND):
            _send_some(service, sending, chance)
            doomed = chance.choice([each for each in service.workers if each is not frozen])
            doomed.kill()
            doomed.start_worker(readers=1)
            struck["killed"] += 1
            service.tend(sending, lambda: False, within_s=FROZEN_S / KILLS_IN_ROUND)
        frozen.resume()
    return struck


def _send_some(service: BareService, sending: Sending, chance: random.Random) -> None:
    """Returns while they are read."""
    ledger = sending.ledger
    before = len(ledger.accepted)
    some = UPLOADS // (ROUNDS * (KILLS_IN_ROUND + 1))
    ledger.most_accepted = before + some
    due = before + chance.randrange(some // 2)
    service.tend(sending, lambda: len(ledger.accepted) >= due, within_s=LIMIT_S)
    time.sleep(chance.uniform(0, WITHIN_S))


def _note_clocks(service: BareService, beats: Sequence[Machine]) -> None:
    """A clock that is not wrong would prove nothing."""
    machines = [*service.workers, *beats]
    wrong = sum(_has_wrong_clock(machine) for machine in machines)
    service.finding.note(f"{wrong} of {len(machines)} clocks are {WRONG_BY_S} s wrong")
    service.finding.expect(wrong == len(machines) // 2, f"{wrong} clocks are wrong")


def _has_wrong_clock(machine: Machine) -> bool:
    with contextlib.suppress(psutil.Error):
        for process in machine.processes()[:1]:
            return any("clock.so" in file.path for file in process.memory_maps())
    return False
