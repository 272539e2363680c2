"""Proofs that nothing is lost or doubled between the agent and the service, in any size.

Each drives the real agent as a process of its own against a running service at `Aim.url`, draws
its faults by a seed, and answers with what it counted. Tests run them small, `scripts/bench agent
--proofs` in full.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from backend.testing.faulty_proxy import FaultyProxy
from backend.testing.reports import WRK
from backend.untrusted.secrets.redaction import SHAPE

AGENT = "import sys; from loadsheet_agent.cli import main; sys.exit(main())"
# The same without the score of the machine, which takes a second of each start.
QUICK_AGENT = "import loadsheet_agent.run.new_run as new_run; new_run.calibrate = dict; " + AGENT
BODY_BYTES = 3000
# 4/3 for base64, which gzip takes back.
LINE = (
    b'{"attack":"","seq":%d,"code":200,"timestamp":"2026-01-31T12:00:00.%09dZ","latency":%d,'
    b'"bytes_out":0,"bytes_in":3000,"error":"","body":"%s","method":"GET",'
    b'"url":"http://127.0.0.1:8000/","headers":null}\n'
)
READ_WITHIN_S = 120.0


@dataclass(frozen=True, slots=True)
class Aim:
    """A running service and a token for it."""

    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    def through(self, proxy: FaultyProxy) -> Aim:
        return Aim(proxy.url, self.token)

    @property
    def port(self) -> int:
        port = urlsplit(self.url).port
        assert port is not None
        return port


def run_agent(
    aim: Aim, spool: Path, *words: object, timeout_s: float = 900
) -> subprocess.CompletedProcess[str]:
    """The agent as a person runs it."""
    command = [sys.executable, "-c", AGENT, *map(str, words), "--spool", str(spool)]
    return subprocess.run(
        [*command, "--url", aim.url, "--token", aim.token],
        env=_environment(spool),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def _environment(spool: Path) -> dict[str, str]:
    inherited = {
        name: text for name, text in os.environ.items() if not name.startswith("LOADSHEET_")
    }
    return {**inherited, "LOADSHEET_CONFIG": str(spool / "login.json")}


def write_large_result(path: Path, size_bytes: int, seed: int) -> None:
    """Results of vegeta with random bodies, which have about `size_bytes` when packed."""
    chance = random.Random(seed)  # noqa: S311  the same file for the same seed
    with path.open("wb") as out:
        for number in range(max(1, size_bytes // BODY_BYTES)):
            body = _body(chance)
            latency = chance.randrange(1_000_000, 50_000_000)
            out.write(LINE % (number, number * 1000, latency, body))


def _body(chance: random.Random) -> bytes:
    """A random body. One that looks like a key is drawn again, because keys are taken out."""
    while SHAPE.search(body := base64.b64encode(chance.randbytes(BODY_BYTES))):
        pass
    return body


@dataclass(frozen=True, slots=True)
class Sent:
    """What a large artefact cost on the line. Bytes are of request bodies and their heads."""

    artefact_bytes: int
    sent_bytes: int
    cuts: int
    took_s: float

    @property
    def resent_share(self) -> float:
        return (self.sent_bytes - self.artefact_bytes) / self.artefact_bytes


def send_through_cuts(aim: Aim, folder: Path, *, size_bytes: int, cuts: int, seed: int) -> Sent:
    """A large artefact over a line that is cut at random bytes: it arrives once, and whole."""
    chance = random.Random(seed)  # noqa: S311
    with FaultyProxy(aim.port) as proxy:
        proxy.cut_at(chance.randrange(1000, size_bytes) for _ in range(cuts))
        proxy.lose_answers(1)
        return _send_large(aim, folder, proxy, size_bytes=size_bytes, seed=seed)


def send_over_line(
    aim: Aim, folder: Path, proxy: FaultyProxy, *, size_bytes: int, cut_s: float, seed: int
) -> Sent:
    """As `send_through_cuts`, with a line that is cut again and again, whatever was sent."""
    proxy.cut_every(cut_s)
    return _send_large(aim, folder, proxy, size_bytes=size_bytes, seed=seed)


def _send_large(aim: Aim, folder: Path, proxy: FaultyProxy, *, size_bytes: int, seed: int) -> Sent:
    large = folder / "results.json"
    write_large_result(large, size_bytes, seed)
    began = time.monotonic()
    words = ("upload", large, "--json")
    done = run_agent(aim.through(proxy), folder / "spool", *words, timeout_s=3600)
    took_s = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    artefact_bytes = _check_arrived(aim, json.loads(done.stdout)["id"], large)
    return Sent(artefact_bytes, proxy.sent_bytes, proxy.cuts_made, took_s)


def _check_arrived(aim: Aim, upload_id: str, sent: Path) -> int:
    """Byte for byte, in one run with one trial; the size as it was stored."""
    with httpx.Client(base_url=aim.url, headers=aim.headers, timeout=60) as client:
        trials = _ask(client, f"/api/v1/runs/{upload_id}")["trials"]
        (artefact,) = [each for trial in trials for each in trial["artefacts"]]
        stored = client.get(f"/api/v1/artefacts/{artefact['id']}/raw").content
    assert (
        hashlib.sha256(gzip.decompress(stored)).digest()
        == hashlib.sha256(sent.read_bytes()).digest()
    )
    return len(stored)


def _ask(client: httpx.Client, path: str) -> dict[str, Any]:
    answer = client.get(path)
    answer.raise_for_status()
    body: dict[str, Any] = answer.json()
    return body


# The kills

TOOL = """#!/bin/sh
case " $* " in *" -v "*) echo "wrk 4.1.0 [epoll]"; exit 1;; esac
read nonce </proc/sys/kernel/random/uuid
echo "$nonce" >>"{ledger}"
sleep {seconds}
cat "{report}"
echo "nonce $nonce"
"""
PLAN = """repeats = {repeats}
warmup_s = 0
[load]
tool = "wrk"
connections = [1, 2]
duration_s = 1
[[workloads]]
name = "hello"
path = "/livez"
[[servers]]
name = "hello"
version = "1"
url = "{url}"
ready_path = "/livez"
"""
NONCE = re.compile(rb"^nonce (\S+)$", re.MULTILINE)
LINK = re.compile(r"/u/([0-9a-f-]{36})")
TRIALS = 6


@dataclass(slots=True)
class Launch:
    """One start of the agent: what its load tool did, and how it ended."""

    ledger: Path
    killed: bool
    run_id: str | None

    @property
    def begun(self) -> list[str]:
        """The trials in the order they began; of each but the last the agent went on."""
        return begun_in(self.ledger)


def begun_in(ledger: Path) -> list[str]:
    return ledger.read_text().split() if ledger.exists() else []


@dataclass(slots=True)
class Killed:
    """What came of all launches; `faults` says in words what was lost or doubled."""

    kills: int = 0
    finished_runs: int = 0
    trials_finished: int = 0
    trials_recorded: int = 0
    interrupted_runs: int = 0
    faults: list[str] = field(default_factory=list)


def kill_agents(aim: Aim, folder: Path, *, kills: int, seed: int) -> Killed:
    """Kill the agent `kills` times at random moments of its runs, then send what waits.

    A moment lies behind the start of so many trials, each time of one more: within a time alone, an
    agent on a busy machine would begin none. Every second agent has no service while it measures.
    A trial counts as finished where the agent began the next one after it, by the word of the load
    tool.
    """
    chance = random.Random(seed)  # noqa: S311
    (folder / "report.txt").write_text(WRK)
    launches: list[Launch] = []
    while sum(launch.killed for launch in launches) < kills:
        launches.append(_launch(aim, folder, len(launches), chance.uniform(0.0, 0.5)))
    sent = run_agent(aim, folder / "spool", "spool", "retry")
    assert sent.returncode == 0, sent.stderr
    return _until_read(aim, launches)


def _launch(aim: Aim, folder: Path, number: int, after_s: float) -> Launch:
    place = folder / str(number)
    place.mkdir()
    ledger, tool, plan = place / "ledger", place / "wrk", place / "plan.toml"
    report = folder / "report.txt"
    tool.write_text(TOOL.format(ledger=ledger, seconds=0.02, report=report))
    tool.chmod(0o755)
    plan.write_text(PLAN.format(repeats=TRIALS // 2, url=aim.url))
    words = ["run", plan, "--tool-path", f"wrk={tool}", "--spool", folder / "spool", "--json"]
    target = ["--url", aim.url, "--token", aim.token] if number % 2 else []
    with (place / "said").open("wb") as output:
        agent = subprocess.Popen(
            [sys.executable, "-c", QUICK_AGENT, *map(str, [*words, *target])],
            env=_environment(folder / "spool"),
            stdout=output,
            stderr=output,
        )
        while agent.poll() is None and len(begun_in(ledger)) < number % (TRIALS + 1):
            time.sleep(0.005)
        try:
            agent.wait(after_s)
        except subprocess.TimeoutExpired:
            agent.kill()
        code = agent.wait()
    text = (place / "said").read_text()
    assert code in (0, -9), text
    link = LINK.search(text) or re.search(r'"id": "([0-9a-f-]{36})"', text)
    return Launch(ledger, killed=code == -9, run_id=link[1] if link else None)


def _until_read(aim: Aim, launches: Sequence[Launch]) -> Killed:
    deadline = time.monotonic() + READ_WITHIN_S
    while (killed := _count(aim, launches)).faults and time.monotonic() < deadline:
        time.sleep(1)
    return killed


def _count(aim: Aim, launches: Sequence[Launch]) -> Killed:
    killed = Killed(kills=sum(launch.killed for launch in launches))
    recorded: Counter[str] = Counter()
    ended = {launch.run_id for launch in launches if not launch.killed}
    with httpx.Client(base_url=aim.url, headers=aim.headers, timeout=60) as client:
        for run in _runs(client):
            nonces = list(_nonces(client, run))
            recorded.update(nonces)
            killed.interrupted_runs += bool(run["interrupted"])
            killed.finished_runs += not run["interrupted"]
            killed.faults += _run_faults(run, len(nonces), has_ended=run["id"] in ended)
    for launch in launches:
        finished = launch.begun[:-1] if launch.killed else launch.begun
        killed.trials_finished += len(finished)
        lost = [nonce for nonce in finished if not recorded[nonce]]
        killed.faults += [f"trial {nonce} of {launch.run_id} is lost" for nonce in lost]
    killed.faults += _trial_faults(recorded, launches)
    killed.trials_recorded = sum(recorded.values())
    return killed


def _run_faults(run: dict[str, Any], trials: int, *, has_ended: bool) -> Iterator[str]:
    """What is wrong with a run that has so many trials; `has_ended`: its agent was not killed."""
    trials_of = f"run {run['id']} has {trials} of {TRIALS} trials"
    if trials < TRIALS and not run["interrupted"]:
        yield f"{trials_of} and is not called interrupted"
    if has_ended and run["interrupted"]:
        yield f"{trials_of} and is called interrupted, though it ended by itself"


def _trial_faults(recorded: Counter[str], launches: Sequence[Launch]) -> Iterator[str]:
    """Trials that were recorded twice, or never begun."""
    begun = {nonce for launch in launches for nonce in launch.begun}
    for nonce, times in recorded.items():
        if times > 1:
            yield f"trial {nonce} is there {times} times"
        if nonce not in begun:
            yield f"trial {nonce} was never begun"


def _runs(client: httpx.Client) -> Iterator[dict[str, Any]]:
    page = "/api/v1/runs"
    while page:
        body = _ask(client, page)
        for listed in body["runs"]:
            yield _ask(client, f"/api/v1/runs/{listed['id']}")
        page = body.get("next") or ""


def _nonces(client: httpx.Client, run: dict[str, Any]) -> Iterator[str]:
    for trial in run["trials"]:
        for artefact in trial["artefacts"]:
            raw = client.get(f"/api/v1/artefacts/{artefact['id']}/raw").content
            text = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
            yield from (nonce.decode() for nonce in NONCE.findall(text))
