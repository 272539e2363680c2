"""Which tasks a worker knows, what its processes load, and how a lost broker is left."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings
from kombu.exceptions import OperationalError

BACKEND = Path(__file__).resolve().parents[2]
LOAD = """
import sys
from backend.config.celery import app
app.loader.import_default_modules()
print(*app.tasks, *sys.modules, sep="\\n")
"""


@pytest.fixture(scope="module")
def loaded():
    """Names of the tasks and modules of a process of the worker or beat."""
    command = [sys.executable, "-c", LOAD]
    done = subprocess.run(command, cwd=BACKEND.parent, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_worker_knows_every_task_that_is_sent(loaded):
    sources = [path for path in BACKEND.rglob("*.py") if "tests" not in path.parts]
    sent = {
        name
        for path in sources
        for name in re.findall(r'^[A-Z]+_TASK = "([\w.]+)"$', path.read_text(), re.M)
    }
    assert len(sent) > 5
    assert sent - loaded == set()


def test_neither_worker_nor_beat_loads_the_pages(loaded):
    assert loaded & {"backend.web.urls", "backend.api.urls"} == set()


def test_who_sends_a_message_gives_up_a_lost_broker_at_once(monkeypatch):
    slept = []
    monkeypatch.setattr("kombu.utils.functional.sleep", slept.append)
    app = Celery(broker="redis://127.0.0.1:1/0")
    app.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    with pytest.raises(OperationalError):
        app.send_task("no.task", retry=False)
    assert sum(slept) < 1
