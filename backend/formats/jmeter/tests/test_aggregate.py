"""Figures for each label and in total, of the dashboard and of listeners.

The files statistics.json are JMeter's own. The CSV texts are made here, by the columns and the
decimals that the listeners' source has: JMeter saves them from its window only.
"""

import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures" / "c20-hang-rt500-csv"
STATISTICS = (CAPTURES / "statistics.json").read_text()
NEW = (
    "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,"
    "Received KB/sec,Sent KB/sec\n"
    "GET /,800,86,43,180,505,552,3,638,5.500%,122.15605,38.42,13.30\n"
    "TOTAL,800,86,43,180,505,552,3,638,5.500%,122.15605,38.42,13.30\n"
)
OLD = (
    "sampler_label,aggregate_report_count,average,aggregate_report_median,"
    "aggregate_report_90%_line,aggregate_report_min,aggregate_report_max,aggregate_report_error%,"
    "aggregate_report_rate,aggregate_report_bandwidth,aggregate_report_stddev\n"
    "GET /,800,86,43,180,3,638,5.50%,122.2,38.4,121.55\n"
    "TOTAL,800,86,43,180,3,638,5.50%,122.2,38.4,121.55\n"
)


def read(*texts):
    return parse([RawArtefact.of(f"file{at}", text.encode()) for at, text in enumerate(texts)])


def only(*texts):
    (trial,) = read(*texts)
    return trial


def changed(**figures):
    document = json.loads(STATISTICS)
    document["Total"].update(figures)
    return json.dumps(document)


def test_the_columns_of_new_and_old_versions_say_the_same():
    new, old = only(NEW), only(OLD)
    assert new.requests_ok == old.requests_ok == 756
    assert new.tool_errors == old.tool_errors == {"Error": 44}
    assert new.latency.percentiles == {"50": 43e3, "90": 180e3, "95": 505e3, "99": 552e3}
    assert old.latency.percentiles == {"50": 43e3, "90": 180e3}
    assert (old.latency.stdev_us, new.reported_rps, old.reported_rps) == (121_550, 122.15605, 122.2)


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_other_delimiters_are_read(delimiter):
    assert only(NEW.replace(",", delimiter)) == only(NEW)


def test_a_summary_report_has_no_percentiles():
    trial = only(
        "Label,# Samples,Average,Min,Max,Std. Dev.,Error %,Throughput,Received KB/sec,"
        "Sent KB/sec,Avg. Bytes\nTOTAL,100,5,1,9,2.50,0.000%,10.00000,1.00,1.00,102.4\n"
    )
    assert (trial.requests_completed, trial.latency.stdev_us) == (100, 2500)
    assert (trial.latency.percentiles, trial.latency_origin) == ({}, "summary")


def test_the_decimal_mark_of_another_language_and_other_units_are_read():
    row = 'TOTAL,400,86,43,180,3,638,"5,50%",",6",",4","0,25"\n'
    trial = only(OLD[: OLD.index("GET")] + row)
    assert (trial.reported_rps, trial.requests_ok, trial.latency.stdev_us) == (0.6, 378, 250)
    assert only(NEW.replace("122.15605", "90.0/min")).reported_rps == 1.5


@pytest.mark.parametrize(
    ("count", "share", "failed"),
    [(800, "5.500%", 44), (4_000_000, "5.500%", None), (9, "0.00%", 0), (9, "50%", None)],
)
def test_a_share_of_errors_tells_their_number_where_only_one_fits(count, share, failed):
    trial = only(NEW.replace("800", str(count)).replace("5.500%", share))
    assert trial.tool_errors == {"Error": failed}
    assert trial.requests_ok == (None if failed is None else count - failed)


def test_labels_without_a_total_are_refused_unless_there_is_one():
    rows = NEW.split("\n")
    assert only("\n".join([*rows[:2], ""])).requests_ok == 756
    with pytest.raises(FormatError, match="no row of all samples"):
        read("\n".join([rows[0], rows[1], rows[1].replace("GET", "PUT"), ""]))
    with pytest.raises(FormatError, match="no row of all samples"):
        read(NEW[: NEW.index("GET")])


def test_rows_of_two_runs_below_one_header_are_refused():
    with pytest.raises(FormatError, match="rows of several runs"):
        read(NEW + NEW.partition("\n")[2])


def test_a_last_row_that_was_cut_off_is_left_out():
    for cut in range(NEW.index("TOTAL") + 1, len(NEW)):
        assert only(NEW[:cut]).reported_rps == 122.15605


def test_dashboards_of_old_versions_have_no_median():
    document = json.loads(STATISTICS)
    for member in document.values():
        del member["medianResTime"]
    trial = only(json.dumps(document))
    assert list(trial.latency.percentiles) == ["90", "95", "99"]


def test_percentiles_in_another_order_have_no_names():
    with pytest.raises(FormatError, match="missing or invalid figure") as refused:
        read(changed(pct1ResTime=600.0))
    assert "aggregate_rpt_pct1" in refused.value.found


@pytest.mark.parametrize("figures", [{"errorCount": 801}, {"throughput": "x"}, {"maxResTime": -1}])
def test_impossible_figures_are_refused(figures):
    with pytest.raises(FormatError, match="missing or invalid figure"):
        read(changed(**figures))


def test_no_samples_have_no_latency():
    trial = only(changed(sampleCount=0, errorCount=0, throughput=0))
    assert (trial.requests_completed, trial.latency_origin, trial.measured_s) == (0, None, None)


def test_a_dashboard_beside_its_log_is_one_trial():
    log = (CAPTURES / "results.jtl").read_text()
    trial = only(log, STATISTICS)
    assert (trial.requests_completed, trial.elapsed_s) == (756, 6.549)
    assert trial.reported_rps == pytest.approx(122.156, abs=0.001)
    assert trial.disagreements == ()
    assert "requests_ok is 756" in only(log, changed(errorCount=43)).disagreements[0]
