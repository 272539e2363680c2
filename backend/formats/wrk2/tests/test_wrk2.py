from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
WHOLE = (CAPTURES / "rate200-rand-U" / "stdout").read_bytes()


def read(data):
    (trial,) = parse([RawArtefact.of("stdout", data)])
    return trial


def test_the_spectrum_becomes_a_histogram_of_what_was_recorded():
    trial = read(WHOLE)
    assert trial.histogram.count == trial.extra["spectrum"]["total_count"] == 594
    for percent, printed in (("50", 28_610), ("90", 47_900), ("99", 54_560)):
        assert trial.histogram.percentile(float(percent)) == pytest.approx(printed, rel=2e-3)


def test_the_uncorrected_distribution_is_never_the_latency():
    trial = read(WHOLE)
    assert trial.latency.percentiles["50"] == 28_610
    assert trial.extra["uncorrected"]["percentiles"]["50"] == 27_360


@pytest.mark.parametrize("cut", range(0, len(WHOLE), 41))
def test_a_cut_off_report_is_incomplete_or_refused_but_never_wrong(cut):
    whole = read(WHOLE)
    try:
        trial = read(WHOLE[:cut])
    except FormatError:
        return
    assert trial.requests_completed == whole.requests_completed
    assert trial.requests_ok in (None, whole.requests_ok)
    assert trial.latency == whole.latency
    assert trial.incomplete or trial == whole


SHORT = """Running 8s test @ http://10.1.0.9/
  2 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.91s     1.02s    3.90s    58.11%
    Req/Sec   411.27     20.15   450.00     71.20%
  6604 requests in 8.02s, 1.31MB read
Requests/sec:    823.44
Transfer/sec:    167.26KB
"""


@pytest.mark.parametrize(
    "command",
    [
        "wrk -t2 -c50 -d8s -R2000 http://10.1.0.9/",
        "$ ./wrk -t2 -c50 -d 8s --rate 2k http://10.1.0.9/",
        "../wrk2/wrk -R 2000 -t2 -c50 -d8s http://10.1.0.9/",
    ],
)
def test_a_command_with_a_rate_above_a_report_is_wrk2s(command):
    trial = read(f"{command}\n{SHORT}".encode())
    assert (trial.tool, trial.loop, trial.requests_completed) == ("wrk2", "open", 6604)


def test_without_a_rate_in_its_command_a_report_is_wrks():
    trial = read(f"wrk -t2 -c50 -d8s -H 'X-R: 5' http://10.1.0.9/\n{SHORT}".encode())
    assert (trial.tool, trial.loop) == ("wrk", "closed")


def test_a_report_of_wrk2_below_one_of_wrk_is_not_read_as_wrks():
    text = f"wrk -c50 http://10.1.0.9/\n{SHORT}\nwrk -R9 http://10.1.0.9/\n{SHORT}"
    first, second = parse([RawArtefact.of("paste", text.encode())])
    assert first.tool == "wrk"
    assert "from wrk2" in second.reason


def test_a_damaged_row_is_named():
    damaged = WHOLE.replace(b"0.500000          297", b"0.500000          x97", 1)
    assert damaged != WHOLE
    with pytest.raises(FormatError, match="x97") as refused:
        read(damaged)
    assert refused.value.line


def test_counts_that_do_not_reach_the_total_are_refused():
    damaged = WHOLE.replace(b"Total count    =          594", b"Total count    =          694", 1)
    with pytest.raises(FormatError, match="694"):
        read(damaged)


def test_a_report_of_wrk_among_reports_of_wrk2_is_refused():
    wrk = (CAPTURES.parents[2] / "wrk/tests/captures/latency-c10-10k/stdout").read_bytes()
    first, second = parse([RawArtefact.of("paste", WHOLE + wrk)])
    assert first.tool == "wrk2"
    assert isinstance(second, FormatError)


def capture(name, tool="wrk2"):
    return (CAPTURES.parents[2] / tool / "tests/captures" / name / "stdout").read_bytes()


def test_a_percentile_between_two_rows_is_the_one_printed_beside_them():
    trial = read(capture("calibrated-rate400"))
    assert trial.latency.percentiles["99"] == 916_990
    # The rows around it are at 907.263 and 947.711 ms.
    assert trial.histogram.percentile(99) == pytest.approx(916_990, rel=1e-3)
    assert trial.histogram.count == 940


def test_a_processor_that_prints_nan_without_a_sign_makes_no_report_of_wrk():
    trial = read(capture("plain-rate1000-nolatency").replace(b"-nan", b" nan"))
    assert (trial.tool, trial.loop) == ("wrk2", "open")


def test_a_percentile_where_others_print_the_maximum_is_no_maximum():
    variant = WHOLE.replace(b"    Max  ", b"    99%  ", 1)
    assert variant != WHOLE
    trial = read(variant)
    assert trial.latency.max_us is None
    assert trial.latency.percentiles == read(WHOLE).latency.percentiles


def in_microseconds(report):
    """The report as printed before November 2014: the spectrum in µs."""
    lines = report.decode().split("\n")
    return "\n".join(_times_1000(line) for line in lines).encode()


def _times_1000(line):
    words = line.split()
    if len(words) == 4 and words[0].replace(".", "").isdigit():
        return " ".join([f"{float(words[0]) * 1000:.3f}", *words[1:]])
    if words[:1] in (["#[Mean"], ["#[Max"]):
        words = [
            f"{float(word.strip(',]')) * 1000:.3f}," if "." in word else word for word in words
        ]
        return " ".join(words)
    return line


def test_a_spectrum_in_microseconds_is_told_by_the_report_above_it():
    old, new = read(in_microseconds(WHOLE)), read(WHOLE)
    assert in_microseconds(WHOLE) != WHOLE
    assert old.extra["spectrum"] == new.extra["spectrum"]
    assert old.histogram.percentile(99) == new.histogram.percentile(99)


def test_a_spectrum_of_another_report_is_refused():
    with pytest.raises(FormatError, match="of another run than the report"):
        read(WHOLE.replace(b"    Latency    27.89ms", b"    Latency    12.34ms", 1))


def test_rows_that_do_not_reach_all_requests_are_refused():
    with pytest.raises(FormatError, match="damaged or cut off"):
        read(WHOLE.replace(b"     1.000000          594          inf", b"     0.9 594 10.00", 1))


@pytest.mark.parametrize("lines", [1, 2])
def test_a_report_without_its_first_lines_is_read(lines):
    trial = read(WHOLE.split(b"\n", lines)[lines])
    assert (trial.tool, trial.url, trial.requests_completed) == ("wrk2", None, 597)
    assert trial.connections == (10 if lines == 1 else None)


def test_a_row_longer_than_any_test_is_damaged():
    """In 64 bits it would be a negative time, on which the parser ended."""
    last = WHOLE.split(b"1.000000")[0].rsplit(b"\n", 1)[1]
    with pytest.raises(FormatError, match="damaged or cut off"):
        parse([RawArtefact.of("stdout", WHOLE.replace(last, b"9" * 18 + b".000     ", 1))])
