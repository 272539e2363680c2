import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
TEXT = (CAPTURES / "c20-hang-t1s-text" / "stdout").read_text()
JSON = json.loads((CAPTURES / "c100-4s-json" / "stdout").read_text())
CSV = (CAPTURES / "mixed-csv" / "stdout").read_text()


def read(*texts):
    return parse([RawArtefact.of(f"file{at}", text.encode()) for at, text in enumerate(texts)])


def test_the_layout_of_the_first_versions_is_read():
    old = (
        (CAPTURES / "seconds-text" / "stdout")
        .read_text()
        .replace(" sec", " secs")
        .replace("100.00%\n", "1.0000\n")
        .replace("Response time distribution:", "Latency distribution:")
        .replace(" secs [", " [")
        .replace(".00% in", "% in")
    )
    (trial,) = read(old)
    assert (trial.requests_completed, trial.elapsed_s) == (400, 3.3711)
    assert trial.latency.percentiles["95"] == 29800.0


def test_ten_seconds_may_be_the_unit():
    slow = (CAPTURES / "seconds-text" / "stdout").read_text().replace("3.3711 sec", "0.3371 10 sec")
    (trial,) = read(slow)
    assert trial.elapsed_s == 3.371


@pytest.mark.parametrize("cut", range(0, len(TEXT.encode()), 7))
def test_a_cut_off_report_is_incomplete_or_refused_but_never_wrong(cut):
    (whole,) = read(TEXT)
    try:
        (trial,) = parse([RawArtefact.of("cut", TEXT.encode()[:cut])])
    except FormatError:
        return
    assert trial.status_counts == whole.status_counts
    assert trial.errors.get("timeout") in (None, 60)
    assert trial.incomplete or trial == whole


def test_a_summary_alone_is_refused_for_what_it_lacks():
    text = """Summary:
  Success rate:\t100.00%
  Total:\t3.2110 secs
  Slowest:\t0.0310 secs
  Fastest:\t0.0007 secs
  Average:\t0.0042 secs
  Requests/sec:\t11832.4410
"""
    with pytest.raises(FormatError, match="cut off before its status codes"):
        parse([RawArtefact.of("text", text.encode())])


def test_status_lines_that_the_histogram_contradicts_are_refused():
    with pytest.raises(FormatError, match="cut off or damaged"):
        read(TEXT.replace("[200] 1569", "[200] 1560"))


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Connection refused (os error 111)", "connect"),
        ("error trying to connect: tcp connect error", "connect"),
        ("connection closed before message completed", "read"),
        ("Broken pipe (os error 32)", "write"),
        ("timeout", "timeout"),
        ("Redirection limit has reached", "other"),
    ],
)
def test_messages_have_a_class(message, name):
    (trial,) = read(json.dumps({**JSON, "errorDistribution": {message: 7}}))
    assert trial.errors[name] == 7
    assert sum(count or 0 for count in trial.errors.values()) == 7


def test_requests_in_flight_at_the_end_are_no_errors():
    (trial,) = read(json.dumps(JSON))
    assert not any(trial.errors.values())
    assert trial.tool_errors == {"aborted due to deadline": 100}


def test_a_json_of_before_the_metrics_block_is_read():
    old = {key: JSON[key] for key in JSON if not key.startswith(("metrics", "firstByte"))}
    assert read(json.dumps(old))[0] == read(json.dumps(JSON))[0]


@pytest.mark.parametrize(
    "damage", [{"statusCodeDistribution": {"2x0": 1}}, {"statusCodeDistribution": {"200": 1.5}}]
)
def test_damaged_counts_are_refused(damage):
    with pytest.raises(FormatError, match="missing or invalid figure"):
        read(json.dumps({**JSON, **damage}))


def test_a_last_row_that_is_cut_off_is_left_out():
    for cut in range(1, 30):
        (trial,) = read(CSV[:-cut])
        assert trial.samples in (199, 200)
        assert trial.status_counts.keys() <= {"200", "301", "404", "503"}


def test_a_broken_row_is_refused():
    with pytest.raises(FormatError, match="damaged row"):
        read(CSV.replace(",2,404\n", ",2,4\n", 1))
    with pytest.raises(FormatError, match="damaged row"):
        read(CSV.replace("0.001910938,", "-0.001910938,", 1))


def test_rows_make_a_time_series():
    (trial,) = read((CAPTURES / "c10-n3000-csv" / "stdout").read_text())
    assert (len(trial.timeline), sum(part.completed for part in trial.timeline)) == (8, 3000)


def test_rows_of_another_run_are_a_disagreement():
    (trial,) = read(json.dumps(JSON), CSV)
    assert (trial.requests_completed, trial.samples) == (15113, None)
    assert "the CSV" in trial.disagreements[0]
