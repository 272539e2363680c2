"""Types are prepared when they are imported: two threads at the first use end the process."""

import os
import subprocess
import sys

import pytest

from backend.ingest.envelope.envelope import read_envelope
from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.testing.reports import make_envelope

# What a type looks up at its first use is gone: only a prepared one can still be read.
ENVELOPE = """
from backend.ingest.envelope import envelope
from backend.testing.reports import make_envelope
for name in ("Name", "Text", "Count", "Words"):
    delattr(envelope, name)
assert envelope.read_envelope(make_envelope(2)).entries
assert envelope.read_host({"name": "a", "cores": 2}, "client")
"""
TRIAL = """
from backend.formats import model
from backend.untrusted.sandbox import child_answers
del model.Latency
parsed = {"tool": "wrk", "loop": None, "elapsed_s": 1.0}
child_answers.trial_of({"trial": {"parsed": parsed}})
"""
SLICES = """
from backend.formats import model, read_trial
packed = read_trial.pack_slices([model.TimeSlice(start_s=0, length_s=1)])
del model.Number
assert read_trial.slices_in(packed)
"""
DJANGO = "import django; django.setup()\n"


@pytest.mark.long
@pytest.mark.parametrize("program", [ENVELOPE, TRIAL, SLICES], ids=["envelope", "trial", "slices"])
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


@pytest.mark.parametrize("label", [["é"] * 390, ["é" * 990], "x" * 2001])
def test_a_label_is_as_long_as_the_text_that_is_stored(label):
    """A list is stored with escapes and blanks: `["é"]` of five characters as ten."""
    sent = make_envelope(1)
    sent["run"]["labels"] = {"branch": label}
    with pytest.raises(EnvelopeError, match=r"run\.labels\.branch .* at most 2000 characters"):
        read_envelope(sent)
