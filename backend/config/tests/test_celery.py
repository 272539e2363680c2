"""Which tasks a worker knows, what its processes load, and how a lost broker is left."""

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from celery import Celery
from celery.signals import worker_before_create_process
from django.conf import settings
from kombu.exceptions import OperationalError

BACKEND = Path(__file__).resolve().parents[2]
WORKER = """
import sys
from backend.config.celery import app
app.loader.import_default_modules()
print(*app.tasks, *sys.modules)
"""
# It needs no database: a heartbeat that cannot be stored is a line of the log.
BEAT = """
import sys
from backend.config.processes.clock import Clock, app
app.loader.init_worker()
app.log.setup(loglevel="WARNING")
Clock(app=app)._pulse.tick()
print(*sys.modules)
"""
SUPERVISOR = "import sys, backend.config.site.supervisor; print(*sys.modules)"


def names_in(program, **environment):
    """What a process of its own prints."""
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", program]
    done = subprocess.run(
        command,
        cwd=BACKEND.parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def loaded():
    """Names of the tasks and modules of a process of the worker."""
    return names_in(WORKER)


@pytest.mark.long
def test_a_worker_knows_every_task_that_is_sent(loaded):
    sources = [path for path in BACKEND.rglob("*.py") if "tests" not in path.parts]
    sent = {
        name
        for path in sources
        for name in re.findall(r'^[A-Z]+_TASK = "([\w.]+)"$', path.read_text(), re.M)
    }
    assert len(sent) > 5
    assert sent - loaded == set()


def test_a_worker_loads_no_pages(loaded):
    assert loaded & {"backend.web.urls", "backend.api.urls"} == set()


def test_beat_loads_no_apps():
    loaded = names_in(BEAT, DATABASE_URL="postgresql://nobody@/nothing?host=/nowhere")

    assert {"backend.config.processes.heartbeat", "psycopg"} <= loaded
    assert loaded & {"backend.config.models", "backend.ingest.tasks", "numpy"} == set()


def test_what_starts_everything_loads_neither_django_nor_celery():
    loaded = names_in(SUPERVISOR)

    assert "backend.config.site.site" in loaded
    assert loaded & {"django", "celery", "gunicorn", "numpy"} == set()


def test_readers_share_what_the_worker_imported(monkeypatch):
    calls = []
    for name in ("collect", "freeze"):
        monkeypatch.setattr(gc, name, lambda name=name: calls.append(name))

    worker_before_create_process.send(sender=None)

    assert calls == ["collect", "freeze"]


def test_who_sends_a_message_gives_up_a_lost_broker_at_once(monkeypatch):
    slept = []
    monkeypatch.setattr("kombu.utils.functional.sleep", slept.append)
    app = Celery(broker="redis://127.0.0.1:1/0")
    app.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    with pytest.raises(OperationalError):
        app.send_task("no.task", retry=False)
    assert sum(slept) < 1


# The middle one is killed before the last one asks to end with it.
ORPHAN = """
import os, signal, sys, time
{imports}
def in_child(parent):
    while os.getppid() == parent:
        time.sleep(0.01)
    {asks}
    print("outlived", flush=True)

if os.fork() == 0:
    middle = os.getpid()
    {prepares}
    if os.fork() == 0:
        in_child(middle)
        os._exit(0)
    os.kill(middle, signal.SIGKILL)
os.wait()
"""
READER = {
    "imports": "from backend.config.processes import celery_signals\n"
    "from celery.signals import worker_before_create_process, worker_process_init",
    "prepares": "worker_before_create_process.send(sender=None)",
    "asks": "worker_process_init.send(sender=None)",
}
PROGRAM = {
    "imports": "from backend.config.recovery.embedded import ends_with_parent",
    "prepares": "ask = ends_with_parent(signal.SIGTERM)",
    "asks": "ask()",
}
NEITHER = {"imports": "", "prepares": "", "asks": ""}


@pytest.mark.parametrize(("who", "outlives"), [(READER, False), (PROGRAM, False), (NEITHER, True)])
def test_a_process_whose_parent_was_killed_as_it_started_ends(who, outlives):
    assert names_in(ORPHAN.format(**who)) == ({"outlived"} if outlives else set())
