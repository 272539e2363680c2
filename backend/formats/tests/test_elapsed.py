"""The elapsed time from a printed rate: nearer to the truth than the printed time, or none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.formats import RawArtefact, parse
from backend.formats.numbers import implied_elapsed_s
from backend.formats.tests.test_captures import FORMATS

NOISE = 1e-9


def trial_of(path):
    tool, _, rest = path.partition("/")
    data = (FORMATS / tool / "tests/captures" / rest).read_bytes()
    (trial,) = parse([RawArtefact.of("file", data)])
    return trial


@given(
    st.floats(0.02, 500),
    st.integers(1, 10**7),
    st.sampled_from([1.0, 0.1, 0.01, 0.001]),
    st.sampled_from([0.1, 0.01, 0.0001]),
    st.booleans(),
)
def test_the_implied_time_is_within_the_rounding_of_the_rate(true_s, count, step, rate_step, cuts):
    printed_s = (math.floor if cuts else round)(true_s / step) * step
    rate = round(count / true_s / rate_step) * rate_step
    implied = implied_elapsed_s(
        printed_s, step_s=step, count=count, rate_rps=rate, rate_step=rate_step
    )
    if implied is not None:
        assert abs(implied - true_s) <= step * 0.51 + NOISE
        assert abs(implied - true_s) <= implied * rate_step / rate * 0.51 + NOISE


@pytest.mark.parametrize(
    ("count", "rate", "rate_step"),
    [
        (10_000, 9000.0, 0.01),  # the rate counts something else
        (4, 4.0, 0.1),  # the rate has fewer digits than the time
        (0, 10.0, 0.01),
        (10_000, 0.0, 0.01),
        (None, 10.0, 0.01),
        (10_000, None, 0.01),
    ],
)
def test_what_says_no_finer_time_gives_none(count, rate, rate_step):
    assert (
        implied_elapsed_s(1.0, step_s=0.01, count=count, rate_rps=rate, rate_step=rate_step) is None
    )


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("wrk/own-too-few-descriptors/stdout", 3556),
        ("wrk2/calibrated-rate400/stdout", 1267),
        ("ab/html-w-c10/stdout", 500),
        ("h2load/h1-c10-n3000-log/stdout", 3000),
        ("siege/text-c10-r50/stderr", 500),
        ("plow/c10-n2000-text/stdout", 2000),
        ("jmeter/c1-n300-csv-noheader/stdout", 300),
    ],
)
def test_count_and_exact_time_give_the_printed_rate(path, count):
    trial = trial_of(path)
    assert trial.requests_completed == count
    assert trial.measured_s != trial.elapsed_s
    assert count / trial.measured_s == pytest.approx(trial.reported_rps, rel=1e-6)


def test_a_warm_up_leaves_the_printed_time():
    trial = trial_of("h2load/h1-duration2-warmup1-c20/stdout")
    assert (trial.elapsed_s, trial.exact_elapsed_s, trial.measured_s) == (3.0, None, 2.0)


def test_a_time_of_the_requests_themselves_is_not_replaced():
    case = FORMATS / "jmeter/tests/captures/c1-n300-csv-noheader"
    files = [RawArtefact.of(p.name, p.read_bytes()) for p in (case / "stdout", *case.glob("*.jtl"))]
    assert len(files) == 2
    (trial,) = parse(files)
    assert trial.exact_elapsed_s is None
