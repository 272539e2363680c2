import pytest

from backend.formats.model import ParsedTrial


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ({"elapsed_s": 3.0, "warmup_s": 1.0}, 2.0),
        ({"elapsed_s": 3.0}, 3.0),
        ({"elapsed_s": None, "warmup_s": 1.0}, None),
        ({}, None),
    ],
)
def test_a_warm_up_inside_the_time_is_not_measured(times, seconds):
    assert ParsedTrial(tool="h2load", **times).measured_s == seconds
