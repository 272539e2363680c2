from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent.parent / "captures"
WHOLE = (CAPTURES / "rate200-rand-U" / "stdout").read_bytes()


def read(data):
    (trial,) = parse([RawArtefact.of("stdout", data)])
    return trial


def test_the_spectrum_becomes_a_histogram_of_what_was_recorded():
    trial = read(WHOLE)
    assert trial.histogram.count == trial.extra["spectrum"]["total_count"] == 594
    for percent, printed in (("50", 28_610), ("90", 47_900), ("99", 54_560)):
        assert trial.histogram.percentile(float(percent)) == pytest.approx(printed, rel=2e-3)


def test_the_uncorrected_distribution_is_never_the_latency():
    trial = read(WHOLE)
    assert trial.latency.percentiles["50"] == 28_610
    assert trial.extra["uncorrected"]["percentiles"]["50"] == 27_360


@pytest.mark.parametrize("cut", range(0, len(WHOLE), 41))
def test_a_cut_off_report_is_incomplete_or_refused_but_never_wrong(cut):
    whole = read(WHOLE)
    try:
        trial = read(WHOLE[:cut])
    except FormatError:
        return
    assert trial.requests_completed == whole.requests_completed
    assert trial.latency == whole.latency
    assert trial.incomplete or trial == whole


def test_a_damaged_row_is_named():
    damaged = WHOLE.replace(b"0.500000          297", b"0.500000          x97", 1)
    assert damaged != WHOLE
    with pytest.raises(FormatError, match="x97") as refused:
        read(damaged)
    assert refused.value.tool == "wrk2"
    assert refused.value.line


def test_counts_that_do_not_reach_the_total_are_refused():
    damaged = WHOLE.replace(b"Total count    =          594", b"Total count    =          694", 1)
    with pytest.raises(FormatError, match="694"):
        read(damaged)


def test_a_report_of_wrk_among_reports_of_wrk2_is_refused():
    wrk = (CAPTURES.parent.parent / "wrk/captures/latency-c10-10k/stdout").read_bytes()
    first, second = parse([RawArtefact.of("paste", WHOLE + wrk)])
    assert first.tool == "wrk2"
    assert isinstance(second, FormatError)
