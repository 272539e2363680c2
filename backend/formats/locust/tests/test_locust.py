import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.locust.errors import error_class

CAPTURES = Path(__file__).parent / "captures"


def capture(path):
    return (CAPTURES / path).read_bytes()


def read(*datas):
    entries = parse([RawArtefact.of(str(number), data) for number, data in enumerate(datas)])
    assert len(entries) == 1
    return entries[0]


def member(**changes):
    return {
        "name": "/",
        "method": "GET",
        "last_request_timestamp": 12.5,
        "start_time": 10.0,
        "num_requests": 3,
        "num_none_requests": 0,
        "num_failures": 0,
        "total_response_time": 330.0,
        "max_response_time": 300.0,
        "min_response_time": 10.0,
        "total_content_length": 6,
        "response_times": {"10": 1, "20": 1, "300": 1},
        "num_reqs_per_sec": {"10": 1, "12": 2},
        "num_fail_per_sec": {},
        **changes,
    }


def as_json(*members):
    return json.dumps(members).encode()


def test_the_members_of_json_are_summed():
    trial = read(as_json(member(), member(name="/b", num_failures=1)))
    assert (trial.requests_completed, trial.requests_ok, trial.bytes_received) == (None, 5, 12)
    assert (trial.histogram.count, trial.latency.mean_us) == (6, 110_000)
    assert trial.histogram.percentile(50) == pytest.approx(20_000, rel=1e-3)


def test_seconds_without_a_request_are_in_the_timeline():
    assert [part.completed for part in read(as_json(member())).timeline] == [1, 0, 2]


@pytest.mark.parametrize(
    "changes",
    [
        {"response_times": {"10": 1}},
        {"num_failures": 9},
        {"num_requests": -1},
        {"total_response_time": "x"},
        {"response_times": None},
        {"response_times": {"1e300": 3}},
        {"last_request_timestamp": 1.0},
    ],
)
def test_figures_that_are_none_are_refused(changes):
    with pytest.raises(FormatError) as refusal:
        read(as_json(member(**changes)))
    assert refusal.value.line == 1


def test_files_and_failures_that_differ_are_said():
    stats, failures = (capture(f"u20-500s-3s-csv/out_{name}.csv") for name in ("stats", "failures"))
    assert read(stats, failures).disagreements == ()
    other = read(stats, failures.replace(b",654,", b",600,"))
    assert "654 failures" in other.disagreements[0]
    assert other.errors.get("status") is None


def test_the_console_fills_what_the_files_do_not_say():
    case = "u10-3s-csv"
    trial = read(capture(f"{case}/out_stats.csv"), capture(f"{case}/stderr"))
    assert (trial.connections, trial.requested_duration_s, trial.tool_version) == (10, 3, "2.47.0")
    assert trial.requests_completed == 630
    assert "573 requests, the console 630" in trial.disagreements[0]


def test_the_history_gives_what_totals_grew_by():
    case = "u10-tput5-4s-csv"
    trial = read(capture(f"{case}/out_stats.csv"), capture(f"{case}/out_stats_history.csv"))
    assert [part.completed for part in trial.timeline] == [50, 50, 53]
    assert trial.requests_completed == 153


@pytest.mark.parametrize("name", ["out_stats.csv", "stderr"])
def test_a_report_cut_off_anywhere_gives_no_other_counts(name):
    whole = capture(f"u20-500s-3s-csv/{name}")
    truth = read(whole)
    for cut in range(0, len(whole), 5):
        try:
            trial = read(whole[:cut])
        except FormatError:
            continue
        assert trial.requests_ok == truth.requests_ok
        assert trial.errors.get("status") in (None, truth.errors.get("status"))
        assert trial.latency.percentiles in ({}, truth.latency.percentiles) or trial.incomplete


OF_2021 = """\
 Name              # reqs      # fails  |    Avg     Min     Max  Median  |   req/s failures/s
----------------------------------------------------------------------------------------
 GET /a    812    5(0.62%)  |    31    4    690    22  |   40.61    0.25
 GET /b    388    0(0.00%)  |    19    3    204    15  |   19.40    0.00
----------------------------------------------------------------------------------------
 Aggregated    1200    5(0.42%)  |    27    3    690    19  |   60.01    0.25

Response time percentiles (approximated)
 Type     Name    50%  66%  75%  80%  90%  95%  98%  99% 99.9% 99.99% 100% # reqs
--------|----------------|---------|------|------|------|
 GET      /a    22    27    33    38    60    95    140    210    690    690    690    812
 GET      /b    15    18    21    24    33    48    71    96    200    200    200    388
--------|----------------|---------|------|------|------|
 None     Aggregated    19    24    29    34    51    80    120    180    690    690    690   1200

"""


def test_versions_1_and_2_print_none_before_the_totals_of_the_percentiles():
    trial = read(OF_2021.encode())
    percentiles = trial.latency.percentiles
    assert (percentiles["50"], percentiles["99"], percentiles["99.99"]) == (19e3, 180e3, 690e3)
    assert trial.latency_origin == "percentiles"
    assert (trial.outcome.attempts, trial.outcome.failed) == (1200, 5)


def test_a_file_without_its_row_of_totals_is_refused():
    rows = capture("u10-3s-csv/out_stats.csv").split(b"\r\n")
    with pytest.raises(FormatError, match="Aggregated"):
        read(b"\r\n".join(rows[:2]) + b"\r\n")


def test_rows_of_two_runs_below_one_header_are_refused():
    header, *rows = capture("u10-3s-csv/out_stats.csv").splitlines(keepends=True)
    with pytest.raises(FormatError, match="rows of several runs"):
        read(b"".join([header, *rows, *rows]))


def test_files_of_locust_before_1_0():
    header = b'"Type","Name","# requests","# failures","Median response time",'
    header += b'"Average response time","Min response time","Max response time",'
    header += b'"Average Content Size","Requests/s","Requests Failed/s","50%","100%"\n'
    trial = read(header + b'"None","Aggregated",10,0,7,8.5,1,20,5,3.25,0.00,7,20\n')
    assert (trial.requests_completed, trial.latency.max_us) == (10, 20_000)
    assert trial.latency.percentiles == {"50": 7000, "100": 20_000}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LocustBadStatusCode(code=503)", "status"),
        ("LocustBadStatusCode(code=0)", "other"),
        ("BadStatusCode('http://10.1.0.9/', code=404)", "status"),
        ("404 Client Error: Not Found for url: /", "status"),
        ("CatchResponseError('Got status code 404')", "status"),
        ("CatchResponseError('404')", "status"),
        ("CatchResponseError('took 450 ms')", "other"),
        ("ConnectTimeout(ConnectTimeoutError(…))", "timeout"),
        ("ConnectionRefusedError(111, 'Connection refused')", "connect"),
        ("RemoteDisconnected('Remote end closed connection')", "read"),
        ("BrokenPipeError(32, 'Broken pipe')", "write"),
        ("CatchResponseError('too short')", "other"),
    ],
)
def test_failures_have_classes(text, expected):
    assert error_class(f"GET /: {text}") == expected


def test_the_failures_file_tells_who_was_answered():
    stats = capture("u20-500s-3s-csv/out_stats.csv")
    failures = capture("u20-500s-3s-csv/out_failures.csv").replace(
        b"LocustBadStatusCode(code=500)", b"404 Client Error: Not Found for url: /"
    )
    trial = read(stats, failures)
    assert (trial.requests_completed, trial.errors["status"]) == (3219, 654)


def test_a_verdict_of_the_test_leaves_unknown_what_completed():
    trial = read(capture("verdicts-csv/stderr"))
    assert (trial.requests_completed, trial.requests_ok, trial.errors["other"]) == (None, 104, 45)


@pytest.mark.parametrize("name", ["out_stats.csv", "out_stats_history.csv"])
def test_two_files_in_one_are_refused(name):
    with pytest.raises(FormatError, match="one file at a time"):
        read(capture(f"u10-3s-csv/{name}") + capture(f"u10-tput5-4s-csv/{name}"))


REQUESTS = (CAPTURES / "u5-500s-requests-json" / "requests.json").read_text()
RUNNING = (CAPTURES / "u5-500s-requests-json" / "running.json").read_text()
OLD_REQUESTS = (CAPTURES / "u5-500s-requests-json-v28" / "requests.json").read_text()


def answers(text):
    return parse([RawArtefact.of("requests.json", text.encode())])


def test_figures_of_the_last_seconds_are_not_those_of_the_run():
    """In old versions total_rps is one, too."""
    (old,) = answers(OLD_REQUESTS)
    assert '"total_rps": 163' in OLD_REQUESTS
    assert (old.reported_rps, old.measured_s) == (None, None)
    assert old.latency.percentiles == {"50": 11_000, "90": 16_000, "99": 21_000}
    (new,) = answers(REQUESTS)
    assert new.measured_s == pytest.approx(5.05, abs=0.01)


def test_of_several_answers_of_one_run_the_last_is_the_result():
    (trial,) = answers(RUNNING + "\n" + REQUESTS)
    assert (trial.requests_completed, trial.incomplete) == (1138, False)
    assert len(answers(REQUESTS + "\n" + REQUESTS)) == 2
    (running,) = answers(RUNNING)
    assert (running.connections, running.incomplete) == (5, True)


@pytest.mark.parametrize(
    ("shown", "other"),
    [
        ('"max_response_time": 35.0', '"max_response_time": 34.0'),
        ('"num_requests": 575', '"num_requests": 574'),
        ('"name": "other page"', '"name": "third page"'),
        ('"first_seen": 1796111550', '"first_seen": 1796111950'),
    ],
)
def test_an_answer_that_does_not_go_on_from_the_one_above_is_another_run(shown, other):
    assert shown in REQUESTS
    running, ended = answers(RUNNING + "\n" + REQUESTS.replace(shown, other))
    assert (running.outcome.attempts, ended.outcome.attempts) == (1134, 1138)


def test_failures_that_are_not_all_told_by_name_have_no_class():
    (trial,) = answers(REQUESTS.replace('"occurrences": 139', '"occurrences": 138'))
    assert (trial.requests_completed, trial.requests_ok, trial.errors) == (None, 862, {})
    assert trial.tool_errors == {"num_failures": 276}


def test_an_answer_without_a_total_or_cut_off_is_refused():
    for text in (REQUESTS.replace('"Aggregated"', '"x"'), REQUESTS[:-30], RUNNING[:1500]):
        with pytest.raises(FormatError):
            answers(text)
