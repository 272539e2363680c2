"""The smallest step of a printed time is known wherever the output has times."""

import pytest

from backend.formats import FormatError, Latency, parse
from backend.formats.tests.test_captures import EXPECTATIONS, FORMATS, artefact, files_of, name_of

# In µs: what each text for people rounds its times to.
STEPS_US = {
    "ab/html-w-c10/stdout": 1000,
    "autocannon/c10-3s-text/stderr": 1000,
    "hey/n600-c20-500s-text/stdout": 100,
    "httperf/verbose-twice/stdout": 100,
    "jmeter/c1-n300-csv-noheader/stdout": 1000,
    "siege/text-c10-r50/stderr": 10_000,
    "wrk/latency-c10-10k/stdout": 10,
}


def trials_of(expectation):
    try:
        entries = parse([artefact(path) for path in files_of(expectation)])
    except FormatError:
        return []
    return [entry for entry in entries if not isinstance(entry, FormatError)]


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=name_of)
def test_times_have_a_step(expectation):
    for trial in trials_of(expectation):
        if trial.latency != Latency():
            assert trial.latency_resolution_us > 0


@pytest.mark.parametrize(("path", "step_us"), STEPS_US.items())
def test_a_text_for_people_has_the_step_of_its_digits(path, step_us):
    tool, _, rest = path.partition("/")
    (trial,) = parse([artefact(FORMATS / tool / "tests/captures" / rest)])
    assert trial.latency_resolution_us == step_us
