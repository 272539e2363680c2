from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.hey import log

CAPTURES = Path(__file__).parent / "captures"
TEXT = (CAPTURES / "n300-c10-resets-text" / "stdout").read_text()
GOOD = (CAPTURES / "n105-c10-rounded-text" / "stdout").read_text()
CSV = (CAPTURES / "n1000-c10-csv" / "stdout").read_text()
BOOM = """Server Software: nginx/1.2.2
Running GET http://127.0.0.1:8080/
Running 100 queries - concurrency 10
Starting the load [===================================] Done

-------- Errors --------
('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))

-------- Results --------
Successful calls\t\t99
Total time        \t\t0.3260 s
Average           \t\t0.0192 s
Fastest           \t\t0.0094 s
Slowest           \t\t0.0285 s
Amplitude         \t\t0.0191 s
Standard deviation\t\t0.005123
RPS               \t\t303
BSI              \t\tPretty good

-------- Status codes --------
Code 200          \t\t90 times.
Code 503          \t\t9 times.

-------- Legend --------
RPS: Request Per Second
BSI: Boom Speed Index
"""


def read(text):
    return parse([RawArtefact.of("file", text.encode())])


def test_a_csv_has_a_slice_for_each_second():
    (trial,) = read(CSV)
    assert [part.completed for part in trial.timeline] == [256, 292, 210, 196, 46]
    assert sum(part.failed for part in trial.timeline) == 0
    assert trial.histogram.count == 1000
    assert trial.histogram.percentile(99) == pytest.approx(222_600, rel=0.001)


def test_csv_columns_of_older_versions_are_read():
    rows = [line.split(",") for line in CSV.strip().split("\n")]
    for count, status, seconds in ((7, {"200": 1000}, 0), (6, None, 0), (1, None, 0)):
        (trial,) = read("\n" + "".join(",".join(row[:count]) + "\n" for row in rows))
        assert (trial.samples, trial.status_counts) == (1000, status)
        assert (trial.errors["status"], len(trial.timeline)) == (None if not status else 0, seconds)


def test_a_csv_leaves_out_failed_attempts_and_has_every_status():
    header, *rows = CSV.strip().split("\n")
    failed = rows[0].replace(",200,", ",500,")
    (trial,) = read("\n".join((header, failed, *rows[1:])) + "\n")
    assert trial.lists_answers_only
    assert (trial.requests_ok, trial.errors["status"]) == (999, 1)
    assert trial.status_counts == {"200": 999, "500": 1}
    assert not read(TEXT)[0].lists_answers_only


def test_a_last_row_that_may_be_cut_is_left_out():
    header, first, second = CSV.split("\n")[:3]
    for cut, rows in ((0, 2), (1, 1), (8, 1)):
        (trial,) = read("\n".join((header, first, second[: len(second) - cut])))
        assert (trial.samples, trial.incomplete) == (rows, rows == 1)


@pytest.mark.parametrize("end", ["", "\n", "  ", "root@host:~# ", "$ "])
def test_what_stands_behind_the_last_row_is_no_cut(end):
    (trial,) = read(CSV + end)
    assert (trial.samples, trial.incomplete) == (1000, False)


def test_a_csv_of_a_million_rows_is_cut_off_by_hey(monkeypatch):
    assert not read(CSV)[0].incomplete
    monkeypatch.setattr(log, "KEPT", 1_000)
    assert read(CSV)[0].incomplete


def test_a_csv_without_rows_or_with_a_broken_one_is_refused():
    header, *rows = CSV.split("\n")
    with pytest.raises(FormatError, match="no rows"):
        read(header + "\n")
    with pytest.raises(FormatError, match=r"Line 3\."):
        read("\n".join((header, rows[0], rows[1].replace(",200,", ",2x0,"), *rows[2:])))
    with pytest.raises(FormatError, match="impossible response-time"):
        read("\n".join((header, "-1" + rows[0], *rows[1:])))


def test_failures_lost_with_the_end_of_the_text_are_unknown():
    (trial,) = read(TEXT[: TEXT.index("Error distribution")])
    assert (trial.requests_completed, trial.errors.get("read"), trial.incomplete) == (
        296,
        None,
        True,
    )
    (cut_in_words,) = read(TEXT[: TEXT.index("EOF")])
    assert cut_in_words.errors.get("read") is None
    (stripped,) = read(TEXT.strip())
    assert stripped.errors["read"] == 4


def test_blank_lines_below_titles_change_nothing():
    (alone,) = read(GOOD)
    (trial,) = read(GOOD.replace(":\n", ":\n   \n"))
    assert trial == alone


def test_a_status_that_was_cut_out_is_no_status():
    with pytest.raises(FormatError, match="cut off"):
        read(GOOD.replace("[200]", "["))


def test_rate_and_time_prove_that_nothing_failed():
    (trial,) = read(GOOD.strip())
    assert (trial.errors["connect"], trial.incomplete) == (0, False)


def test_what_is_cut_before_the_status_codes_is_refused():
    for end in ("Latency distribution", "[200]", "responses"):
        with pytest.raises(FormatError, match="cut off before the end of its status codes"):
            read(TEXT[: TEXT.index(end)])


def test_figures_past_the_first_million_responses_are_not_believed():
    capped = (
        GOOD.replace("0.5012", "100.0000")
        .replace("199.5396", "25000.0000")
        # The bars of the million that is kept.
        .replace("[22]\t|", "[999922]\t|")
        .replace("100 responses", "1000000 responses")
    )
    (trial,) = read(capped)
    assert (trial.requests_completed, trial.requests_ok, trial.status_counts) == (None, None, None)
    assert (trial.latency.mean_us, trial.latency.percentiles["50"]) == (None, 36500.0)
    assert "2500000 attempts" in trial.disagreements[0]


def test_two_runs_in_one_paste_and_a_broken_one_are_three_entries():
    first, broken, last = read(f"$ hey -n 100 x\n{GOOD}$ hey y\n{TEXT[:300]}\n$ hey z\n{TEXT}")
    assert (first.requests_completed, last.requests_completed) == (100, 296)
    assert isinstance(broken, FormatError)


def test_a_csv_and_a_text_are_not_one_trial():
    with pytest.raises(FormatError, match="do not belong to one trial"):
        parse([RawArtefact.of("a", CSV.encode()), RawArtefact.of("b", TEXT.encode())])


def test_boom_in_python_is_read_under_its_own_name():
    (trial,) = read(BOOM)
    assert (trial.tool, trial.url) == ("boom", "http://127.0.0.1:8080/")
    assert (trial.connections, trial.requested_requests) == (10, 100)
    assert (trial.requests_completed, trial.requests_ok, trial.elapsed_s) == (99, 90, 0.326)
    assert (trial.errors["read"], trial.errors["status"]) == (1, 9)
    assert (trial.latency.stdev_us, trial.latency.max_us) == (5123.0, 28500.0)
    (json,) = read(
        '{"count": 3, "total_time": 0.5, "rps": 6.0, "avg": 0.01, "min": 0.005, "max": 0.02,'
        ' "amp": 0.015, "stdev": 0.001}'
    )
    assert (json.requests_completed, json.latency.max_us, json.status_counts) == (3, 20000.0, None)
    with pytest.raises(FormatError, match="cut off before its rate"):
        read(BOOM[: BOOM.index("RPS")])


ROWS = [f"{at / 1000:.4f},0.0010,0.0000,0.0001,{at / 2000:.4f},0.0001" for at in range(5, 25)]
OF_2016 = "response-time,DNS+Dialup,DNS,request-write,respone-wait,respone-read"


@pytest.mark.parametrize(
    "header",
    [OF_2016, "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read"],
)
def test_the_csv_of_2016_is_read_under_either_names(header):
    (trial,) = read("\n".join([header, *ROWS, ""]))
    assert (trial.requests_completed, trial.status_counts) == (20, None)
    assert trial.latency_origin == "samples"
    assert trial.histogram.min_us == pytest.approx(5000, rel=1e-3)


def test_the_csv_of_boom_has_numbered_rows_without_a_header():
    numbered = [f"{at},{at / 1000:.4f}" for at in range(1, 21)]
    (trial,) = read("\n".join([*numbered, ""]))
    assert (trial.tool, trial.requests_completed) == ("hey", 20)
    assert trial.histogram.max_us == pytest.approx(20_000, rel=1e-3)
    (cut,) = read("\n".join(numbered)[:-2])
    assert (cut.requests_completed, cut.incomplete) == (19, True)


@pytest.mark.parametrize(
    "rows",
    [
        ["1,0.0010", "2,0.0020"],
        [f"{at},{at / 1000:.3f}" for at in range(1, 20)],
        [f"{at},{0.5 - at / 100:.4f}" for at in range(1, 20)],
        [f"{at},{at / 1000:.4f}" for at in range(2, 20)],
        [*(f"{at},{at / 1000:.4f}" for at in range(1, 20)), "end", "20,0.5"],
        ["response-time,elapsed", "0.1,0.2"],
    ],
)
def test_other_rows_with_numbers_are_not_heys(rows):
    with pytest.raises(FormatError, match="don't recognise"):
        read("\n".join([*rows, ""]))


def test_a_log_below_the_errors_is_no_row_of_them():
    """Its lines begin with a bracket too, as those of errors that are cut off go on."""
    refused = (CAPTURES / "refused" / "stdout").read_text()
    alone = read(refused)[0].figures()
    assert alone["errors"]["connect"] == 20
    log = "\n[2026-01-31 12:00:00,100] host/INFO/server.main: 2 workers are ready\n"
    assert read(refused + log)[0].figures() == alone
