"""On the server host: what is seen is sent in the service's time, and nothing twice."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from types import SimpleNamespace

import psutil
import pytest
from agent_fakes import PATIENCE_S, FakeService, agent_command, run_agent, wait_until

from loadsheet_agent.exits import Exit
from loadsheet_agent.host.clock import Offset
from loadsheet_agent.run import observe
from loadsheet_agent.run.observe import Observer, send_remaining
from loadsheet_agent.run.sampling import Tree

pytestmark = pytest.mark.processes

RUN = "0b7c0000-0000-0000-0000-000000000001"
HOST = {"name": "server-1"}


class RefusingClient:
    """Refuses requests as listed, then takes every one; remembers both."""

    def __init__(self, *refusals: bool) -> None:
        self.refusals = list(refusals)
        self.taken: list[dict] = []
        self.tried: list[str] = []
        self.last_failure = "it answered 503"

    def ask(self, method: str, path: str, timeout_s: float, **content):
        self.tried.append(content["json"]["id"])
        if self.refusals and self.refusals.pop(0):
            return None
        self.taken.append(content["json"])
        return SimpleNamespace()

    def end_pause(self) -> None:
        pass


def observer(**more) -> Observer:
    times = iter(range(1000, 9000))
    offset = Offset(offset_s=50.0, uncertainty_s=0.002, round_trip_s=0.004)
    return Observer(RUN, None, offset, clock=lambda: float(next(times)), **more)


def test_samples_are_in_the_services_time():
    taker, client = observer(), RefusingClient()
    for _ in range(3):
        taker.take_sample()
    assert taker.send(client, HOST)
    (body,) = client.taken
    assert [sample["at_s"] for sample in body["samples"]] == [1050.0, 1051.0, 1052.0]
    assert (body["host"], body["uncertainty_s"]) == (HOST, 0.002)
    assert {sample["cpu_s"] for sample in body["samples"]} == {None}  # no process was named
    assert taker.samples == []


def test_a_refused_chunk_is_sent_again_with_the_same_id():
    taker, client = observer(chunk=2), RefusingClient(False, True, True, False)
    for _ in range(5):
        taker.take_sample()
    lines, slept = [], []
    assert send_remaining(taker, client, HOST, None, lines.append, slept.append) == 0
    assert [len(body["samples"]) for body in client.taken] == [2, 2, 1]
    assert client.tried[1] == client.tried[2] == client.tried[3] != client.tried[0]
    assert slept == [1.0, 2.0]
    assert taker.sent == 5


def test_a_host_of_thousands_of_cores_sends_fewer_samples_at_once(monkeypatch):
    """The service refuses JSON of more than 500,000 commas, and the samples were never taken."""
    monkeypatch.setattr(observe, "core_times", lambda: [SimpleNamespace(idle=1.0)] * 1_000)
    assert observer().chunk == 400
    assert observer(chunk=2).chunk == 2


def test_samples_not_taken_in_time_are_counted():
    taker, client = observer(), RefusingClient(*[True] * 50)
    taker.take_sample()
    assert send_remaining(taker, client, HOST, 5.0, lambda _: None, lambda _: None) == 1


def test_a_tree_counts_its_root_where_it_is_the_server():
    own = psutil.Process().memory_info().rss
    rss_bytes = Tree(os.getpid(), itself=True).usage().rss_bytes
    assert rss_bytes is not None
    assert rss_bytes > own / 2
    assert Tree(os.getpid()).usage().processes in (None, *range(1, 99))


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_it_observes_until_the_run_has_ended(service: FakeService, listener: int):
    service.standings = ["running", "running", "finished"]
    flags = ["observe", "--run", RUN, "--port", listener, *service.flags, "--json"]
    done = run_agent(*flags)
    assert done.returncode == Exit.OK, done.stderr
    samples = [sample for body in service.observations for sample in body["samples"]]
    assert json.loads(done.stdout.splitlines()[0])["samples"] == len(samples) > 0
    assert all(sample["rss_bytes"] > 1_000_000 for sample in samples)
    times = [sample["at_s"] for sample in samples]
    assert times == sorted(times)
    assert abs(times[0] - time.time()) < 120
    assert service.observations[0]["host"]["facts"]["hostname"] == socket.gethostname()


def test_an_interrupt_sends_what_was_seen(service: FakeService):
    service.standings = ["running"] * 4
    flags = ["observe", "--run", RUN, *service.flags]
    process = subprocess.Popen(
        agent_command(*flags), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert "Observing the host alone" in process.stderr.readline()
    # It is asked at the start, before the first samples and before the next.
    wait_until(lambda: len(service.standings) == 1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == Exit.OK
    assert f"{service.url}/r/{RUN}" in output
    assert sum(len(body["samples"]) for body in service.observations) > 0


def test_an_unknown_run_and_a_free_port_are_refused(service: FakeService, listener: int):
    service.standings = []
    done = run_agent("observe", "--run", RUN, *service.flags)
    assert done.returncode == Exit.USAGE
    assert f"has no run {RUN}" in done.stderr
    done = run_agent("observe", "--run", RUN, "--port", 1, *service.flags)
    assert done.returncode == Exit.USAGE
    assert "listens on port 1" in done.stderr
    assert run_agent("observe", "--run", RUN).returncode == Exit.USAGE
