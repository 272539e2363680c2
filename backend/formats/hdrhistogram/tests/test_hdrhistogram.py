"""HdrHistogram's files say no unit: their figures are kept, and are no latencies."""

import io

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

from backend.formats import FormatError, RawArtefact, parse

VALUES = [1000 + 37 * step for step in range(400)]


def recorded(values):
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        histogram.record_value(value)
    return histogram


def distribution():
    out = io.BytesIO()
    recorded(VALUES).output_percentile_distribution(out, 1.0)
    return out.getvalue()


def log(*parts):
    out = io.StringIO()
    writer = HistogramLogWriter(out)
    writer.output_log_format_version()
    writer.output_legend()
    for second, values in enumerate(parts):
        histogram = recorded(values)
        histogram.set_start_time_stamp(second * 1000)
        histogram.set_end_time_stamp((second + 1) * 1000)
        writer.output_interval_histogram(histogram)
    return out.getvalue().encode()


def read(data):
    (trial,) = parse([RawArtefact.of("file", data)])
    return trial


def test_a_distribution_keeps_its_figures_in_its_own_unit():
    trial = read(distribution())
    assert (trial.tool, trial.requests_completed) == ("hdrhistogram", len(VALUES))
    assert trial.extra["spectrum"]["p50_value"] == pytest.approx(VALUES[199], rel=0.05)
    assert (trial.latency_origin, trial.histogram, trial.latency.mean_us) == (None, None, None)


def test_a_log_gives_counts_over_time():
    trial = read(log(VALUES, VALUES[:100], VALUES[:7]))
    assert [part.completed for part in trial.timeline] == [400, 100, 7]
    assert [part.start_s for part in trial.timeline] == [0, 1, 2]
    assert trial.requests_completed == 507
    assert trial.elapsed_s == 3
    assert trial.extra["spectrum"]["total_count"] == 507


@pytest.mark.parametrize("cut", [40, 60, 90, 200])
def test_a_cut_off_distribution_is_refused(cut):
    with pytest.raises(FormatError):
        read(distribution()[:cut])


def test_a_damaged_log_row_is_named():
    whole = log(VALUES)
    with pytest.raises(FormatError) as refused:
        read(whole[:-30] + b"!!!!\n")
    assert refused.value.line
