"""scripts/upgrade replaces one web server after the other, and stops where a step fails.

No container engine is needed: a `docker` that writes down what it is asked stands in the PATH.
"""

import shlex
import subprocess
import sys

import pytest
import yaml
from django.conf import settings

pytestmark = pytest.mark.processes
SCRIPT = settings.BASE_DIR / "scripts" / "upgrade"
SERVICES = yaml.safe_load((settings.BASE_DIR / "docker-compose.yml").read_text())["services"]
DOCKER = """#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in *"$FAILS"*) exit 17 ;; esac
"""
REPLACE = "compose up --detach --no-deps --wait --wait-timeout 300"
STEPS = [
    "compose build",
    "compose run --rm --no-deps migrate",
    f"{REPLACE} web-a",
    f"{REPLACE} web-b",
    "compose up --detach",
]


@pytest.fixture
def upgrade(tmp_path):
    """Runs the script with a `docker` that fails where its words have `fails`."""
    program = tmp_path / "docker"
    program.write_text(DOCKER)
    program.chmod(0o755)
    calls = tmp_path / "calls"

    def run(*, fails="nothing", path=f"{tmp_path}:/usr/bin:/bin", words=()):
        done = subprocess.run(
            [sys.executable, str(SCRIPT), *words],
            env={"PATH": path, "CALLS": str(calls), "FAILS": fails},
            capture_output=True,
            text=True,
            check=False,
        )
        return done, calls.read_text().splitlines() if calls.exists() else []

    return run


def test_one_web_server_is_replaced_when_the_other_one_is_healthy(upgrade):
    done, calls = upgrade()

    assert (done.returncode, done.stderr) == (0, "")
    assert calls == STEPS
    assert done.stdout.splitlines() == [f"scripts/upgrade: docker {step}" for step in STEPS]


@pytest.mark.parametrize(
    ("fails", "count", "what_runs"),
    [
        ("build", 1, "the former version serves"),
        ("migrate", 2, "The former version serves"),
        ("web-a", 3, "web-b serves, in the former version"),
        ("web-b", 4, "web-a serves, in the new version"),
    ],
)
def test_the_first_failure_ends_it_and_says_what_runs(upgrade, fails, count, what_runs):
    done, calls = upgrade(fails=fails)

    assert done.returncode == 1
    assert calls == STEPS[:count]
    assert f"docker {calls[-1]}` ended with status 17. " in done.stderr
    assert what_runs in done.stderr
    assert "run scripts/upgrade again" in done.stderr


def test_a_machine_without_docker_is_told_what_to_install(upgrade, tmp_path):
    done, calls = upgrade(path=str(tmp_path / "empty"))

    assert (done.returncode, calls) == (1, [])
    assert done.stderr.startswith("scripts/upgrade: Docker was not found. Install")
    assert "Traceback" not in done.stderr


def test_an_option_changes_nothing(upgrade):
    for words, status in ((["--help"], 0), (["--now"], 2)):
        done, calls = upgrade(words=words)
        assert (done.returncode, calls) == (status, [])


def test_it_replaces_services_that_are_there_and_can_be_waited_for():
    named = {shlex.split(step)[-1] for step in STEPS[1:4]}

    assert named == {"migrate", "web-a", "web-b"}
    assert named <= set(SERVICES)
    for name in ("web-a", "web-b"):
        assert SERVICES[name]["healthcheck"]["test"]
    # The one that is replaced is passed over: the proxy knows both.
    assert {"web-a:8000", "web-b:8000"} == set(
        SERVICES["proxy"]["environment"]["UPSTREAMS"].split()
    )
