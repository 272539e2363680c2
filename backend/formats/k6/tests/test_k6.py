import math
from pathlib import Path

import orjson
import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.numbers import parse_duration_us
from backend.stats import Histogram

CAPTURES = Path(__file__).parent / "captures"
POINT = (
    '{"metric":"%s","type":"Point","data":{"time":"2026-01-02T03:04:%02d.5+01:00","value":%s,'
    '"tags":{"status":"%s","expected_response":"%s","url":"http://h/"%s}}}\n'
)


def capture(name):
    return (CAPTURES / name).read_bytes()


def read(*files):
    texts = [file.encode() if isinstance(file, str) else file for file in files]
    return parse([RawArtefact.of(f"file {n}", text) for n, text in enumerate(texts)])


def request(second=1, value=2.5, status=200, expected="true", more=""):
    return POINT % ("http_reqs", second, 1, status, expected, more) + POINT % (
        "http_req_duration",
        second,
        value,
        status,
        expected,
        more,
    )


@pytest.mark.parametrize(
    ("word", "microseconds"),
    [
        ("0s", 0),
        ("761ns", 0.761),
        ("409.94µs", 409.94),
        ("1.02s", 1.02e6),
        ("1m2s", 62e6),
        ("1h0m3s", 3603e6),
        ("3.048860395s", 3048860.395),
        ("12", None),
        ("1x", None),
        ("", None),
    ],
)
def test_durations(word, microseconds):
    assert parse_duration_us(word) == microseconds


@pytest.mark.parametrize(
    "case", ["vus10-n500-legacy-text", "vus5-multi-ndjson", "own-open-banner", "vus10-500s-text"]
)
def test_a_text_cut_anywhere_is_never_wrong(case):
    raw = capture(f"{case}/stdout")
    (whole,) = read(raw)
    for cut in range(0, len(raw), 5):
        try:
            (part,) = read(raw[:cut])
        except FormatError:
            continue
        for name in ("requests_completed", "requests_ok", "reported_rps", "bytes_received", "loop"):
            assert getattr(part, name) in (None, getattr(whole, name))
        assert part.latency in (whole.latency, type(whole.latency)())
        assert part.tool_errors.items() <= whole.tool_errors.items()
        assert part.incomplete or part == whole


def test_a_log_has_a_histogram_and_a_second_by_second_timeline():
    (trial,) = read(request(1, 2.5) + request(2, 4) + request(2, 8, 500, "false"))
    assert (trial.requests_completed, trial.requests_ok) == (3, 2)
    assert trial.histogram.count == 3
    assert [(part.completed, part.failed) for part in trial.timeline] == [(1, 0), (2, 1)]
    assert Histogram.decode(trial.timeline[0].histogram).percentile(50) == 2501


def test_a_request_without_response_has_no_latency():
    refused = ',"error":"dial: connection refused","error_code":"1212"'
    (trial,) = read(request() + request(1, 0, 0, "false", refused))
    assert (trial.samples, trial.requests_completed, trial.histogram.count) == (2, 1, 1)
    assert (trial.errors["connect"], trial.tool_errors) == (1, {"dial: connection refused": 1})


def test_the_response_callback_says_what_is_a_success():
    (trial,) = read(request(1, 2, 404, "true") + request(1, 2, 200, "false"))
    assert (trial.requests_ok, trial.errors["status"]) == (1, 1)


def test_a_log_without_status_tags_has_no_classes():
    untagged = request().replace('"status":"200",', "")
    (trial,) = read(untagged)
    assert (trial.requests_completed, trial.requests_ok, trial.samples) == (None, 1, 1)
    assert (trial.status_counts, trial.errors) == (None, {})


def test_many_error_texts_are_named_by_code():
    lines = [
        request(1, 1, 0, "false", f',"error":"read tcp :{port}->: EOF","error_code":"1200"')
        for port in range(60)
    ]
    (trial,) = read("".join(lines))
    assert (trial.tool_errors, trial.errors["read"]) == ({"error_code 1200": 60}, 60)


def test_points_of_other_spacing_and_key_order_are_read():
    lines = [orjson.loads(line) for line in request().splitlines()]
    spaced = "".join(
        f'{{"type": "Point", "data": {data}, "metric": "{line["metric"]}"}}\n'
        for line in lines
        if (data := orjson.dumps(line["data"]).decode())
    )
    (trial,) = read(spaced)
    assert (trial.samples, trial.disagreements) == (1, ())


def test_a_log_that_is_cut_in_a_line_says_so():
    (trial,) = read((request() * 3)[:-20])
    assert (trial.samples, trial.incomplete, trial.disagreements) == (2, True, ())


def test_a_broken_point_is_named():
    with pytest.raises(FormatError, match=r"Line 4\."):
        read(request() + request().replace("2.5", '"x"'))


@pytest.mark.parametrize("value", ["-1", "1e300"])
def test_a_duration_that_no_clock_gives_is_refused(value):
    with pytest.raises(FormatError, match="impossible value of"):
        read(request(1, value))


def test_a_log_that_lost_points_disagrees_with_itself():
    (trial,) = read(request() * 3 + request().splitlines()[1] + "\n")
    assert "3 requests were counted, 4 have a duration" in trial.disagreements


@pytest.mark.parametrize("unit", [0, 3, 6, 9])
def test_csv_times_may_be_of_any_unit(unit):
    rows = capture("rate50-3s-csv/results.csv").decode().splitlines()
    longer = [
        ",".join([cells[0], cells[1] + "0" * unit, *cells[2:]])
        for cells in (row.split(",") for row in rows[1:])
    ]
    (trial,) = read("\n".join([rows[0], *longer]) + "\n")
    assert sum(part.completed for part in trial.timeline) == 151
    assert len(trial.timeline) == math.ceil(151 / 50.20854)


@pytest.mark.parametrize("digits", [20, 500])
def test_csv_times_with_too_many_digits_are_no_times(digits):
    rows = capture("rate50-3s-csv/results.csv").decode().splitlines()
    longer = [
        ",".join([cells[0], "1".ljust(digits, "0"), *cells[2:]])
        for cells in (row.split(",") for row in rows[1:])
    ]
    with pytest.raises(FormatError, match="no time or no value"):
        read("\n".join([rows[0], *longer]) + "\n")


def test_a_summary_of_another_run_is_a_disagreement():
    log = capture("rate50-3s-csv/results.csv")
    (trial,) = read(log, capture("vus10-3s-text/export.json"))
    assert "requests_completed is 1086 in file 1 and 151 in file 0" in trial.disagreements


def test_two_texts_in_one_paste_are_two_runs():
    text = capture("vus10-500s-text/stdout") + b"$ k6 run again.js\n"
    for layout in ("vus10-3s-text/stdout", "vus10-n500-legacy-text/stdout"):
        first, second = read(text + capture(layout))
        assert first.requests_ok == 225
        assert second.requests_ok == read(capture(layout))[0].requests_ok


def test_a_run_cut_off_before_its_results_is_refused_beside_a_whole_one():
    text = capture("vus5-2s-banner-text/stdout")
    cut, whole = read(text[: text.index("█".encode())] + text)
    assert isinstance(cut, FormatError)
    assert whole.requests_completed == 383


def test_groups_and_submetrics_are_not_the_whole():
    (trial,) = read(capture("vus5-multi-ndjson/stdout"))
    assert trial.latency.mean_us == 17230


def test_a_line_with_a_control_character_is_refused_with_a_sentence():
    lines = b'{"metric":"","type":"Point","data":{}}\n{"metric":"\x01"}\n'
    with pytest.raises(FormatError, match="The k6 log has"):
        parse([RawArtefact.of("points.json", lines)])
