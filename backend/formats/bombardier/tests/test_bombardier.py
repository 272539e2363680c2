from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
TEXT = (CAPTURES / "timeouts-text" / "stdout").read_text()
PLAIN = (CAPTURES / "c10-n1000-text" / "stdout").read_text()
JSON = (CAPTURES / "c10-n300-http1-resets-json" / "stdout").read_text()
# Before 1.2 there was no 95 %, and before 0.5 failures had one name and no text.
OLD = """Bombarding http://127.0.0.1:8080 with 1000 requests using 50 connections
Statistics        Avg      Stdev        Max
  Reqs/sec      5551.00    1771.12       7881
  Latency         1.20s     0.90ms     1.02m
  Latency Distribution
     50%     1.10ms
     99%     15.80ms
  HTTP codes:
    1xx - 0, 2xx - 990, 3xx - 0, 4xx - 0, 5xx - 0
    errored - 10
  Throughput:   512.00/s
"""


def read(*texts):
    return parse([RawArtefact.of(f"file{at}", text.encode()) for at, text in enumerate(texts)])


def test_text_of_older_versions_is_read():
    (trial,) = read(OLD)
    assert (trial.url, trial.connections) == ("http://127.0.0.1:8080", 50)
    assert (trial.requests_completed, trial.tool_errors) == (990, {"others": 10})
    assert trial.as_dict()["errors"]["other"] is None
    assert (trial.latency.mean_us, trial.latency.max_us) == (1.2e6, 61.2e6)
    assert (trial.latency_resolution_us, trial.transfer_rate_bytes_s) == (600_000, 512)


def test_a_run_without_statistics_has_counts_only():
    missing = "  There wasn't enough data to compute statistics for"
    lines = PLAIN.splitlines()
    lines[1:3] = [f"{missing} requests.", f"{missing} latencies."]
    (trial,) = read("\n".join(lines))
    assert (trial.reported_rps, trial.latency_origin) == (None, None)
    assert trial.requests_completed == 1000


def test_failures_that_may_be_cut_off_are_unknown():
    (trial,) = read(TEXT[: TEXT.index("  Errors:")])
    assert (trial.requests_completed, trial.incomplete) == (54, True)
    assert (trial.errors.get("timeout"), trial.tool_errors) == (None, {})
    (without,) = read(PLAIN[: PLAIN.index("  Throughput")])
    assert (without.errors["read"], without.incomplete) == (0, True)


def test_text_cut_before_its_counts_is_refused():
    for end in ("Statistics", "HTTP codes", "3xx", "others", "6\n  Errors"):
        with pytest.raises(FormatError, match="cut off before its HTTP codes"):
            read(TEXT[: TEXT.index(end)])


def test_two_runs_in_one_paste_and_one_that_did_not_finish():
    first, unfinished, last = read(f"$ x\n{TEXT}$ y\n{TEXT.splitlines()[0]}\n$ z\n{OLD}")
    assert (first.requests_completed, last.requests_completed) == (54, 990)
    assert isinstance(unfinished, FormatError)


def test_broken_json_is_refused_with_its_place():
    with pytest.raises(FormatError, match="cut off or damaged"):
        read(JSON[:-40])
    with pytest.raises(FormatError, match="missing or invalid figure"):
        read(JSON.replace('"req2xx":266', '"req2xx":"266"'))
    with pytest.raises(FormatError, match="have no result, or several"):
        read(JSON, JSON)


def test_a_run_that_measured_nothing_has_no_latency():
    begin, end = JSON.index(',"latency"'), JSON.index("}}}}")
    (trial,) = read(JSON[:begin] + JSON[end + 2 :])
    assert (trial.reported_rps, trial.latency.mean_us, trial.latency_origin) == (None, None, None)
