from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.outcome import Outcome

CAPTURES = Path(__file__).parent / "captures"
REPORT = (CAPTURES / "text-c10-r50" / "stderr").read_text()
JSON = (CAPTURES / "json-c10-r50" / "stdout").read_text()
VERBOSE = (CAPTURES / "verbose-err500-c5-r40" / "stdout").read_text()
OF_VERBOSE = (CAPTURES / "verbose-err500-c5-r40" / "stderr").read_text()
LOG = (CAPTURES / "logfile-csv-c1-t2S" / "siege.log").read_text()
OF_LOG = (CAPTURES / "logfile-csv-c1-t2S" / "stderr").read_text()


def read(*texts):
    return parse([RawArtefact.of(f"file{at}", text.encode()) for at, text in enumerate(texts)])


def test_times_in_ms_are_read_as_such():
    newer = (
        REPORT.replace("0.03 secs", "26.41 ms")
        .replace("0.06\n", "58.20 ms\n")
        .replace("0.00\n", "1.05 ms\n")
    )
    (trial,) = read(newer)
    latency = trial.latency
    assert (latency.mean_us, latency.max_us, latency.min_us) == (26410.0, 58200.0, 1050.0)
    assert trial.latency_resolution_us == 10
    assert trial.elapsed_s == 1.5


def test_more_successes_than_transactions_are_no_count_of_them():
    (trial,) = read(
        """** SIEGE 3.0.8
** Preparing 40 concurrent users for battle.
The server is now under siege...
Lifting the server siege...      done.

Transactions:\t\t       61204 hits
Availability:\t\t      100.00 %
Elapsed time:\t\t       19.37 secs
Data transferred:\t       12.80 MB
Response time:\t\t        0.01 secs
Transaction rate:\t     3159.73 trans/sec
Throughput:\t\t        0.66 MB/sec
Concurrency:\t\t       39.70
Successful transactions:       61243
Failed transactions:\t           0
Longest transaction:\t        0.92
Shortest transaction:\t        0.00
"""
    )
    assert (trial.requests_completed, trial.requests_ok) == (61204, None)
    assert trial.outcome == Outcome(attempts=61204, failed=0)


def test_an_unknown_unit_is_refused():
    with pytest.raises(FormatError, match="unknown unit"):
        read(REPORT.replace("0.03 secs", "0.03 fortnights"))


@pytest.mark.parametrize("cut", range(0, len(REPORT), 3))
def test_a_cut_off_report_is_incomplete_or_refused_but_never_wrong(cut):
    (whole,) = read(REPORT)
    try:
        (trial,) = read(REPORT[:cut])
    except FormatError:
        return
    assert trial.tool_errors == whole.tool_errors
    assert trial.latency.max_us in (None, whole.latency.max_us)
    assert trial.incomplete or trial.latency == whole.latency


def test_verbose_lines_before_the_report_belong_to_it():
    (trial,) = read(f"$ siege -v\n{VERBOSE}{OF_VERBOSE}")
    assert (trial.samples, trial.status_counts) == (200, {"200": 172, "500": 28})


def test_verbose_lines_that_are_missing_are_a_disagreement():
    (whole,) = read(OF_VERBOSE, VERBOSE)
    (trial,) = read(OF_VERBOSE, "\n".join(VERBOSE.splitlines()[:100]) + "\n")
    assert whole.disagreements == ()
    assert "172 transactions" in trial.disagreements[0]


def test_a_log_of_responses_larger_than_a_report_is_read_whole(monkeypatch):
    monkeypatch.setattr("backend.formats.text.REPORT_BYTES", 1 << 20)
    lines = 25_000
    (trial,) = read("HTTP/1.1 200     0.01 secs:      40 bytes ==> GET  /\n" * lines)
    assert (trial.samples, trial.histogram.count) == (lines, lines)


def test_the_log_confirms_the_report():
    (trial,) = read(OF_LOG, LOG)
    assert (trial.requests_completed, trial.disagreements) == (42, ())


def test_a_log_of_another_run_is_a_disagreement():
    (trial,) = read(OF_LOG, LOG.replace("     42,", "     43,", 1))
    assert "last row of siege's log" in trial.disagreements[0]


def test_text_and_json_of_one_run_are_one_trial():
    same = REPORT.replace(" 1.50 secs", " 1.72 secs").replace("0.06\n", "0.11\n")
    (trial,) = read(same + JSON)
    assert (trial.connections, trial.elapsed_s) == (10, 1.72)
    assert trial.notes == ("Lines 17 to 29 are of the same run, as JSON.",)


def test_text_and_json_of_two_runs_are_two_trials():
    first, second = read(REPORT + JSON)
    assert (first.elapsed_s, second.elapsed_s) == (1.5, 1.72)


def test_each_run_is_an_entry():
    killed = "** SIEGE 4.0.7\n** Preparing 5 concurrent users for battle.\n"
    first, broken, last = read(REPORT + killed + REPORT)
    assert first.requests_completed == last.requests_completed == 500
    assert isinstance(broken, FormatError)


def test_a_damaged_count_is_refused():
    with pytest.raises(FormatError, match="no number as its Failed transactions"):
        read(REPORT.replace("Failed transactions:\t           0", "Failed transactions:\t  x0"))
    with pytest.raises(FormatError, match="no number as its failed_transactions"):
        read(JSON.replace('"failed_transactions":\t\t           0', '"failed_transactions": -1'))


def test_a_decimal_comma_is_refused_as_no_number():
    with pytest.raises(FormatError, match="no number as its Elapsed time"):
        read(REPORT.replace("1.50 secs", "1,50 secs"))


def test_verbose_lines_are_of_another_run_behind_a_prompt():
    runs = read(f"$ siege a\n{VERBOSE}$ siege b\n{VERBOSE}$\n")
    assert [run.samples for run in runs] == [200, 200]


def test_responses_above_a_report_are_its_own_only_if_it_counts_the_same():
    folder = Path(__file__).parent / "captures" / "verbose-err500-c5-r40"
    rows, report = ((folder / name).read_text() for name in ("stdout", "stderr"))
    (trial,) = read(rows + report)
    assert (trial.samples, trial.requests_ok) == (200, 172)
    others = (
        "".join(rows.splitlines(keepends=True)[-20:]),
        rows.replace("HTTP/1.1 200", "HTTP/1.1 404"),
        rows.replace("0.13 secs", "9.00 secs"),
    )
    for other in others:
        responses, trial = read(other + report)
        assert responses.figures() == read(other)[0].figures()
        assert trial.figures() == read(report)[0].figures()
