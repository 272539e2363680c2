import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse, vegeta
from backend.formats.text import Source

CAPTURES = Path(__file__).parent / "captures"
TIMEOUTS = CAPTURES / "rate100-3s-timeouts-text"
GOB = (TIMEOUTS / "results.bin").read_bytes()
LINES = (TIMEOUTS / "results.json").read_bytes()
CSV = (CAPTURES / "rate200-3s-resets-csv" / "stdout").read_bytes()
TEXT = (TIMEOUTS / "stdout").read_bytes()
EVERY = (CAPTURES / "rate50-3s-every-text" / "stdout").read_bytes()
REPORT = json.loads((CAPTURES / "rate100-3s-500s-text" / "report.json").read_text())
# 12.0 to 12.6 printed durations in full, and no minimum; 4.0 printed no throughput.
OLD_TEXT = b"""Requests      [total, rate]            1200, 120.00
Duration      [total, attack, wait]    10.094965987s, 9.949883921s, 145.082066ms
Latencies     [mean, 50, 95, 99, max]  113.172398ms, 108.272568ms, 140.18235ms, 247.771566ms, 1.2s
Bytes In      [total, mean]            3714690, 3095.57
Bytes Out     [total, mean]            0, 0.00
Success       [ratio]                  55.42%
Status Codes  [code:count]             0:535  200:665
Error Set:
Get http://localhost:6060: dial tcp 127.0.0.1:6060: connection refused
Get http://localhost:6060: read tcp 127.0.0.1:6060: connection reset by peer
"""


def read(*files):
    return parse([RawArtefact.of(f"file{at}", data) for at, data in enumerate(files)])


def as_old_json(**changes):
    row = {
        "code": 200,
        "timestamp": "2015-09-19T14:45:50+01:00",
        "latency": 4_000_000,
        "bytes_out": 0,
        "bytes_in": 5,
        "error": "",
    }
    return json.dumps(row | changes).encode() + b"\n"


def test_gob_and_json_lines_say_the_same():
    (gob,), (lines,) = read(GOB), read(LINES)
    assert gob.as_dict() == lines.as_dict()
    assert gob.histogram.encode() == lines.histogram.encode()
    assert gob.timeline == lines.timeline


def test_results_have_a_slice_for_each_second_and_no_latency_of_a_timeout():
    (trial,) = read(LINES)
    rows = [json.loads(line) for line in LINES.splitlines()]
    answered = [row["latency"] / 1000 for row in rows if row["code"]]
    assert trial.histogram.count == len(answered) == 294
    assert trial.histogram.max_us == pytest.approx(max(answered), rel=0.001)
    assert sum(part.completed for part in trial.timeline) == 294
    assert sum(part.failed for part in trial.timeline) == 6
    assert len(trial.timeline) == 4


def test_a_cut_gob_or_json_line_leaves_the_results_before_it():
    for data in (GOB, LINES):
        (trial,) = read(data[:-30])
        assert (trial.samples, trial.incomplete) == (299, True)


def test_damaged_results_are_refused():
    with pytest.raises(FormatError, match=r"damaged.*in message 5"):
        read(GOB.replace(b"\x0f\x01\x00\x00\x00", b"\x0f\x09\x00\x00\x00", 1))
    first, second, *others = LINES.splitlines(keepends=True)
    damaged = b"".join((first, second.replace(b'"code":', b'"code"'), *others))
    with pytest.raises(FormatError, match=r"Line 2\."):
        read(damaged)
    with pytest.raises(FormatError, match="impossible latency"):
        read(CSV.replace(b",12482414,", b",-12482414,", 1))


def test_results_of_older_versions_are_read():
    (lines,) = read(as_old_json() + as_old_json(code=0, error="EOF", bytes_in=0))
    assert (lines.url, lines.errors["read"], lines.timeline[0].completed) == (None, 1, 1)
    for cells in (6, 9):
        rows = [b",".join(row.split(b",")[:cells]) for row in CSV.split(b"\n")]
        (trial,) = read(b"\n".join(rows))
        assert (trial.samples, trial.errors["read"], trial.url) == (600, 6, None)


def test_a_prompt_before_json_lines_is_passed_over():
    (trial,) = read(b"$ vegeta encode < results.bin\n" + LINES)
    assert trial.samples == 300
    quoted = b"".join(b"> " + line for line in LINES.splitlines(keepends=True))
    (trial,) = read(quoted + b"> user@host:~$\n")
    assert trial.samples == 300


def test_several_targets_have_no_single_url():
    (trial,) = read(as_old_json(url="http://a/") + as_old_json(url="http://b/"))
    assert trial.url is None


def test_texts_without_end_are_counted_together():
    rows = (as_old_json(code=0, error=f"read tcp 127.0.0.1:{port}: EOF") for port in range(1500))
    (trial,) = read(b"".join(rows))
    assert trial.errors["read"] == 1500
    assert len(trial.tool_errors) == 101
    assert trial.tool_errors["others"] == 1400


def test_the_text_of_older_versions_is_read():
    (trial,) = read(OLD_TEXT)
    assert (trial.elapsed_s, trial.reported_rps) == (10.094965987, 120.0)
    assert (trial.requests_completed, trial.requests_ok) == (665, 665)
    assert trial.latency.percentiles == {"50": 108272.568, "95": 140182.35, "99": 247771.566}
    assert (trial.latency.min_us, trial.latency_resolution_us) == (None, 0.001)
    # Two classes, and no counts: neither is known, and the others are zero.
    assert (trial.errors["connect"], trial.errors["read"], trial.errors["timeout"]) == (
        None,
        None,
        0,
    )


def test_a_text_cut_before_its_last_row_is_refused():
    for end in (b"Status Codes", b"200:294", b"94  "):
        with pytest.raises(FormatError, match="cut off before the end of its status codes"):
            read(TEXT[: TEXT.index(end)])
    (trial,) = read(TEXT[: TEXT.index(b"Error Set")])
    assert (trial.requests_completed, trial.errors["timeout"], trial.incomplete) == (
        294,
        None,
        True,
    )
    (cut_in_words,) = read(TEXT[: TEXT.index(b"exceeded")])
    assert cut_in_words.errors["timeout"] is None


def test_a_prompt_behind_a_text_is_no_error():
    (trial,) = read(TEXT + b"user@host:~$ \n")
    assert trial.errors["timeout"] == 6


def test_reports_that_were_to_be_replaced_are_no_result():
    with pytest.raises(FormatError, match="its last report is missing"):
        read(EVERY[: EVERY.rindex(b"Requests")])


def test_a_json_report_with_buckets_or_of_older_versions():
    (trial,) = read(json.dumps(REPORT | {"buckets": {"0": 299, "50000000": 1}}).encode())
    assert trial.extra == {"buckets_us": [[0.0, 50000.0, 299], [50000.0, None, 1]]}
    old = {key: REPORT[key] for key in REPORT if key not in ("throughput", "rate", "wait")}
    (trial,) = read(json.dumps(old).encode())
    assert (trial.reported_rps, trial.elapsed_s) == (None, 2.986768987)
    with pytest.raises(FormatError, match="missing or invalid figure"):
        read(json.dumps(REPORT | {"status_codes": {"200": 12}}).encode())


def test_a_report_of_no_request_measures_nothing():
    nothing = {"total": 0, "mean": 0}
    zeros = {"mean": 0, "50th": 0, "95th": 0, "99th": 0, "max": 0}
    empty = {"latencies": zeros, "bytes_in": nothing, "requests": 0, "status_codes": {}}
    (trial,) = read(json.dumps(REPORT | empty | {"errors": []}).encode())
    assert (trial.requests_completed, trial.latency.max_us, trial.latency_origin) == (0, None, None)


def test_files_of_other_runs_disagree():
    (trial,) = read(GOB, TEXT.replace(b"3822", b"3823"))
    assert trial.elapsed_s == 3.431
    assert trial.disagreements == ("bytes_received is 3822 in one file and 3823 in another",)
    with pytest.raises(FormatError, match="do not belong to one trial"):
        read(GOB, TEXT + TEXT)


def test_a_part_without_a_report_has_no_run():
    assert vegeta.read([Source(RawArtefact.of("part", b"no report"))]) == []
