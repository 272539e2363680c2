"""Types are prepared when they are imported: two threads at the first use end the process."""

import os
import subprocess
import sys

import pytest

# What a type looks up at its first use is gone: only a prepared one can still be read.
ENVELOPE = """
from backend.ingest import envelope
from backend.testing.reports import make_envelope
for name in ("Name", "Text", "Count", "Words"):
    delattr(envelope, name)
assert envelope.read_envelope(make_envelope(2)).entries
assert envelope.read_host({"name": "a", "cores": 2}, "client")
"""
TRIAL = """
from backend.formats import model
from backend.ingest import parse_child
del model.Latency
parsed = {"tool": "wrk", "loop": None, "elapsed_s": 1.0}
parse_child.trial_of({"trial": {"parsed": parsed}})
"""
DJANGO = "import django; django.setup()\n"


@pytest.mark.parametrize("program", [ENVELOPE, TRIAL], ids=["envelope", "trial"])
def test_nothing_is_left_to_the_first_use(program, settings):
    names = {
        "PYTHONPATH": str(settings.BASE_DIR),
        "DJANGO_SETTINGS_MODULE": "backend.config.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", DJANGO + program],
        env={**os.environ, **names},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
