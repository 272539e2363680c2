"""Rows of a part of the requests are never the source of a report's latencies."""

import json

import pytest

from backend.formats import RawArtefact, parse
from backend.formats.tests.test_captures import FORMATS
from backend.formats.together import WHOLE_SHARE

# A capture: the report, the rows of its requests, and how many lines of these are a head.
PAIRS = {
    "ab": ("rand-c10-tsv-csv/stdout", "plot.tsv", 1),
    "gatling": ("own-3.11-groups/stdout", "simulation.log", 4),
    "h2load": ("h1-c10-n3000-log/stdout", "req.log", 0),
    "k6": ("own-timeouts/export.json", "results.json", 0),
    "siege": ("verbose-err500-c5-r40/stderr", "stdout", 0),
    "jmeter": ("c10-n2000-csv/stdout", "results.jtl", 1),
}


def file_of(tool, path):
    return (FORMATS / tool / "tests" / "captures" / path).read_bytes()


def read(*files):
    (trial,) = parse([RawArtefact.of(f"file {at}", data) for at, data in enumerate(files)])
    return trial


def pair(tool):
    path, rows, heads = PAIRS[tool]
    report = file_of(tool, path)
    return report, file_of(tool, f"{path.partition('/')[0]}/{rows}").splitlines(True), heads


def figures(trial):
    return (trial.requests_completed, trial.requests_ok, trial.reported_rps, trial.latency)


@pytest.mark.parametrize("tool", PAIRS)
def test_all_rows_are_the_source_of_the_latencies(tool):
    report, rows, _ = pair(tool)
    whole = read(report, b"".join(rows))
    assert whole.histogram.count > 0
    assert whole.partial_samples == ""


@pytest.mark.parametrize("tool", PAIRS)
@pytest.mark.parametrize("is_tail", [False, True])
def test_a_part_of_the_rows_is_not(tool, is_tail):
    report, rows, heads = pair(tool)
    half = heads + (len(rows) - heads) // 2
    kept = rows[:heads] + rows[half:] if is_tail else rows[:half]
    for files in ((report, b"".join(kept)), (b"".join(kept), report)):
        trial = read(*files)
        assert figures(trial) == figures(read(report))
        assert (trial.histogram, trial.samples, trial.timeline) == (None, None, ())
        assert trial.partial_samples.startswith("The rows beside the report hold ")
        assert not trial.incomplete


def test_a_binary_log_or_a_report_of_vegeta():
    case = "rate200-4s-allformats"
    log = file_of("vegeta", f"{case}/results.bin")
    report = json.loads(file_of("vegeta", f"{case}/report.json"))
    alone = read(json.dumps(report).encode())
    assert read(log, json.dumps(report).encode()).histogram.count == 800
    report["requests"] = report["status_codes"]["200"] = 8_000
    trial = read(log, json.dumps(report).encode())
    assert (trial.histogram, trial.latency) == (None, alone.latency)
    assert "hold 800 of its 8,000 requests" in trial.partial_samples


def test_the_tail_of_a_verbose_log_in_one_text():
    """As a terminal keeps the last lines of a run: its start is gone with the first rows."""
    case = "verbose-err500-c5-r40"
    rows, report = (file_of("siege", f"{case}/{name}") for name in ("stdout", "stderr"))
    text = b"".join(rows.splitlines(True)[-20:]) + report[report.index(b"Transactions:") :]
    trial = read(text)
    assert figures(trial) == figures(read(report))
    assert trial.status_counts is None
    assert "of its 172 requests" in trial.partial_samples


def test_rows_that_hold_nearly_all_are_the_whole():
    report, rows, heads = pair("ab")
    missing = round((1 - WHOLE_SHARE) * (len(rows) - heads))
    assert read(report, b"".join(rows[:-missing])).histogram.count == 1000 - missing
    assert read(report, b"".join(rows[: -missing - 1])).histogram is None


def test_what_is_true_of_all_requests_is_kept_of_a_part():
    report, rows, _ = pair("k6")
    url = read(b"".join(rows)).url
    assert url
    assert read(report, b"".join(rows[: len(rows) // 2])).url == url


def test_files_that_lag_behind_the_console_are_a_part():
    """locust writes its CSV files once a second, and not at the end."""
    case = "u20-500s-3s-csv"
    files, console = (file_of("locust", f"{case}/{name}") for name in ("out_stats.csv", "stderr"))
    trial = read(files, console)
    assert figures(trial) == figures(read(console))
    assert "hold 2,565 of its 2,883 successful requests" in trial.partial_samples
