import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"


def capture(name):
    return json.loads((CAPTURES / name / f"{name}.json").read_text())


def read(rows, name="baseline-512.json"):
    text = rows if isinstance(rows, str) else json.dumps(rows, indent=2)
    return parse([RawArtefact.of(name, text.encode())])


def row(**fields):
    return {**capture("crud-512")[0], **fields}


def test_a_row_that_agrees_with_itself_has_no_remark():
    (trial,) = read([row()])
    assert trial.disagreements == ()


def test_a_duration_that_is_not_that_of_the_responses_is_told():
    slow, failing = read(capture("api-4-256"), "api-4-256.json")
    assert slow.disagreements == (
        "114523 responses at 7634 requests/s take 15 s, but the printed duration is 5 s.",
    )
    assert failing.disagreements[1] == (
        "The printed rate leaves out the responses with status 4xx or 5xx: 15433 of 241218."
    )


def test_a_rate_that_counts_no_responses_is_unknown_and_told():
    trial, _ = read(capture("stream-grpc-64"), "stream-grpc-64.json")
    assert trial.reported_rps is None
    assert trial.disagreements[0] == (
        "8631 responses in 5 s are 1726.2 requests/s, "
        "but the printed rate is 8.63e+06: it does not count responses."
    )


def test_a_rate_of_zero_beside_responses_is_told():
    (trial,) = read([row(rps=0)])
    assert "but the printed rate is 0: it does not count responses." in trial.disagreements[0]


def test_a_rate_that_counts_failed_responses_too_is_no_contradiction():
    (trial,) = read([row(rps=294864, status_2xx=11817, status_5xx=1462506)])
    assert (trial.reported_rps, trial.requests_ok) == (294864, 11817)
    assert trial.disagreements == ()


def test_a_rate_of_nothing_but_failures_is_unknown():
    caddy, _, _ = read(capture("pipelined-512"), "pipelined-512.json")
    assert (caddy.reported_rps, caddy.requests_ok) == (None, 0)
    assert caddy.disagreements == (
        "The printed rate leaves out the responses with status 4xx or 5xx: 3002243 of 3002243.",
    )


def test_a_p99_that_is_the_mean_is_unknown_and_told():
    trial = read(capture("baseline-h2c-256"), "baseline-h2c-256.json")[0]
    assert trial.latency.percentiles == {}
    assert trial.disagreements == ("The printed p99 equals the mean, 4.12 ms; p99 is unknown.",)


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        ("site/data/static-h2-512.json", {"name": "static-h2"}),
        ("paste.txt", {}),
        ("baseline-4096.json", {}),
        ("-512.json", {}),
    ],
)
def test_the_name_of_the_file_says_the_test(name, workload):
    (trial,) = read([row()], name)
    assert trial.workload == workload
    place = {"place": Path(name).name} if workload else {}
    assert trial.publication == {"source": "HttpArena", **place}


def test_files_of_one_archive_are_read_together():
    names = ("crud-512", "baseline-h2c-256")
    files = [(f"data/{name}.json", json.dumps(capture(name))) for name in names]
    others = [("data/current.json", '{"cpu": "AMD"}'), ("data/json-16384.json", "[]")]
    entries = parse([RawArtefact.of(name, text.encode()) for name, text in files + others])
    assert [entry.workload["name"] for entry in entries] == ["crud", *["baseline-h2c"] * 5]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"rps": "fast"}, "'fast' is not a number"),
        ({"framework": " "}, "not a name"),
        ({"framework": "x" * 201}, "more than 200 characters"),
        ({"language": 3}, "not a name"),
        ({"avg_latency": "slow"}, "'slow' is not a duration"),
        ({"duration": "0s"}, "the duration 0 s"),
        ({"connections": 2**31}, "above 2147483647"),
        ({"status_5xx": -1}, "is not a number from 0 on"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_and_the_others_are_read(fields, reason):
    trial, refused = read([row(), row(**fields)])
    assert trial.requests_completed == 1732981
    assert isinstance(refused, FormatError)
    assert reason in str(refused)


def test_a_row_without_counts_is_refused():
    bare = {name: value for name, value in row().items() if not name.startswith("status_")}
    with pytest.raises(FormatError, match="no status_2xx"):
        read([bare])


def test_a_file_that_is_cut_off_is_refused():
    with pytest.raises(FormatError, match="The summary of HttpArena is cut off or damaged"):
        read(json.dumps([row(), row()], indent=2)[:-40])
