"""Every process is killed once, the broker is flushed, clocks jump: nothing lost, nothing doubled.

The same with 10,000 uploads and 100 kills: `scripts/bench chaos`.
"""

import os
import subprocess
import sys
import time

import pytest

from backend.testing.chaos.campaign import Plan, as_lines, broken_promises, run_campaign
from backend.testing.chaos.clocks import SITE, WORKER, make_clocks
from backend.testing.chaos.faults import CLOCKS, FLUSH, KILLED, SUPERVISOR, Strike, draw_strikes
from backend.testing.chaos.senders import Ledger, make_measurement
from backend.testing.supervised import PATIENCE_S
from backend.testing.template_cluster import copy_cluster

UPLOADS, SEED = 80, 1
# Half a minute on two idle cores. The limit ends a test that hangs, on any machine.
TIME_LIMIT_S = 3600
# In this order, one after the other, the supervisor in their midst.
FAULTS = [*KILLED, FLUSH, SUPERVISOR, *CLOCKS, "reader"]
# Leases are short so that the test is: what is tested is loss, not patience.
VARIABLES = {"LEASE_S": "3", "POLL_INTERVAL_S": "1"}


@pytest.mark.chaos
@pytest.mark.timeout(TIME_LIMIT_S + 2 * PATIENCE_S)
def test_uploads_survive_the_death_of_every_process():
    strikes = [
        Strike(fault, (number + 1) * UPLOADS // (len(FAULTS) + 1))
        for number, fault in enumerate(FAULTS)
    ]
    plan = Plan(
        SEED,
        UPLOADS,
        strikes=strikes,
        variables=VARIABLES,
        limit_s=TIME_LIMIT_S,
        backlog=20,
        prepare=copy_cluster,
    )
    report = run_campaign(plan)
    lines = "\n".join(as_lines(plan, report))
    print(lines)  # noqa: T201
    slow = [sentence for sentence in broken_promises(report) if "after the last fault" in sentence]
    assert broken_promises(report) == slow, lines
    assert report.outcome.last_read_s is not None, lines
    assert report.outcome.read == report.outcome.accepted == UPLOADS
    # One parser is killed, and no other death is an attempt.
    assert report.outcome.most_attempts <= 2, lines
    assert len(report.struck) >= len(set(FAULTS)) - len(CLOCKS) - 2, lines


def test_a_seed_draws_the_same_strikes_and_uploads():
    amounts = {"kills": 100, "flushes": 10, "full_disks": 1, "clocks": 4}
    drawn = draw_strikes(5, 10_000, **amounts)
    assert drawn == draw_strikes(5, 10_000, **amounts) != draw_strikes(6, 10_000, **amounts)
    assert len(drawn) == sum(amounts.values())
    assert {*KILLED, SUPERVISOR, FLUSH} < {strike.fault for strike in drawn}
    assert make_measurement(3, seed=5) == make_measurement(3, seed=5)
    assert make_measurement(3, seed=5).id != make_measurement(3, seed=6).id


def test_senders_wait_at_the_next_fault_and_for_what_is_not_read():
    ledger = Ledger(uploads=100, backlog=10, most_accepted=5)
    ledger.accepted = {str(number): "" for number in range(5)}
    assert ledger.is_full
    ledger.most_accepted = None
    assert not ledger.is_full
    ledger.accepted = {str(number): "" for number in range(20)}
    assert ledger.is_full
    ledger.read_count = 10
    assert not ledger.is_full


@pytest.mark.processes
def test_a_clock_is_set_for_a_running_process_and_durations_stay_right(tmp_path):
    clocks = make_clocks(tmp_path / "clocks")
    if clocks is None:
        pytest.skip("this machine has no C compiler")
    program = (
        "import sys, time; before = time.monotonic()\n"
        "for _ in sys.stdin: print(time.time(), time.monotonic() - before, flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, **clocks.variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert abs(ask(child) - time.time()) < 300
        clocks.shift(WORKER, 3600)
        assert abs(ask(child) - time.time()) < 300
        clocks.shift(SITE, -6000)
        deadline = time.monotonic() + 60
        while ask(child) > time.time() - 5000:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def ask(child):
    """The time of day that the child has."""
    child.stdin.write("\n")
    child.stdin.flush()
    of_day, duration = map(float, child.stdout.readline().split())
    assert 0 <= duration < 300
    return of_day
