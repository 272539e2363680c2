"""What one trial keeps is bounded, whatever an output says: answers read thousands of trials."""

import json
from dataclasses import fields

from django.db.models import BinaryField, JSONField, TextField

from backend.formats.model import Latency, ParsedTrial
from backend.formats.read_trial import ReadTrial
from backend.runs.measured.measured import TrialRecord, check_input_of, load_point
from backend.runs.models import Cell, Run, Trial
from backend.runs.recording.trial_row import trial_row

# What an output fills. What an envelope fills is bounded where it is checked
# (ingest/envelope/envelope_checks.py); histograms have their own limit.
READ = {"errors", "tool_errors", "status_counts", "percentiles_us", "printed", "parsed", "checks"}
OF_ENVELOPE = {"command", "error", "resources", "load", "glance", "server_tail", "as_read"}
HISTOGRAMS = {"histogram", "output_sha256"}
# Answers read these of each trial of a run; `parsed` is read for one trial alone.
LISTED_BYTES, ALL_BYTES = 160 << 10, 320 << 10
LONG = "\N{GRINNING FACE}" * 5_000
MANY = [f"{at}{LONG}" for at in range(2_000)]


def fullest():
    """All that an output may say, each text, list and map of it without end."""
    said = {
        "tool_version": LONG,
        "url": f"http://127.0.0.1/{LONG}",
        "server_software": LONG,
        "requests_completed": 10**12,
        "latency": Latency(
            mean_us=1.0, max_us=0.5, percentiles={f"50.{at:09}": 1e9 - at for at in range(5_000)}
        ),
        "latency_origin": "percentiles",
        "errors": {"connect": 5, "read": 7},
        "tool_errors": dict.fromkeys(MANY, 10**12),
        "status_counts": {f"5{at:06}": 10**12 for at in range(9_000)},
        "disagreements": tuple(MANY),
        "notes": tuple(MANY),
        "detected_by": LONG,
        "command": f"oha {LONG}",
        **{name: {"a": LONG} for name in ("server", "workload", "publication", "extra")},
    }
    texts = {
        each.name
        for each in fields(ParsedTrial)
        if any(word in str(each.type) for word in ("str", "Mapping", "tuple"))
    }
    # Chosen of few words, or made of bytes.
    assert texts - said.keys() <= {
        *("tool", "loop", "partial_samples", "lines", "timeline", "output_name")
    }
    return ParsedTrial(tool="oha", **said)


def test_every_column_is_of_the_output_or_of_the_envelope():
    kinds = (TextField, JSONField, BinaryField)
    large = {each.name for each in Trial._meta.concrete_fields if isinstance(each, kinds)}
    assert large == READ | OF_ENVELOPE | HISTOGRAMS


def test_the_fullest_output_makes_a_small_row():
    record = TrialRecord(
        ordinal=0, server={}, workload={}, load={}, reading=ReadTrial.of(fullest())
    )
    figures = check_input_of(record, load_point(record), Run())
    row = trial_row(Run(), Cell(), record, figures)
    sizes = {
        name: len(json.dumps(getattr(row, name), ensure_ascii=False).encode()) for name in READ
    }
    assert min(sizes.values()) > 2, sizes
    assert sum(sizes.values()) < ALL_BYTES, sizes
    assert sum(size for name, size in sizes.items() if name != "parsed") < LISTED_BYTES, sizes
