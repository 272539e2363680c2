"""Every command of docs/api.md, and every step for GitHub and GitLab, against a live service."""

import importlib.util
import os
import platform
import random
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from django.db import connection

from backend.accounts.models import Workspace
from backend.ingest.models import State, Upload
from backend.ingest.queue.worker import drain
from backend.testing.rows import let_a_minute_pass
from backend.testing.uploads import Tenant, make_tenant, make_upload

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs/api.md").read_text()
BLOCK = re.compile(r"^```(sh|python|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HERE = f"{platform.system()}-{platform.machine()}".lower()
STEP_S = 300
PASSWORD = "swept & shared, 26 benches?"

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.processes,
    pytest.mark.timeout(1800),
]

REPORT = """Running 1s test @ http://127.0.0.1:8080/
  1 threads and 2 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   {latency:.2f}us   10.00us   2.00ms   90.11%
    Req/Sec   {rate:.2f}     10.10     9.60k    71.67%
  Latency Distribution
     50%  {p50:.2f}us
     75%  {p75:.2f}us
     90%  {p90:.2f}us
     99%  {p99:.2f}us
  {count} requests in 1.00s, {size:.2f}KB read
Requests/sec: {rate:.2f}
Transfer/sec: {size:.2f}KB
"""
FAKE_WRK = """#!{python}
import os, random, sys
if "-v" in sys.argv:
    print("wrk 4.9.9 [fake]")
    sys.exit(1)
rate = float(os.environ["FAKE_RATE"]) * random.SystemRandom().gauss(1, 0.004)
us = 1e6 / rate
figures = dict(rate=rate, count=round(rate), size=0.12 * rate, latency=2 * us)
print({report!r}.format(**figures, p50=us, p75=1.5 * us, p90=2 * us, p99=3 * us))
"""
PLAN = """repeats = 3
[load]
tool = "wrk"
connections = [2]
duration_s = 1
[[workloads]]
name = "hello"
[[servers]]
name = "hello"
version = "1.0"
url = "http://127.0.0.1:{port}"
"""


def report_of(rate):
    us = 1e6 / rate
    figures = {"rate": rate, "count": round(rate), "size": 0.12 * rate, "latency": 2 * us}
    return REPORT.format(**figures, p50=us, p75=1.5 * us, p90=2 * us, p99=3 * us)


@pytest.fixture
def reader():
    """Reads uploads as they come, as a worker does."""
    stopping = threading.Event()

    def read():
        try:
            while not stopping.wait(0.2):
                drain(is_stopping=stopping.is_set)
        finally:
            connection.close()

    thread = threading.Thread(target=read)
    thread.start()
    yield
    stopping.set()
    thread.join()


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def service(live_server, settings, tmp_path, reader, monkeypatch):
    """The environment of a shell with the agent, a token and a password, in its own folder."""
    settings.PUBLIC_URL = live_server.url
    settings.AGENT_FILES = tmp_path / "agent"
    settings.AGENT_FILES.mkdir()
    spec = importlib.util.spec_from_file_location("build_pyz", ROOT / "agents/build_pyz.py")
    build_pyz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build_pyz)
    # The dependencies are those of this environment.
    monkeypatch.setattr(
        build_pyz, "_install", lambda target, *_, **__: target.mkdir(parents=True, exist_ok=True)
    )
    build_pyz.build(settings.AGENT_FILES / "loadsheet.pyz", [HERE])
    programs = tmp_path / "bin"
    programs.mkdir()
    write_program(programs / "python3", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    agent = settings.AGENT_FILES / "loadsheet.pyz"
    write_program(programs / "loadsheet", f'#!/bin/sh\nexec "{sys.executable}" "{agent}" "$@"\n')
    write_program(
        programs / "fake-wrk", FAKE_WRK.format(python=programs / "python3", report=REPORT)
    )
    tenant = make_tenant()
    tenant.user.set_password(PASSWORD)
    tenant.user.save()
    environ = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    return {
        **environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LOADSHEET_URL": live_server.url,
        "LOADSHEET_TOKEN": tenant.token,
        "LOADSHEET_USER": tenant.user.username,
        "LOADSHEET_PASSWORD": PASSWORD,
        "LOADSHEET_WRK": str(programs / "fake-wrk"),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "step-summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "step-output"),
    }


def run(command, folder, environ):
    return subprocess.run(
        command,
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )


def read_history(token, tmp_path):
    """Five runs of the branch main, one version older than that of the page."""
    workspace = Workspace.objects.get()
    tenant = Tenant(workspace, workspace.memberships.get().user, token)
    chance = random.Random(5)
    for _ in range(5):
        rates = [6000 * chance.gauss(1, 0.01) for _ in range(3)]
        envelope = {
            "schema": 1,
            "server": {"name": "nginx", "version": "1.28"},
            "workload": {"name": "hello", "method": "GET", "path": "/"},
            "run": {"labels": {"branch": "main"}},
        }
        make_upload(tenant, *map(report_of, rates), envelope=envelope)
    for number, rate in enumerate((5990.0, 6010.0, 6025.0), start=1):
        (tmp_path / f"trial-{number}.txt").write_text(report_of(rate))
    drain()
    let_a_minute_pass()


@pytest.fixture
def plan(tmp_path):
    """A plan for a server that runs already."""

    class Hello(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"Hello")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    (tmp_path / "plan.toml").write_text(PLAN.format(port=server.server_address[1]))
    yield "plan.toml"
    server.shutdown()
    server.server_close()


def test_every_command_of_the_guide_works(service, plan, tmp_path):
    service["FAKE_RATE"] = "6000"
    read_history(service["LOADSHEET_TOKEN"], tmp_path)
    commands = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}
    printed = []
    for kind, text in BLOCK.findall(GUIDE):
        if kind in commands:
            done = run([*commands[kind], text], tmp_path, service)
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            printed.append(done.stdout)
    everything = "\n".join(printed)
    assert "exit code 0" in everything
    # The plan measures a server that has no baseline.
    assert "verdict 22" in everything
    assert "### Loadsheet: unchanged" in everything
    assert '"role":"member"' in everything
    assert "nginx" in (tmp_path / "trials-0000.csv").read_text()
    assert not Workspace.objects.filter(slug="nightly").exists()
    assert set(Upload.objects.values_list("state", flat=True)) == {State.PARSED}


def guide_yaml(part):
    """The example of the guide that has `part`."""
    (text,) = [text for kind, text in BLOCK.findall(GUIDE) if kind == "yaml" and part in text]
    return yaml.safe_load(text)


ACTION = yaml.safe_load((ROOT / "integrations/github/action.yml").read_text())


def run_action(inputs, folder, environ):
    """The exit code and the text of the first step that fails, else of the last."""
    given = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()} | inputs
    for step in ACTION["runs"]["steps"]:
        asked = re.findall(r"inputs\.([a-z-]+) != ''", step.get("if", ""))
        if asked and not any(given[name] for name in asked):
            continue
        assert "${{" not in step["run"], "an input inside a command could run as one"
        own = {
            name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda name: given[name[1]], text)
            for name, text in step["env"].items()
        }
        # As the runner starts it.
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
        done = run([*shell, step["run"]], folder, {**environ, **own})
        if done.returncode:
            break
    return done.returncode, f"{done.stdout}\n{done.stderr}"


def run_job(job, folder, environ):
    """As GitLab runs it: the entries of `script` in one shell."""
    script = "\n".join(job["script"])
    variables = {
        name: re.sub(r"\$([A-Z_]+)", lambda name: environ.get(name[1], ""), str(text))
        for name, text in job["variables"].items()
    }
    done = run(["bash", "-eo", "pipefail", "-c", script], folder, {**environ, **variables})
    return done.returncode, f"{done.stdout}\n{done.stderr}"


# A series that no build measured.
GONE = "gone:in both\n"


def assert_missing(code, text):
    assert code == 22, text
    assert "lacks what expect= names: gone:in both." in text


def test_the_action_and_the_template_fail_a_build_that_got_slower_and_no_other(
    service, plan, tmp_path
):
    (step,) = [
        step
        for step in guide_yaml("./integrations/github")["jobs"]["benchmark"]["steps"]
        if step["uses"] == "./integrations/github"
    ]
    inputs = {
        **step["with"],
        "url": service["LOADSHEET_URL"],
        "token": service["LOADSHEET_TOKEN"],
    }
    # The nightly builds of one commit: each is held against those before it.
    main = {**service, "GITHUB_REF_NAME": "main", "GITHUB_SHA": "same", "FAKE_RATE": "6000"}
    codes = [run_action(inputs, tmp_path, {**main, "GITHUB_RUN_ID": str(n)}) for n in range(4)]
    # Of the first build there is nothing to compare with; two runs show no noise of their own yet.
    assert codes[0][0] == 22, codes[0][1]
    assert codes[3][0] == 0, codes[3][1]
    assert "verdict=unchanged" in (tmp_path / "step-output").read_text()

    # A pull request from a branch with the same name, which serves a third.
    pull = {**main, "GITHUB_HEAD_REF": "main", "GITHUB_SHA": "slow", "GITHUB_RUN_ID": "slow"}
    slow = {**pull, "FAKE_RATE": "2000"}
    code, text = run_action(inputs, tmp_path, slow)
    assert code == 20, text
    assert "### Loadsheet: regressed" in (tmp_path / "step-summary.md").read_text()
    failures = ElementTree.parse(tmp_path / "loadsheet.xml").iter("failure")
    assert {failure.get("type") for failure in failures} == {"regressed"}

    # A requirement below the noise is measured again, and stays too noisy.
    strict = {**inputs, "require": "throughput > -0.01%", "most-runs": "2"}
    code, text = run_action(strict, tmp_path, {**pull, "GITHUB_RUN_ID": "noisy"})
    assert code == 21, text
    assert text.count("Measuring run 2 of at most 2.") == 1

    # A series that nobody measured is missing where it is expected.
    lacking = {**inputs, "plan": "", "expect": GONE}
    assert_missing(*run_action(lacking, tmp_path, {**main, "GITHUB_RUN_ID": "3"}))

    template = yaml.safe_load((ROOT / "integrations/gitlab/loadsheet.yml").read_text())
    job = template["loadsheet"]
    job["variables"] |= guide_yaml("LOADSHEET_PLAN")["loadsheet"]["variables"]
    gitlab = {**service, "CI_COMMIT_REF_NAME": "topic", "CI_MERGE_REQUEST_IID": "7"}
    same = {**gitlab, "CI_COMMIT_SHA": "same", "CI_PIPELINE_ID": "8", "FAKE_RATE": "6000"}
    code, text = run_job(job, tmp_path, same)
    assert code == 0, text
    lacking = {**job["variables"], "LOADSHEET_PLAN": "", "LOADSHEET_EXPECT": GONE}
    assert_missing(*run_job({**job, "variables": lacking}, tmp_path, same))
    strict = {"LOADSHEET_REQUIRE": "throughput > -0.01%", "LOADSHEET_MOST_RUNS": "2"}
    noisy = {**job, "variables": {**job["variables"], **strict}}
    code, text = run_job(noisy, tmp_path, {**same, "CI_PIPELINE_ID": "9"})
    assert code == 21, text
    assert text.count("Measuring run 2 of at most 2.") == 1
    slow = {**gitlab, "CI_COMMIT_SHA": "slower", "CI_PIPELINE_ID": "10", "FAKE_RATE": "2000"}
    code, text = run_job(job, tmp_path, slow)
    assert code == 20, text
    assert (tmp_path / "loadsheet.md").read_text().startswith("### Loadsheet: regressed")
    assert job["allow_failure"]["exit_codes"] == [21, 22]
