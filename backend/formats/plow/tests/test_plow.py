import re
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse, text

CAPTURES = Path(__file__).parent / "captures"
TEXT = (CAPTURES / "c10-n2000-text" / "stdout").read_text()
EVERY = (CAPTURES / "every-text" / "stdout").read_text()
SNAPSHOTS = (CAPTURES / "c10-n600-snapshots-json" / "stdout").read_text()
TIMEOUTS = (CAPTURES / "timeouts-text" / "stdout").read_text()
INTRO = "Benchmarking http://127.0.0.1:8080/ for 1m0s using 10 connection(s).\n"


def read(*texts):
    return parse([RawArtefact.of(f"file{at}", text.encode()) for at, text in enumerate(texts)])


def test_status_codes_that_count_failed_attempts_are_a_disagreement():
    (trial,) = read(TIMEOUTS)
    assert (trial.requests_ok, trial.outcome.failed, trial.outcome.attempts) == (54, 6, 60)
    assert trial.disagreements == (
        "the status codes stand for 59 responses, Count less errors is 54",
    )
    (with_500s,) = read(TIMEOUTS.replace("2xx", "5xx"))
    assert (with_500s.errors["status"], with_500s.requests_ok) == (None, None)
    # All answers are 5xx: 6 errors and 59 statuses are printed, of 60 attempts.
    assert with_500s.outcome.error_rate == 1.0


def test_stderr_says_what_was_asked_for():
    (trial,) = read(TEXT, INTRO)
    assert (trial.url, trial.requested_duration_s) == ("http://127.0.0.1:8080/", 60.0)
    with pytest.raises(FormatError, match="no result"):
        read(INTRO)


def test_two_runs_in_one_paste():
    first, last = read(f"$ plow a\n{INTRO}\n{TEXT}$ plow b\n{TIMEOUTS}")
    assert (first.url, first.requests_completed) == ("http://127.0.0.1:8080/", 2000)
    assert last.requests_completed == 54
    json = SNAPSHOTS[SNAPSHOTS.rindex('{\n  "Summary"') :]
    assert [run.requests_completed for run in read(f"{json}$ plow b\n{SNAPSHOTS}")] == [600, 600]


def test_output_that_ends_in_a_snapshot_is_refused():
    with pytest.raises(FormatError, match="its last snapshot is missing"):
        read(EVERY[: EVERY.rindex("Summary")])
    with pytest.raises(FormatError, match="its last snapshot is missing"):
        read(SNAPSHOTS[:-100])


@pytest.mark.parametrize("snapshots", [SNAPSHOTS, EVERY])
def test_snapshots_in_a_file_too_long_for_a_report_name_limit_and_size(snapshots, monkeypatch):
    """The result is the last one; only the head of such a file is looked at."""
    monkeypatch.setattr(text, "REPORT_BYTES", 2 * text.HEAD_BYTES)
    long = snapshots * (1 + 2 * text.HEAD_BYTES // len(snapshots))
    with pytest.raises(FormatError, match="Send the last snapshot alone") as refused:
        read(long)
    assert refused.value.found == f"{len(long.encode()):,} bytes"
    assert refused.value.expected == "a report of at most 16 MiB"


def test_text_cut_before_its_latencies_is_refused_and_behind_them_incomplete():
    for end in ("RPS", "Writes", "Statistics", "13.285ms\n"):
        with pytest.raises(FormatError, match="cut off before its latency row"):
            read(TEXT[: TEXT.index(end)])
    (trial,) = read(TEXT[: TEXT.index("  1.014ms")])
    assert (trial.latency.max_us, trial.latency.percentiles, trial.incomplete) == (13285, {}, True)


def test_text_of_versions_without_concurrency_is_read():
    old = "".join(line for line in TEXT.splitlines(True) if "Concurrency" not in line)
    (trial,) = read(old.replace("200ms", "281ms"))
    assert (trial.connections, trial.elapsed_s) == (None, 0.281)


def test_a_json_with_a_figure_of_another_kind_is_refused():
    with pytest.raises(FormatError, match="missing or invalid figure"):
        read(
            SNAPSHOTS[SNAPSHOTS.rindex('{\n  "Summary"') :].replace('"Count": 600', '"Count": "x"')
        )


def test_the_same_snapshot_behind_a_prompt_is_of_another_run():
    json = SNAPSHOTS[SNAPSHOTS.rindex('{\n  "Summary"') :]
    assert len(read(json + json)) == 1
    assert len(read(f"{json}$ load --json\n{json}")) == 2


def test_an_introduction_without_its_figures_is_no_fault():
    (trial,) = read(TEXT.replace("connection(s).", "", 1) + "Benchmarking connection(s).\n")
    assert trial.requests_completed == 2000


def without_shares(text):
    """As plow 1.0 prints its histogram."""
    return "".join(
        re.sub(r" +[0-9.]+%", "  \u25a0\u25a0", line) for line in text.splitlines(keepends=True)
    )


def test_a_histogram_of_older_versions_has_no_shares():
    old = without_shares(TEXT)
    assert "%" not in old
    assert read(old) == read(TEXT)
    first, second = read(f"$ plow a\n{old}$ plow b\n{old}")
    assert first.requests_completed == second.requests_completed == 2000


def test_snapshots_of_a_run_without_a_limit_are_one_run():
    """They have no bars beside the time, and older versions no shares at the end."""
    bare = re.sub(r" +\|[^|\n]*\|", "", without_shares(EVERY))
    (trial,) = read(bare)
    assert trial == read(EVERY)[0]
    assert len(read(bare + "$ plow again\n" + bare)) == 2
