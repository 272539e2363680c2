"""scripts/bench agent: what the agent itself costs, and with --proofs that it loses nothing.

Sampling ten times a second against none, in pairs on loopback; the start of `loadsheet --help`; the
memory while a load tool runs. The proofs start a service of their own: 200 kills of the agent and
a line that is cut at random bytes of a 100 MB artefact, by a seed. --line sends a log of 300 MB
over a slow line that is cut every 5 s and, as root, loses 2 % of its packets. Figures of a shared
machine are worth little: the load before and after stands beside them.
"""

import argparse
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import exp, log
from pathlib import Path
from statistics import median

import psutil
from loadsheet_agent.run import sampling
from loadsheet_agent.run.execution import execute
from loadsheet_agent.tools.base import Command
from own_service import demo_token, own_service, print_machine

from backend.config.recovery.embedded import free_port
from backend.stats.replicates import Observation, Sample, estimate
from backend.testing.delivery_checks import (
    PLAN,
    TOOL,
    Aim,
    kill_agents,
    send_over_line,
    send_through_cuts,
)
from backend.testing.faulty_proxy import FaultyProxy
from backend.testing.lossy_line import enter_namespace, lose_packets, lost_packets
from backend.testing.reports import WRK
from backend.testing.waiting import is_answering, wait_until

PAIRS, LEAST_PAIRS, TRIAL_S = 10, 3, 4
OFTEN_S = 0.1
WAIT_S = 30.0
STARTS = 11
SAMPLES = 300
PROOF_BYTES, PROOF_CUTS, PROOF_KILLS = 100_000_000, 10, 200
# 300 MB of text, which the agent packs into these bytes.
LINE_BYTES, LINE_BYTES_PER_S, LINE_CUT_S, LOSS_PERCENT = 225_000_000, 4_000_000, 5.0, 2
# A parent, so that the server is a process tree like those of plans.
SERVER = """
require("node:http").createServer((_, answer) => answer.end("Hello, world!"))
  .listen(Number(process.argv[1]), "127.0.0.1");
"""
RATE = re.compile(r"Requests/sec:\s+([\d.]+)")


def main() -> None:
    options = _options()
    no_loss = enter_namespace() if options.line else ""
    print_machine()
    print(f"load before: {os.getloadavg()[0]:.2f}")
    with tempfile.TemporaryDirectory(prefix="loadsheet-bench-") as folder:
        Path(folder).chmod(0o755)
        if options.line:
            line(Path(folder), options.seed, no_loss)
        elif options.proofs:
            proofs(Path(folder), options.seed)
        else:
            starting()
            memory(Path(folder))
            sampled(Path(folder), options.pairs)
    print(f"load after: {os.getloadavg()[0]:.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench agent", description=__doc__)
    parser.add_argument("--proofs", action="store_true", help="the proofs instead of the costs")
    parser.add_argument("--line", action="store_true", help="the proof on a bad line")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--pairs", type=int, default=PAIRS, help="of trials with and without")
    options = parser.parse_args()
    if options.pairs < LEAST_PAIRS:
        parser.error(f"--pairs is {options.pairs}; an interval needs at least {LEAST_PAIRS}.")
    return options


def starting() -> None:
    taken = []
    for _ in range(STARTS):
        began = time.perf_counter()
        command = [sys.executable, "-m", "loadsheet_agent", "--help"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - began)
    print(
        f"loadsheet --help: median {median(taken):.2f} s, slowest of {STARTS} {max(taken):.2f} s "
        "(target 0.3 s)"
    )


def memory(folder: Path) -> None:
    """Of the agent while a load tool runs; nobody answers at the service's address."""
    tool, plan, report = folder / "wrk", folder / "plan.toml", folder / "report"
    report.write_text(WRK)
    tool.write_text(TOOL.format(ledger=folder / "ledger", seconds=5, report=report))
    tool.chmod(0o755)
    with serving() as (url, _):
        plan.write_text(PLAN.format(repeats=1, url=url))
        words = ["run", plan, "--spool", folder / "spool", "--tool-path", f"wrk={tool}"]
        aim = ["--url", "http://127.0.0.1:9", "--token", "ls_agent_none"]
        agent = subprocess.Popen(
            [sys.executable, "-m", "loadsheet_agent", *map(str, words), *aim],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for((folder / "ledger").exists)
            time.sleep(1)
            used = psutil.Process(agent.pid).memory_info().rss
        finally:
            agent.kill()
            agent.wait()
    print(f"memory while a load tool runs: {used / 1e6:.1f} MB (target 60 MB)")


def sampled(folder: Path, pairs: int) -> None:
    """Throughput of wrk with sampling ÷ without, each pair the other way round than the last."""
    wrk = shutil.which("wrk")
    if wrk is None:
        sys.exit("scripts/bench agent: wrk is missing; install the package wrk.")
    sampling.INTERVAL_S = OFTEN_S
    ratios = []
    with serving() as (url, pid):
        throughput(folder, wrk, url, pid, is_sampled=True)  # warm-up, discarded
        cost_ms = sample_ms(pid)
        for number in range(pairs):
            order = (True, False) if number % 2 else (False, True)
            rates = {on: throughput(folder, wrk, url, pid, is_sampled=on) for on in order}
            ratios.append(rates[True] / rates[False])
            print(f"  pair {number + 1}: {rates[False]:.0f} without, {rates[True]:.0f} with")
    centre = estimate(Sample(tuple(Observation(log(ratio), run=None) for ratio in ratios)))
    assert centre.low is not None
    assert centre.high is not None
    print(
        f"sampling at {1 / OFTEN_S:g} Hz: throughput of wrk is {exp(centre.value):.4f} times that "
        f"without (95 % interval {exp(centre.low):.4f} to {exp(centre.high):.4f}; "
        f"{pairs} pairs of {TRIAL_S} s; target above 0.98)"
    )
    print(
        f"a sample takes {cost_ms:.2f} ms of CPU: {cost_ms / OFTEN_S / 10:.2f} % of a core at "
        f"{1 / OFTEN_S:g} Hz"
    )


def sample_ms(pid: int) -> float:
    """CPU time of one sample: on a busy machine it says more than throughput does."""
    # The tree is listed again as often as it would be; each tick is the time for a sample.
    tree = sampling.Tree(pid, clock=stepping(OFTEN_S))
    sampler = sampling.Sampler(tree, clock=stepping(1.0))
    before = time.process_time()
    for _ in range(SAMPLES):
        sampler.tick()
    taken = time.process_time() - before
    assert sampler.finish(None)["samples"] == SAMPLES + 2
    return taken / SAMPLES * 1000


def stepping(step_s: float) -> Callable[[], float]:
    """A clock that goes on by so much each time it is looked at."""
    return partial(next, itertools.count(0.0, step_s))


def throughput(folder: Path, wrk: str, url: str, pid: int, *, is_sampled: bool) -> float:
    """Completed requests a second; wrk is watched as in a trial, with or without samples."""
    command = Command(
        argv=("wrk", "-t1", "-c16", f"-d{TRIAL_S}s", f"{url}/"), stdout="out-stdout.txt"
    )
    sampler = sampling.Sampler(sampling.Tree(pid))
    tick: Callable[[], None] = sampler.tick if is_sampled else lambda: None
    done = execute(command, wrk, directory=folder, limit_s=60, tick=tick)
    if done.error is not None:
        sys.exit(f"scripts/bench agent: {done.error}")
    taken = sampler.finish(done.client_cpu_s)["samples"]
    assert (taken > TRIAL_S / OFTEN_S / 2) is is_sampled, taken
    printed_rate = RATE.search((folder / command.stdout).read_text())
    assert printed_rate is not None
    return float(printed_rate[1])


@contextmanager
def serving() -> Iterator[tuple[str, int]]:
    """A small server on loopback: its address, and the process whose child it is."""
    port = free_port()
    script = 'node -e "$0" "$1" & wait'
    parent = subprocess.Popen(
        ["sh", "-c", script, SERVER, str(port)], start_new_session=True, stdout=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(lambda: bool(psutil.Process(parent.pid).children()) and is_answering(url))
        yield url, parent.pid
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()


def _wait_for(happened: Callable[[], bool]) -> None:
    if not wait_until(happened, WAIT_S, every_s=0.05):
        sys.exit(f"scripts/bench agent: nothing happened within {WAIT_S:g} s")


def proofs(folder: Path, seed: int) -> None:
    print(f"seed {seed}")
    with own_service(str(folder)) as site:
        aim = Aim(site.url, demo_token(site))
        kills_proved(aim, folder / "kills", seed)
        cuts_proved(aim, folder / "cuts", seed)


def line(folder: Path, seed: int, no_loss: str) -> None:
    """`no_loss`: why no packet is lost, else empty."""
    print(f"seed {seed}")
    with own_service(str(folder)) as site:
        aim = Aim(site.url, demo_token(site))
        with FaultyProxy(aim.port, bytes_per_s=LINE_BYTES_PER_S) as proxy:
            if no_loss:
                print(f"No packet is lost: {no_loss}.")
            else:
                lose_packets(proxy.own_port, LOSS_PERCENT)
            sent = send_over_line(
                aim, folder, proxy, size_bytes=LINE_BYTES, cut_s=LINE_CUT_S, seed=seed
            )
            lost, packets = (0, 0) if no_loss else lost_packets()
    log_bytes = (folder / "results.json").stat().st_size
    print(
        f"a log of {log_bytes / 1e6:.0f} MB, {sent.artefact_bytes / 1e6:.0f} MB packed, over "
        f"{LINE_BYTES_PER_S / 1e6:g} MB/s cut every {LINE_CUT_S:g} s ({sent.cuts} cuts), "
        f"{lost:,} of {packets:,} packets lost: whole after {sent.took_s:.0f} s; "
        f"{sent.resent_share:.1%} was sent again (target 10 %)"
    )


def kills_proved(aim: Aim, folder: Path, seed: int) -> None:
    folder.mkdir()
    proof = kill_agents(aim, folder, kills=PROOF_KILLS, seed=seed)
    print(
        f"{proof.kills} kills: {proof.trials_finished} trials had finished, "
        f"{proof.trials_recorded} are recorded (those cut short at the last moment included), in "
        f"{proof.finished_runs} finished and {proof.interrupted_runs} interrupted runs; "
        f"{len(proof.faults)} lost, doubled or wrongly told"
    )
    for fault in proof.faults:
        print(f"  {fault}")


def cuts_proved(aim: Aim, folder: Path, seed: int) -> None:
    folder.mkdir()
    sent = send_through_cuts(aim, folder, size_bytes=PROOF_BYTES, cuts=PROOF_CUTS, seed=seed)
    print(
        f"{sent.artefact_bytes / 1e6:.1f} MB over a line cut {sent.cuts} times arrived once and "
        f"whole in {sent.took_s:.0f} s; {sent.resent_share:.1%} was sent again (target 10 %)"
    )


if __name__ == "__main__":
    main()
