import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
REPORT = (CAPTURES / "mixed-log" / "stdout").read_text()
LOG = (CAPTURES / "mixed-log" / "req.log").read_text()
HANG = (CAPTURES / "h1-hang-N1-c20" / "stdout").read_text()
# The layout since version 1.69, with a histogram between the rows.
NEW_ROWS = """\
           min         max         median     p95        p99        mean       sd        +/- sd
request     :       26us      2.58ms       120us     300us    2.10ms     160us     305us    97.50%
        26us-     281us [////////////////////////////////////////]( 97.50/ 97.50%)
connect     :       53us       208us       100us     208us     208us     117us      81us    66.67%
TTFB        :      523us       716us       600us     716us     716us     641us     102us    66.67%
req/s       :    5938.87     6073.27     5999.00   6073.27   6073.27   5999.56     68.14    66.67%
"""
RESULT = {
    "version": "v1",
    "metadata": {"generator": "h2load 1.70.0"},
    "measurements": {
        "duration": 0.25,
        "request_per_second": 16,
        "bytes_per_second": 1824,
        "requests": {
            "total": 5,
            "started": 5,
            "done": 5,
            "succeeded": 3,
            "failed": 2,
            "errored": 1,
            "timeout": 1,
        },
        "status_codes": {"2xx": 3, "3xx": 0, "4xx": 0, "5xx": 1},
        "traffic": {"total": 456, "headers": 172, "headers_decompressed": 172, "data": 160},
        "performance": {
            "request": {
                "min": 0.001,
                "max": 0.004,
                "median": 0.0025,
                "p95": 0.004,
                "p99": 0.004,
                "mean": 0.0025,
                "sd": 0.00111803399,
                "within_sd": 50,
                "samples": [0.001, 0.002, 0.003, 0.004],
            }
        },
    },
}


def read(*texts):
    return parse(
        [
            RawArtefact.of(f"file{at}", text if isinstance(text, bytes) else text.encode())
            for at, text in enumerate(texts)
        ]
    )


def test_the_columns_since_1_69_have_percentiles():
    rows = REPORT[REPORT.index("                     min") :]
    (trial,) = read(REPORT.replace(rows, NEW_ROWS))
    assert trial.latency.percentiles == {"50": 120.0, "95": 300.0, "99": 2100.0}
    assert (trial.latency.mean_us, trial.latency.max_us) == (160.0, 2580.0)
    assert trial.latency_origin == "percentiles"


def test_before_1_3_timeouts_are_unknown():
    old = REPORT.replace(", 0 timeout", "").replace(
        REPORT[REPORT.index("traffic:") : REPORT.index("           min")],
        "traffic: 21040 bytes total, 8551 bytes headers, 6095 bytes data\n",
    )
    (trial,) = read(old[: old.index("req/s   ")])
    assert (trial.bytes_received, trial.errors["timeout"], trial.errors["other"]) == (
        21040,
        None,
        0,
    )
    assert not trial.incomplete


def test_the_json_result_has_every_request():
    (trial,) = read(json.dumps(RESULT))
    assert (trial.tool_version, trial.requests_completed, trial.requests_ok) == ("1.70.0", 4, 3)
    assert (trial.samples, trial.histogram.count, trial.latency_origin) == (4, 4, "samples")
    assert trial.errors == {"timeout": 1, "status": 1, "other": 0}


def test_a_json_result_without_a_figure_is_refused():
    broken = {**RESULT, "measurements": {**RESULT["measurements"], "duration": "1s"}}
    with pytest.raises(FormatError, match="missing or invalid figure"):
        read(json.dumps(broken))


@pytest.mark.parametrize("cut", range(0, len(HANG), 3))
def test_a_cut_off_report_is_incomplete_or_refused_but_never_wrong(cut):
    (whole,) = read(HANG)
    try:
        (trial,) = read(HANG[:cut])
    except FormatError:
        return
    assert (trial.requests_completed, trial.errors) == (whole.requests_completed, whole.errors)
    assert trial.bytes_received in (None, whole.bytes_received)
    assert trial.latency in (whole.latency, type(whole.latency)())
    assert trial.incomplete or trial.latency == whole.latency


@pytest.mark.parametrize(
    ("figure", "damaged"),
    [("300 done", "3x0 done"), ("100 failed", "9 failed"), ("7 timeout", "7 timeo")],
)
def test_damaged_counts_are_refused(figure, damaged):
    with pytest.raises(FormatError, match="damaged line"):
        read(HANG.replace(figure, damaged))


def test_each_run_is_an_entry_and_a_killed_one_a_refusal():
    killed = (CAPTURES / "interrupted" / "stdout").read_text()
    first, second, third = read(REPORT + "$ h2load\n" + killed + "$ h2load\n" + HANG)
    assert (first.requests_completed, third.requests_completed) == (200, 300)
    assert isinstance(second, FormatError)


def test_report_and_log_are_read_together():
    (trial,) = read(REPORT, LOG)
    assert (trial.samples, trial.disagreements) == (200, ())
    assert sum(part.completed for part in trial.timeline) == 200


def test_a_log_that_more_than_one_run_was_added_to_is_a_disagreement():
    (trial,) = read(REPORT, LOG + LOG)
    assert "200 responses, the other file has 400" in trial.disagreements[0]


def test_a_log_of_another_run_with_as_many_requests_is_a_disagreement():
    slower = "".join(f"{line}0\n" for line in LOG.splitlines())
    (trial,) = read(REPORT, slower)
    assert "the mean is 160 µs" in " ".join(trial.disagreements)


@pytest.mark.parametrize(
    "packed",
    [
        LOG.encode("utf-16"),
        LOG.replace("\n", "\r\n"),
        LOG.replace("\t", "    "),
        f"$ cat req.log\n{LOG}$ ",
    ],
    ids=["utf-16", "crlf", "spaces", "prompts"],
)
def test_rows_are_found_however_they_were_saved(packed):
    (plain,), (trial,) = read(LOG), read(packed)
    assert (trial.samples, trial.incomplete) == (200, False)
    assert trial.histogram.encode() == plain.histogram.encode()


def test_a_last_row_that_may_be_cut_off_is_left_out():
    (trial,) = read(LOG[:-1])
    assert (trial.samples, trial.incomplete) == (199, True)


def test_requests_that_failed_have_no_latency_in_the_histogram():
    (trial,) = read(LOG + "1795251281726100\t-1\t900000\n")
    assert (trial.samples, trial.requests_completed, trial.histogram.count) == (201, 200, 200)
    assert trial.errors["other"] == 1


@pytest.mark.parametrize("damaged", ["2x0\t461", "2000\t461", "200\t-461", "200", "200\t461\t7"])
def test_a_broken_row_is_named(damaged):
    with pytest.raises(FormatError, match="damaged row") as refused:
        read(LOG.replace("200\t461", damaged, 1))
    assert refused.value.line == 1


WARMED_UP = (CAPTURES / "h1-duration2-warmup1-c20" / "stdout").read_text()
FINISH = WARMED_UP[WARMED_UP.index("finished in") :]


def test_a_warmup_without_its_lines_is_left_out_of_the_time():
    (whole,) = read(WARMED_UP)
    (result,) = read(FINISH)
    assert (whole.elapsed_s, whole.warmup_s, whole.measured_s) == (3, 1, 2)
    assert (result.elapsed_s, result.warmup_s, result.measured_s) == (2, None, 2)
    assert result.body_bytes is whole.body_bytes is None


@pytest.mark.parametrize(
    ("lasted", "rate"),
    [
        ("2.00s", "13250.00"),
        # Too little beyond the whole time to be a warm-up.
        ("2.31s", "13250.00"),
        # 26,500 ÷ 11,000 is no whole time, so the two contradict each other.
        ("3.00s", "11000.00"),
        # So coarse a rate makes any time a whole one.
        ("99999.00s", "0.27"),
    ],
)
def test_another_rate_is_no_sign_of_a_warmup(lasted, rate):
    text = FINISH.replace("3.00s", lasted).replace("13250.00", rate)
    (trial,) = read(text)
    assert trial.elapsed_s == float(lasted.removesuffix("s"))


def test_a_json_result_leaves_a_warmup_out_of_the_time():
    measured = {**RESULT["measurements"], "duration": 4.01, "request_per_second": 1.0}
    (trial,) = read(json.dumps({**RESULT, "measurements": measured}))
    assert (trial.elapsed_s, trial.reported_rps) == (3, 1)
