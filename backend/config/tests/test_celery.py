"""Which tasks a worker knows, and what its processes load."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
