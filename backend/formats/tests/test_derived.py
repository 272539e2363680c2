"""Figures of one report that follow from each other."""

import pytest

from backend.formats import RawArtefact, parse
from backend.testing.reports import AB, WRK


def disagreements(text):
    (trial,) = parse([RawArtefact.of("stdout", text.encode())])
    return trial.disagreements


@pytest.mark.parametrize("text", [WRK, AB])
def test_a_report_as_it_was_printed_agrees(text):
    assert disagreements(text) == ()


@pytest.mark.parametrize(
    ("text", "printed", "edited", "sentence"),
    [
        (WRK, "716.80KB", "1.40MB", "but the output says 1,468,006 bytes/s."),
        (WRK, "716.80KB", "735.00KB", "but the output says 752,640 bytes/s."),
        (AB, "878.91", "1757.82", "but the output says 1,800,008 bytes/s."),
        (AB, "1.667 [ms] (mean)", "0.834 [ms] (mean)", "but the output says 0.834 ms."),
    ],
)
def test_an_edited_figure_contradicts_the_others(text, printed, edited, sentence):
    assert text.count(printed) == 1
    (found,) = disagreements(text.replace(printed, edited))
    assert found.endswith(sentence)


def test_rounding_is_no_contradiction():
    assert disagreements(WRK.replace("716.80KB", "722.00KB")) == ()
    fast = AB.replace("1.667 [ms] (mean)", "1.668 [ms] (mean)")
    assert disagreements(fast) == ()
