import pytest

from backend.formats.text import clean_lines, number, whole


@pytest.mark.parametrize(
    ("word", "value"),
    [("1,234", 1234.0), ("1,234,567.5", 1234567.5), ("880.67", 880.67), ("12345", 12345.0)],
)
def test_commas_between_groups_of_three_are_thousands(word, value):
    assert number(word) == value


@pytest.mark.parametrize("word", ["0,620", "12,5", "1,23", "1234,567", "1,234.5,6", ",", "", "1_0"])
def test_any_other_comma_makes_no_number(word):
    assert number(word) is None
    assert whole(word) is None


@pytest.mark.parametrize("mark", ["\u00a0", "\u202f", "\u2009", "'", "\u2019"])
def test_localised_separators_of_thousands_become_commas(mark):
    (line,) = clean_lines(f"Complete requests: 1{mark}000{mark}000")
    assert line.words[-1] == "1,000,000"


@pytest.mark.parametrize(
    "text",
    ["Total:\u00a0\u00a0\u00a0500\u00a0123", "50%\u00a01\u00a0234", "0\u00a0123", "1\u00a023"],
)
def test_a_space_that_may_stand_between_columns_stays(text):
    (line,) = clean_lines(text)
    assert "," not in line.text
