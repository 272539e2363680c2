from pathlib import Path

import pytest

from backend.formats import TOOLS, FormatError, RawArtefact, parse
from backend.formats.text import Source

CAPTURES = Path(__file__).parent / "captures"


def capture(name):
    return (CAPTURES / name / "stdout").read_bytes()


WHOLE = capture("latency-c10-10k")
PLAIN = capture("plain-c1")


def read(data):
    (trial,) = parse([RawArtefact.of("stdout", data)])
    return trial


def test_without_its_first_line_a_report_has_no_url():
    whole, trial = read(WHOLE), read(WHOLE.split(b"\n", 1)[1])
    assert (trial.url, trial.requested_duration_s) == (None, None)
    assert (trial.threads, trial.connections) == (2, 10)
    assert (trial.requests_completed, trial.latency) == (whole.requests_completed, whole.latency)


def test_without_its_first_two_lines_a_report_has_no_connections():
    trial = read(WHOLE.split(b"\n", 2)[2])
    assert (trial.url, trial.threads, trial.connections) == (None, None, None)
    assert trial.requests_completed == read(WHOLE).requests_completed


def test_what_may_be_wrk2s_as_well_is_refused():
    with pytest.raises(FormatError, match="from wrk or from wrk2") as refused:
        read(PLAIN.split(b"\n", 2)[2])
    assert refused.value.line == 1


def test_a_report_behind_one_without_its_first_line_is_an_entry_of_its_own():
    first, second = parse([RawArtefact.of("paste", WHOLE.split(b"\n", 1)[1] + PLAIN)])
    assert first.requests_completed == read(WHOLE).requests_completed
    assert (second.url, second.requests_completed) == (read(PLAIN).url, 3732)


def test_versions_before_2_were_asked_for_requests():
    line = WHOLE.split(b"\n", 1)[0]
    url = line.partition(b" test @ ")[2]
    trial = read(WHOLE.replace(line, b"Making 100000 requests to " + url, 1))
    assert (trial.requested_requests, trial.requested_duration_s) == (100_000, None)
    assert trial.url == read(WHOLE).url


def test_versions_before_2_count_what_waits_so_their_successes_are_unknown():
    late = capture("late-timeout1s-c10")
    line = late.split(b"\n", 1)[0]
    trial = read(late.replace(line, b"Making 500 requests to http://127.0.0.1:18101/", 1))
    assert trial.errors["timeout"]
    assert trial.requests_ok is None


MAIL = """It fails now and then:

Running 20s test @ http://10.1.0.9:80/
  4 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.51ms    7.13ms 191.20ms   95.02%
    Req/Sec     3.11k   402.88     4.92k    70.11%
  247310 requests in 20.04s, 31.20MB read
"""


@pytest.mark.parametrize(
    ("lines", "status", "read_errors", "failed"),
    [
        ("Non-2xx or 3xx responses: 5\n\nThat is a 400.\n", 5, 0, 5),
        ("  Socket errors: connect 0, read 4, write 0, timeout 0\n\nBye\n", None, 4, None),
        ("Non-2xx or 3xx responses: 5", None, None, None),
        ("\nBye\n", None, None, None),
    ],
)
def test_errors_that_are_printed_are_read_without_the_lines_below_them(
    lines, status, read_errors, failed
):
    trial = read(f"{MAIL}{lines}".encode())
    assert trial.incomplete
    assert (trial.errors.get("status"), trial.errors.get("read")) == (status, read_errors)
    assert trial.outcome.failed == failed


ENDED = MAIL + "Requests/sec:  12340.82\nTransfer/sec:      1.56MB\n"


@pytest.mark.parametrize(
    ("below", "failed"),
    [
        ("Non-2xx or 3xx responses: 5\n", 5),
        ("Non-2xx or 3xx responses: none of them\n", 0),
        # Digits may be missing.
        ("Non-2xx or 3xx responses: 5", 0),
        # Behind another rate it is of another report, whose first lines are missing.
        ("Requests/sec:  9000.00\nNon-2xx or 3xx responses: 5\n", 0),
    ],
)
def test_a_line_of_errors_below_the_report_is_not_passed_over(below, failed):
    assert read(f"{ENDED}{below}".encode()).outcome.failed == failed


def test_words_about_threads_and_connections_are_no_report():
    with pytest.raises(FormatError, match="We don't recognise this"):
        read(b"We ran it with\n4 threads and 100 connections\nfor a minute.\n")


@pytest.mark.parametrize("cut", range(0, len(WHOLE), 3))
def test_a_report_without_its_beginning_is_never_read_wrongly(cut):
    whole = read(WHOLE)
    try:
        trial = read(WHOLE[cut:])
    except FormatError:
        return
    assert trial.requests_completed == whole.requests_completed
    assert trial.url in (None, whole.url)
    assert trial.connections in (None, whole.connections)
    assert trial.latency.max_us in (None, whole.latency.max_us)


STEADY = capture("latency-rand-c100")


def test_the_rate_of_steady_threads_is_read():
    assert read(STEADY).threads_rps == 3_580


def test_a_part_without_a_report_is_refused():
    """As of text with the outputs of two tools, which is cut in several ways."""
    with pytest.raises(FormatError, match=r"This part has no report of wrk\."):
        TOOLS["wrk"].read([Source(RawArtefact.of("out.txt", b"1,0,R,Connect"))])


@pytest.mark.parametrize("row", [b"1.79k   127.33     2.00k", b"1.79k   627.33     2.11k", b"x"])
def test_coarse_unsteady_and_damaged_rates_of_threads_are_unknown(row):
    line = next(line for line in STEADY.splitlines() if b"Req/Sec" in line)
    assert read(STEADY.replace(line, b"    Req/Sec   " + row)).threads_rps is None
