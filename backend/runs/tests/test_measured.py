import pytest

from backend.runs.measured import measured_s


@pytest.mark.parametrize(
    ("contract", "seconds"),
    [
        ({"elapsed_s": 3.0, "warmup_s": 1.0}, 2.0),
        ({"elapsed_s": 3.0}, 3.0),
        ({"elapsed_s": None, "warmup_s": 1.0}, None),
        ({}, None),
    ],
)
def test_a_warm_up_inside_the_time_is_not_measured(contract, seconds):
    assert measured_s(contract) == seconds
