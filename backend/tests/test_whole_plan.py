"""A plan from its first trial to its comparison, with everything that comes between.

The real agent measures real servers with a real load tool, is interrupted, and goes on while the
service is away and comes back.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client

from backend.config.recovery.embedded import free_port
from backend.config.site import commands
from backend.testing.uploads import make_tenant

ROOT = Path(django_settings.BASE_DIR)
AUTOCANNON = ROOT / "frontend" / "node_modules" / ".bin" / "autocannon"
SERVERS, WORKLOADS, POINTS, REPEATS = 3, 2, 2, 3
LIMIT_S = 600
LOADS = [2**power for power in range(POINTS)]
MEASURED = SERVERS * WORKLOADS * POINTS * REPEATS
# A warm-up for each server at each load point, and again after the resumption.
WARMED = SERVERS * WORKLOADS * POINTS

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(LIMIT_S + 60),
    pytest.mark.django_db(transaction=True),
]


class Site:
    """Web and worker as processes, on this test's database."""

    def __init__(self, folder):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "site.log"
        database = connection.settings_dict
        place = f"{database['USER']}@/{database['NAME']}?host={database['HOST']}"
        self.environment = {
            **os.environ,
            "DATABASE_URL": f"postgresql://{place}",
            "DATA_DIR": str(folder),
            "PUBLIC_URL": self.url,
        }
        self.children = []

    def start(self):
        """Answers when it does."""
        for command in (commands.web(bind=f"127.0.0.1:{self.port}"), commands.worker()):
            with self.log.open("ab") as out:
                self.children.append(
                    subprocess.Popen(
                        command,
                        cwd=ROOT,
                        env=self.environment,
                        stdout=out,
                        stderr=out,
                        start_new_session=True,
                    )
                )
        wait_for(self.is_ready, "the service answers")

    def is_ready(self):
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def stop(self):
        for child in self.children:
            os.killpg(child.pid, signal.SIGTERM)
        for child in self.children:
            child.wait(timeout=LIMIT_S)
        self.children = []


def wait_for(condition, what):
    until = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < until, f"not within {LIMIT_S} s: {what}"
        time.sleep(0.05)


def plan_text():
    """As a person writes it: real servers that this checkout has, and short trials."""
    parts = [
        f'repeats = {REPEATS}\nwarmup_s = 1\norder = "randomised"\nalive = "all"\n',
        '[labels]\nfor = "proof"\n',
        f'[load]\ntool = "auto"\nconnections = {LOADS}\nrequests = 160\n',
    ]
    parts += [f'[[workloads]]\nname = "w{n}"\npath = "/{n}"\n' for n in range(WORKLOADS)]
    for number in range(SERVERS):
        parts.append(
            f'[[servers]]\nname = "server {number}"\nversion = "1.{number}"\n'
            'start = ["{python}", "{here}/http_server.py", "{port}"]\n'
            'url = "http://127.0.0.1:{port}"\n'
            f"[servers.configuration]\nnumber = {number}\n"
        )
    return "\n".join(parts)


@pytest.fixture
def site(tmp_path):
    running = Site(tmp_path)
    try:
        running.start()
        yield running
    finally:
        running.stop()


@pytest.fixture
def agent(site, tmp_path):
    shutil.copy(ROOT / "scripts" / "demo" / "http_server.py", tmp_path)
    plan = tmp_path / "plan.toml"
    plan.write_text(plan_text())
    tenant = make_tenant("lab")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "agents" / "src"),
        "LOADSHEET_URL": site.url,
        "LOADSHEET_TOKEN": tenant.token,
        "LOADSHEET_SPOOL": str(tmp_path / "spool"),
        "LOADSHEET_CONFIG": str(tmp_path / "login.json"),
        "LOADSHEET_AUTOCANNON": str(AUTOCANNON),
    }
    # A shell lets what it starts in the background ignore interrupts, and the agent inherits that.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = []

    def begin(*more):
        command = [sys.executable, "-m", "loadsheet_agent", "run", str(plan), "--json", *more]
        with (tmp_path / "agent.log").open("ab") as said:
            process = subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=said,
                cwd=tmp_path,
            )
        started.append(process)
        return process

    yield tenant, begin
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
    signal.signal(signal.SIGINT, inherited)


def spooled(tmp_path):
    """The only run in the spool: its id, and its trials so far."""
    found = [path for path in (tmp_path / "spool").glob("*/envelope.json") if path.exists()]
    if not found:
        return None, []
    envelope = json.loads(found[0].read_text())
    return envelope["id"], envelope["trials"]


def test_a_plan_is_interrupted_resumed_and_compared(site, agent, tmp_path):
    tenant, begin = agent
    api = httpx.Client(base_url=site.url, headers=tenant.headers, timeout=30)
    run_id = interrupted_run(api, begin, tmp_path)
    # The service goes, the run goes on, the service comes back.
    site.stop()
    resumed = begin("--resume")
    before = len(spooled(tmp_path)[1])
    wait_for(lambda: len(spooled(tmp_path)[1]) >= before + 3, "trials while the service is away")
    site.start()
    output, _ = resumed.communicate(timeout=LIMIT_S)
    answer = json.loads(output)
    assert (answer["state"], answer["failed_trials"], answer["interrupted"]) == ("parsed", 0, False)
    assert spooled(tmp_path) == (None, [])

    wait_for(lambda: not errors_of_trials(api, run_id), "the trials that were sent early are read")
    every_trial_is_there_once(api, run_id)
    for workload in range(WORKLOADS):
        the_comparison_says_it_all(api, run_id, f"w{workload}")
    anybody_can_do_it_again(api, tenant, run_id)


def interrupted_run(api, begin, tmp_path):
    """A run that was seen to go on, and was then interrupted."""
    first = begin()
    wait_for(lambda: spooled(tmp_path)[1], "the first trial")
    run_id, _ = spooled(tmp_path)

    live = {}

    def read_progress():
        answer = api.get(f"/api/v1/runs/{run_id}/progress")
        live.update(answer.json() if answer.status_code == 200 else {})
        return live

    wait_for(lambda: read_progress().get("trials_recorded", 0) >= 3, "trials that can be read")
    assert live["state"] == "running"
    assert live["trials_planned"] >= MEASURED
    compared = api.get("/api/v1/compare", params={"run": run_id}).json()
    assert [run.get("open") for run in compared["runs"]] in ([True], [])
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=LIMIT_S)
    assert first.returncode == 130
    assert read_progress()["state"] == "interrupted"
    return run_id


def errors_of_trials(api, run_id):
    trials = api.get(f"/api/v1/runs/{run_id}").json()["trials"]
    return [trial["error"] for trial in trials if trial["error"]]


def every_trial_is_there_once(api, run_id):
    run = api.get(f"/api/v1/runs/{run_id}").json()
    trials = run["trials"]
    assert [trial["ordinal"] for trial in trials] == list(range(len(trials)))
    measured = [trial for trial in trials if not trial["warmup"]]
    places = {
        (trial["server"], trial["workload"], trial["connections"], trial["repeat"])
        for trial in measured
    }
    assert len(places) == len(measured) == MEASURED
    assert WARMED <= len(trials) - len(measured) <= 2 * WARMED
    assert all(len(trial["artefacts"]) > 0 for trial in trials)
    assert all(trial["resources"]["server_rss_peak_bytes"] > 0 for trial in measured)
    kinds = [event["kind"] for event in run["events"]]
    assert kinds.count("resumed") == 1
    assert set(kinds) <= {"resumed", "restarts"}
    assert (run["interrupted"], run["open"], run["stopped"]) == (False, False, "")


def the_comparison_says_it_all(api, run_id, workload):
    asked = {"run": run_id, "workload": workload, "metric": "memory"}
    figures = api.get("/api/v1/compare", params=asked).json()
    assert len(figures["series"]) == SERVERS
    for series in figures["series"]:
        assert [point["x"] for point in series["points"]] == LOADS
        for point in series["points"]:
            throughput, memory = point["metrics"]["throughput"], point["metrics"]["memory"]
            assert point["trials"] == len(throughput["each"]) == REPEATS
            assert throughput["low"] < throughput["value"] < throughput["high"]
            assert memory["value"] > 1_000_000
    assert "same-host" in [check["id"] for check in figures["checks"]]
    assert figures["finding"]


def anybody_can_do_it_again(api, tenant, run_id):
    plan = api.get(f"/api/v1/runs/{run_id}/plan.toml")
    assert plan.text == plan_text()
    run = api.get(f"/api/v1/runs/{run_id}").json()
    person = Client()
    person.force_login(tenant.user)
    page = person.get(f"/r/{run_id}").content.decode()
    for part in (
        *("Reproduce", "Resource use", "Checks that fired", "as sent", run["plan_sha256"]),
        f"loadsheet run plan.toml --seed {run['seed']}",
    ):
        assert part in page, part
