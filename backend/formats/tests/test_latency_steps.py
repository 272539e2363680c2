"""The step of one printed latency."""

import pytest

from backend.formats.latency_steps import figure_step_us, finest_step_us


@pytest.mark.parametrize(
    ("tool", "report_step_us", "figure_us", "step_us"),
    [
        # A report of wrk with a maximum of 1.02s: its step is 10 ms.
        ("wrk", 10_000, 1_020_000, 10_000),
        ("wrk", 10_000, 2_620, 10),
        ("wrk", 10_000, 934, 1),
        ("wrk", 10, 934, 1),
        ("wrk", 10_000, 0, 1),
        ("wrk2", 10_000, 61_200_000, 10_000),
        # JSON of bombardier has whole microseconds.
        ("bombardier", 1, 2_620, 1),
        ("k6", 0.01, 2_620, 10),
        ("k6", 0.01, 934, 0.01),
        # k6 in ms; its JSON is exact.
        ("k6", 10, 934, 10),
        ("k6", 0.001, 2_620, 0.001),
        ("vegeta", 1_000, 1_020_000, 1_000),
        ("vegeta", 1_000, 2_620, 1),
        ("vegeta", 0.001, 2_620, 0.001),
        ("locust", 1_000, 105_000, 5_250),
        ("ab", 1_000, 2_000, 1_000),
        (None, 0.0, 2_000, 0.0),
    ],
)
def test_the_step_belongs_to_the_figure(tool, report_step_us, figure_us, step_us):
    assert figure_step_us(tool, report_step_us, figure_us) == pytest.approx(step_us)


def test_the_finest_step_of_several_figures():
    assert finest_step_us("wrk", 10_000, (2_620, 1_020_000)) == 10
    assert finest_step_us("wrk", 10_000, (None, None)) == 10_000
    assert finest_step_us("wrk", None, (2_620,)) is None
