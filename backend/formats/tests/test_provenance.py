"""Where figures come from: the numbers a reading stands on, found by altering each in turn."""

from pathlib import Path

import pytest

from backend.formats import FormatError
from backend.formats.provenance import MAX_BYTES, NotTraced, trace
from backend.testing.reports import WRK

FORMATS = Path(__file__).parents[1]


def read_by(found, figure):
    return [
        found.texts[mark.artefact][mark.start : mark.end]
        for mark in found.marks
        if figure in mark.figures
    ]


def test_a_figure_points_to_its_number_and_to_no_other():
    found = trace([("wrk.txt", WRK.encode())])
    assert read_by(found, "requests_completed") == ["18000"]
    assert read_by(found, "elapsed_s") == ["3.00"]
    assert read_by(found, "reported_rps") == ["6000.00"]
    assert read_by(found, "latency_us.mean") == ["1.94"]
    assert read_by(found, "latency_us.percentiles.90") == ["90", "4.11"]
    assert read_by(found, "latency_us.percentiles.99") == ["99", "10.02"]
    assert read_by(found, "errors.connect") == []
    lines = {mark.line for mark in found.marks if "requests_completed" in mark.figures}
    assert lines == {11}


def test_numbers_that_nothing_was_read_from_are_not_marked():
    found = trace([("wrk.txt", WRK.encode())])
    marked = {found.texts[0][mark.start : mark.end] for mark in found.marks}
    assert not marked & {"90.11", "3.01", "240.10", "3.60", "71.67"}


def test_a_percentile_altered_never_stands_in_anothers_place():
    # 98 and 99 both stand there: a 98 made a 99 would look like a source of p99.
    report = WRK.replace("     90%    4.11ms\n", "     90%    4.11ms\n     98%    9.11ms\n")
    found = trace([("wrk.txt", report.encode())])
    assert read_by(found, "latency_us.percentiles.99") == ["99", "10.02"]


def test_of_several_results_in_one_text_the_asked_one():
    both = (WRK + WRK.replace("18000", "21000")).encode()
    assert read_by(trace([("two.txt", both)], entry=0), "requests_completed") == ["18000"]
    assert read_by(trace([("two.txt", both)], entry=1), "requests_completed") == ["21000"]
    with pytest.raises(FormatError, match="holds 2 results, not 3"):
        trace([("two.txt", both)], entry=2)


def test_of_several_tools_in_one_text_the_asked_one():
    ab = (FORMATS / "ab/tests/captures/quiet-noperc-post/stdout").read_text()
    both = f"$ wrk http://a/\n{WRK}$ ab http://a/\n{ab}".encode()
    for entry, count in enumerate(["18000", "300"]):
        found = trace([("two.txt", both)], entry=entry)
        assert read_by(found, "requests_completed") == [count]
        for mark in found.marks:
            assert found.texts[0].count("\n", 0, mark.start) + 1 == mark.line


def test_colours_do_not_shift_the_marks():
    found = trace([("wrk.txt", WRK.replace("18000", "\x1b[32m18000\x1b[0m").encode())])
    assert read_by(found, "requests_completed") == ["18000"]
    assert "\x1b" not in found.texts[0]


def test_counts_that_must_agree_are_told_apart():
    report = (FORMATS / "oha/tests/captures/c10-n2000-text/stdout").read_bytes()
    found = trace([("oha.txt", report)])
    assert read_by(found, "requests_completed") == []
    agreeing = [mark for mark in found.marks if not mark.figures]
    assert "2000" in {found.texts[0][mark.start : mark.end] for mark in agreeing}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x" * (MAX_BYTES + 1), "more than 64 KiB"),
        (b"\0\1\2", "binary"),
        (b"1 " * 5000, "holds 5000 numbers"),
    ],
)
def test_what_is_not_traced_says_why(data, said):
    with pytest.raises(NotTraced, match=said):
        trace([("x", data)])


def test_what_is_no_report_is_refused_as_by_the_parser():
    with pytest.raises(FormatError, match="We don't recognise this"):
        trace([("x", b"hello 1 2 3\n")])


def captures():
    for report in sorted(FORMATS.glob("*/tests/captures/*/stdout")):
        if 0 < report.stat().st_size <= 8_000:
            yield pytest.param(report, id=f"{report.parts[-5]}-{report.parts[-2]}")


@pytest.mark.long
@pytest.mark.parametrize("report", list(captures())[::9])
def test_every_mark_is_the_number_it_says_and_the_rate_is_where_it_was_printed(report):
    try:
        found = trace([("stdout", report.read_bytes())])
    except (FormatError, NotTraced):
        return
    for mark in found.marks:
        printed = found.texts[0][mark.start : mark.end]
        assert printed[0].isdigit()
        assert printed[-1].isdigit()
        assert found.texts[0].count("\n", 0, mark.start) + 1 == mark.line
        assert set(mark.figures) <= set(found.figures)
    rate = found.figures.get("reported_rps")
    if rate:
        sources = [float(text.replace(",", "")) for text in read_by(found, "reported_rps")]
        assert sources, "the tool printed a rate, and no number of it is known"
