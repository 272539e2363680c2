from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"


def capture(name):
    return (CAPTURES / name).read_bytes()


def read(*files):
    return parse([RawArtefact.of(f"file {n}", text) for n, text in enumerate(files)])


def result(**changes):
    whole = orjson.loads(capture("c20-n600-500s-json/stdout"))
    return orjson.dumps({**whole, **changes})


@pytest.mark.long
@pytest.mark.parametrize("case", ["c8-n300-resets-text", "c10-qps200-3s-text"])
def test_a_text_cut_anywhere_is_never_wrong(case):
    raw = capture(f"{case}/stderr")
    (whole,) = read(raw)
    for cut in range(0, len(raw), 7):
        try:
            entries = read(raw[:cut])
        except FormatError:
            continue
        # A line of its log that is cut off is told beside the report.
        parts = [entry for entry in entries if not isinstance(entry, FormatError)]
        if not parts:
            continue
        (part,) = parts
        assert (part.requests_completed, part.latency) == (whole.requests_completed, whole.latency)
        assert part.bytes_received in (None, whole.bytes_received)
        assert part.incomplete or part == whole


def test_coarse_buckets_make_no_histogram():
    (trial,) = read(capture("c10-qps200-3s-json/stdout"))
    assert (trial.latency_origin, trial.histogram) == ("histogram", None)


def test_json_and_text_of_one_trial_are_read_together():
    text, document = (
        capture("c8-n300-resets-text/stderr"),
        capture("c8-n300-resets-text/result.json"),
    )
    (trial,) = read(text, document)
    assert (trial.latency.mean_us, trial.keepalive) == (5758.668337, True)
    assert trial.disagreements == ()


def test_a_text_of_another_run_is_a_disagreement():
    (trial,) = read(result(), capture("c8-n300-resets-text/stderr"))
    assert "requests_completed is 600 in file 0 and 294 in file 1" in trial.disagreements


def test_a_quoted_text_says_the_same():
    raw = capture("c10-qps200-3s-text/stderr")
    (quoted,) = read(b"\n".join(b"> " + line for line in raw.split(b"\n")))
    assert quoted.notes == ("The quote marks of a mail were removed.",)
    assert [replace(quoted, notes=())] == read(raw)


def test_two_runs_in_one_paste():
    runs = read(
        capture("c8-n300-resets-text/stderr") + b"$\n" + capture("c4-n400-nokeepalive-text/stderr")
    )
    assert [run.requests_completed for run in runs] == [294, 400]


@pytest.mark.parametrize(
    "changes",
    [
        {"RunType": "GRPC Ping"},
        {"RetCodes": {"200": 599}},
        {"RetCodes": {"x": 600}},
        {"RetCodes": None},
        {"ActualDuration": "1"},
        {"NumThreads": 1.5},
    ],
)
def test_damaged_json_is_refused(changes):
    with pytest.raises(FormatError, match="fortio JSON"):
        read(result(**changes))


def test_what_an_older_fortio_did_not_write_is_unknown():
    older = orjson.loads(result())
    for name in ("Resolution", "DisableKeepAlive", "Sizes", "Exactly", "ErrorsDurationHistogram"):
        del older[name]
    (trial,) = read(orjson.dumps(older))
    assert (trial.latency_resolution_us, trial.keepalive, trial.bytes_received) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("3s", 3), ("1m30s", 90), ("5s, interrupted after 44", 5), ("until stop", None)],
)
def test_the_duration_asked_for(asked, seconds):
    (trial,) = read(result(Exactly=0, RequestedDuration=asked))
    assert trial.requested_duration_s == seconds
