from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent.parent / "captures"


def capture(path):
    return (CAPTURES / path).read_bytes()


def read(*datas):
    (trial,) = parse([RawArtefact.of(f"{at}", data) for at, data in enumerate(datas)])
    return trial


TEXT = capture("vus10-500s-text/stdout")
EXPORT = capture("vus10-500s-text/export.json")
POINTS = capture("vus5-multi-ndjson/results.json")


def test_the_failures_of_a_rate_are_its_passes():
    trial = read(TEXT)
    assert (trial.requests_ok, trial.requests_completed) == (225, None)
    assert trial.tool_errors["http_req_failed"] == 75


def test_p95_is_never_read_as_p99():
    assert "99" not in read(TEXT).latency.percentiles


def test_text_and_export_of_one_run_are_one_trial():
    trial = read(TEXT, EXPORT)
    assert trial.disagreements == ()
    assert trial.latency_resolution_us == 0.001


def test_an_export_of_another_run_is_a_disagreement():
    trial = read(TEXT, capture("vus10-3s-text/export.json"))
    assert "225" in trial.disagreements[0]


def test_points_give_a_histogram_and_a_time_series():
    trial = read(POINTS)
    assert trial.histogram.count == trial.samples == 80
    assert sum(part.completed for part in trial.timeline) == 80
    assert sum(part.failed for part in trial.timeline) == trial.errors["status"] == 16


@pytest.mark.parametrize("cut", range(0, len(TEXT), 23))
def test_a_cut_off_text_is_refused_or_says_the_same(cut):
    whole = read(TEXT)
    try:
        trial = read(TEXT[:cut])
    except FormatError:
        return
    assert trial.requests_ok == whole.requests_ok
    assert trial.latency == whole.latency
    assert trial.reported_rps == whole.reported_rps
    assert trial.bytes_received in (None, whole.bytes_received)


def test_points_that_are_cut_off_are_incomplete():
    trial = read(POINTS[: len(POINTS) // 2])
    assert trial.incomplete
    assert trial.samples < 80


def test_a_damaged_point_is_named():
    lines = POINTS.split(b"\n")
    at = next(
        at for at, line in enumerate(lines) if b'"metric":"http_req_duration","type":"P' in line
    )
    lines[at] = lines[at].replace(b'"value":', b'"value":"x', 1)
    with pytest.raises(FormatError) as refused:
        read(b"\n".join(lines))
    assert refused.value.line == at + 1


def test_an_older_summary_has_marks_and_crosses():
    old = (
        b"     http_req_duration..............: avg=4.38ms min=1ms med=3ms max=9ms p(90)=5ms\n"
        b"     http_req_failed................: 25.00% \xe2\x9c\x93 75       \xe2\x9c\x97 225\n"
        b"     http_reqs......................: 300    1986.5/s\n"
        b"     iterations.....................: 300    1986.5/s\n"
    )
    trial = read(old)
    assert (trial.requests_ok, trial.tool_errors["http_req_failed"]) == (225, 75)


def test_two_runs_in_one_paste_are_two_trials():
    first, second = parse([RawArtefact.of("paste", TEXT + b"$ k6 run again.js\n" + TEXT)])
    assert first == second
