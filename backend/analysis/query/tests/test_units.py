"""Figures as they appear in sentences."""

import pytest

from backend.analysis.query.field import ordered
from backend.analysis.query.units import at_load, at_place, figure_text, interval_text


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


@pytest.mark.parametrize(
    ("figure", "unit", "text"),
    [
        (("1,000 requests/s", 975, 1025), "req/s", "1,000 requests/s [975, 1,020]"),
        (("1 ms", 980, 1100), "us", "1 ms [980 µs, 1.1 ms]"),
        (("< 1 ms", 500, 1500), "us", "< 1 ms [500 µs, 1.5 ms]"),
        (("1.3 %", 0.011, 0.015), "ratio", "1.3 % [1.1, 1.5]"),
    ],
)
def test_an_interval_names_its_unit_only_where_it_is_another(figure, unit, text):
    assert interval_text(*figure, unit) == text


@pytest.mark.parametrize(
    ("x", "axis", "text"),
    [
        (1, "connections", "at 1 connection"),
        (4_096, "connections", "at 4,096 connections"),
        (1_500.5, "rate", "at 1,500.5 offered requests/s"),
        (10_000, "payload", "at a payload of 10,000 bytes"),
    ],
)
def test_loads_have_the_separator_of_all_numbers(x, axis, text):
    assert at_load(x, axis) == text
    assert at_place("1000", "version") == "at version 1000"


def test_numbers_with_separators_are_ordered_by_size():
    assert ordered(["1,600 req/s", "400 req/s", "12,000 req/s"]) == [
        "400 req/s",
        "1,600 req/s",
        "12,000 req/s",
    ]


def test_names_that_differ_in_capitals_or_zeros_have_one_order():
    names = ["JSON", "json", "json 2", "v1.0", "v1.00"]
    assert ordered(names) == ordered(names[::-1]) == names
