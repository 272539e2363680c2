import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"


def capture(path):
    return (CAPTURES / path).read_bytes()


def read(*datas):
    return parse([RawArtefact.of(str(number), data) for number, data in enumerate(datas)])


def report(**changes):
    value = json.loads(capture("rate30-4s-500s-json/report.json"))
    value["aggregate"].update(changes)
    return json.dumps(value).encode()


OLD = {
    "aggregate": {
        "timestamp": "2020-05-01T10:00:00.000Z",
        "scenariosCreated": 50,
        "scenariosCompleted": 48,
        "requestsCompleted": 48,
        "latency": {"min": 2.1, "max": 90.5, "median": 10, "p95": 44.2, "p99": 80},
        "rps": {"count": 50, "mean": 9.8},
        "errors": {"ECONNRESET": 2},
        "codes": {"200": 40, "404": 8},
    },
    "intermediate": [],
}
OLD_TEXT = """All virtual users finished
Summary report @ 12:00:10(+0000) 2020-05-01
  Scenarios launched:  50
  Scenarios completed: 48
  Requests completed:  48
  Mean response/sec: 9.8
  Response time (msec):
    min: 2.1
    max: 90.5
    median: 10
    p95: 44.2
    p99: 80
  Scenario counts:
    0: 50 (100%)
  Codes:
    200: 40
    404: 8
  Errors:
    ECONNRESET: 2

"""


@pytest.mark.parametrize("data", [json.dumps(OLD), json.dumps(OLD["aggregate"]), OLD_TEXT])
def test_version_1_says_the_same_in_json_and_text(data):
    (trial,) = read(data.encode())
    assert (trial.requests_completed, trial.requests_ok, trial.reported_rps) == (48, 40, 9.8)
    assert (trial.errors["read"], trial.errors["status"]) == (2, 8)
    assert trial.latency.percentiles == {"50": 10_000, "95": 44_200, "99": 80_000}
    assert trial.latency.max_us == 90_500


OLDEST_TEXT = OLD_TEXT.replace("Requests completed:  48", "Number of requests made: 48")
OLDEST_TEXT = OLDEST_TEXT.replace("Mean response/sec", "RPS")
OLDEST_TEXT = OLDEST_TEXT.replace("Response time (msec)", "Request latency")
OLDEST_TEXT = OLDEST_TEXT.replace("  Scenario counts:\n    0: 50 (100%)\n", "")
OLDEST_TEXT = OLDEST_TEXT.replace(
    "  Codes:", "  Scenario duration:\n    min: 1\n    max: 2\n    median: 1\n  Codes:"
)


@pytest.mark.parametrize(
    "text",
    [
        OLDEST_TEXT,
        OLDEST_TEXT.replace("Summary report @ ", "Complete report @ "),
        OLDEST_TEXT[OLDEST_TEXT.index("  Scenarios launched") :],
        OLD_TEXT[OLD_TEXT.index("  Scenarios launched") :],
        OLD_TEXT.replace("Mean response/sec", "RPS sent"),
    ],
)
def test_each_layout_of_version_1_says_the_same_with_and_without_its_heading(text):
    assert read(text.encode()) == [replace(read(OLD_TEXT.encode())[0], detected_by=ANY)]


def test_summaries_without_their_heading_are_runs_and_periods_are_none():
    bare = OLD_TEXT[OLD_TEXT.index("  Scenarios launched") :]
    period = "Report @ 12:00:00(+0000) 2020-05-01\nElapsed time: 10 seconds\n" + bare
    assert len(read((bare + bare).encode())) == 2
    assert len(read((period + OLD_TEXT).encode())) == 1
    with pytest.raises(FormatError, match="no summary"):
        read(period.encode())


def test_a_summary_of_version_2_is_read_without_its_heading():
    text = capture("rate40-3s-json/stdout").decode()
    summary = text[text.index("Summary report @ ") :].split("\n", 3)[3]
    (trial,) = read(summary.encode())
    (whole,) = read(text.encode())
    assert trial.as_dict() == {**whole.as_dict(), "elapsed_s": None}


def test_errors_that_may_be_cut_off_are_unknown():
    (trial,) = read(OLD_TEXT.encode()[: OLD_TEXT.index("RESET")])
    assert trial.incomplete
    assert trial.errors == {"status": 8}


def test_periods_are_the_time_series():
    (trial,) = read(capture("count100-loop5-quiet-json/report.json"))
    assert [(part.start_s, part.completed) for part in trial.timeline] == [(0, 296), (1.879, 204)]
    assert trial.histogram is None


def test_json_and_text_are_read_together():
    names = ("report.json", "stdout")
    data, text = (capture(f"rate30-4s-500s-json/{name}") for name in names)
    (trial,) = read(data, text)
    assert (trial.elapsed_s, trial.disagreements) == (6.0, ())
    (other,) = read(
        data,
        text.replace(b"http.responses: ", b"http.responses: .. ").replace(
            b" 120\nvusers", b" 121\nvusers"
        ),
    )
    assert "120 in the JSON and 121" in other.disagreements[0]


@pytest.mark.parametrize("cut", range(0, 4600, 9))
def test_a_text_cut_off_anywhere_gives_no_other_counts(cut):
    whole = capture("rate30-4s-500s-json/stdout")
    (truth,) = read(whole)
    try:
        (trial,) = read(whole[:cut])
    except FormatError:
        return
    assert trial == truth


@pytest.mark.parametrize(
    "changes",
    [
        {"counters": {"http.requests": -1}},
        {"counters": {"http.requests": "many"}},
        {"counters": {}},
        {"counters": {"http.requests": 5, "http.responses": 5, "http.codes.200": 9}},
        {"counters": None},
        {"rates": {"http.request_rate": "x"}},
        {"summaries": {"http.response_time": {"min": None, "max": "x"}}},
    ],
)
def test_figures_that_are_none_are_refused(changes):
    with pytest.raises(FormatError):
        read(report(**changes))


def test_a_status_that_http_does_not_have_is_a_failure():
    # As a site answers whom it takes for a robot.
    odd = {"aggregate": {**OLD["aggregate"], "codes": {"200": 40, "999": 8}}}
    (trial,) = read(json.dumps(odd).encode())
    assert (trial.requests_ok, trial.errors["status"]) == (40, 8)


def test_a_quiet_run_alone_has_no_figures():
    with pytest.raises(FormatError, match="no summary"):
        read(capture("count100-loop5-quiet-json/stdout"))


def test_two_runs_are_two_entries():
    first, second = read(
        capture("rate40-3s-json/stdout") + capture("rate20-2s-refused-json/stdout")
    )
    assert (first.requests_completed, second.requests_completed) == (120, 0)
    assert (first.elapsed_s, second.elapsed_s) == (5.0, 3.0)


def test_minutes_are_counted():
    text = capture("rate40-3s-json/stdout").replace(b"5 seconds", b"2 minutes, 1 second")
    assert read(text)[0].elapsed_s == 121
