"""Figures as they stand in sentences."""

import pytest

from backend.analysis.query.units import figure_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (13, "13 B"),
        (39_107, "38.2 KiB"),
        (2**31, "2 GiB"),
        (8_332_000_000, "7.76 GiB"),
        # Never "1,020 MiB" beside "1 GiB".
        (2**30 - 1, "1 GiB"),
        (1010 * 2**20, "1,010 MiB"),
    ],
)
def test_sizes_are_in_the_unit_that_suits_them(size, text):
    assert figure_text(size, "bytes") == text
    assert figure_text(size, "bytes/s") == f"{text}/s"
