"""A short run of what scripts/bench fuzz does at length."""

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.testing.damage import captures, damaged, fault_of, readings, smaller


@pytest.mark.parametrize("number", range(400))
def test_a_damaged_capture_is_read_or_refused_in_a_sentence(number):
    for files in readings(damaged(2026, number).files):
        assert fault_of(files) is None


@pytest.mark.long
def test_every_capture_is_read_without_a_fault():
    assert captures()
    for case in captures():
        assert [fault_of(files) for files in readings(case.files)].count(None) == len(
            readings(case.files)
        )


def test_the_same_number_gives_the_same_damage():
    assert damaged(1, 7) == damaged(1, 7)
    assert damaged(1, 7) != damaged(2, 7)


def test_what_fails_is_made_smaller_while_it_fails():
    files = {"a": b"x" * 500 + b"!" + b"y" * 500, "b": b"kept"}
    assert smaller(files, lambda small: b"!" in small["a"] and b"k" in small["b"]) == {
        "a": b"!",
        "b": b"k",
    }


def test_words_of_reports_without_a_report_are_refused():
    text = "Time taken for tests\nComplete requests:\nThread Stats Avg Stdev M +/- Stdev"
    entries = parse([RawArtefact.of("file", text.encode())])
    assert all(isinstance(entry, FormatError) for entry in entries)
    text = "Run time limit set to Starting Locust 2.\nStarting Locust 2.\n"
    with pytest.raises(FormatError):
        parse([RawArtefact.of("file", text.encode())])
