"""The rate that vegeta was asked for, by what it sent."""

import pytest

from backend.formats.vegeta.offered import offered_rate, sent_rate


@pytest.mark.parametrize(
    ("count", "span_s", "rate_rps"),
    [
        # As it reports 100, 200 and 50 requests a second over 3, 4 and 3 s.
        (300, 300 / 100.44, 100),
        (800, 800 / 200.11, 200),
        (150, 2.98, 50),
        # Of no round number of requests a second.
        (37_020, 29.9992, 1_234),
        (3_700, 2.9992, 3_700 / 3),
        # Half a second.
        (50, 0.49, 100),
        # A client that could not keep up with 300.
        (505, 3.0, 168),
    ],
)
def test_the_roundest_rate_that_explains_the_times(count, span_s, rate_rps):
    assert offered_rate(count, span_s) == pytest.approx(rate_rps, rel=0.006)
    assert sent_rate(count, span_s) == pytest.approx(rate_rps, rel=0.012)


@pytest.mark.parametrize(("count", "span_s"), [(1, 0.0), (0, None), (300, 0.0)])
def test_too_few_requests_show_no_rate(count, span_s):
    assert offered_rate(count, span_s) is None
    assert sent_rate(count, span_s) is None


def test_trials_of_one_rate_have_one_name():
    spans = [2.987, 2.99, 2.9931, 2.9967, 3.0005]
    assert {offered_rate(300, span_s) for span_s in spans} == {100.0}
    assert {offered_rate(count, 9.999) for count in (19_951, 19_987, 20_000)} == {2_000.0}
