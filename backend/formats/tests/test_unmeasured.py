"""Zeros of what was not measured are unknown; rounded zeros stay."""

import re

import pytest

from backend.formats import Latency, RawArtefact, parse
from backend.formats.tests.test_captures import FORMATS

WRK = """Running 2s test @ http://10.0.0.7:8080/
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     0.00us    0.00us   0.00us    -nan%
    Req/Sec     2.70k   120.00     3.10k    75.00%
  Latency Distribution
     50%    0.00us
     99%    0.00us
  10800 requests in 2.00s, 1.50MB read
Requests/sec:   5400.00
Transfer/sec:    768.00KB
"""
# What is printed there instead of a time, and the captures whose times are replaced by it.
FINE = {
    "wrk/latency-c10-10k/stdout": (r"[\d.]+(us|ms|s)$", "0.00us"),
    "wrk2/plain-rate1000-nolatency/stdout": (r"(?<=Latency)( +[\d.]+(us|ms)){3}", " 0.00us" * 3),
    "bombardier/c100-3s-latencies-text/stdout": (r"[\d.]+(us|ms)$", "0.00us"),
    "vegeta/rate200-4s-allformats/stdout": (r"(?<=max\]).*", "  0s, 0s, 0s, 0s, 0s, 0s, 0s"),
    "k6/vus10-3s-text/stdout": (
        r"(?<=\.: )avg=.*",
        "avg=0s min=0s med=0s max=0s p(90)=0s p(95)=0s",
    ),
    "h2load/h1-c10-n3000-log/stdout": (
        r"(?<=time for request:).*%",
        " 0us 0us 0us 0us 0.00%",
    ),
}


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    (trial,) = parse([RawArtefact.of("stdout", data)])
    return trial


def capture(path):
    tool, _, rest = path.partition("/")
    return (FORMATS / tool / "tests" / "captures" / rest).read_text()


def zeros(latency):
    figures = (latency.mean_us, latency.min_us, latency.max_us, *latency.percentiles.values())
    return [figure for figure in figures if figure == 0]


@pytest.mark.parametrize("path", FINE)
def test_a_zero_in_microseconds_is_no_measurement(path):
    pattern, zero = FINE[path]
    edited = re.sub(pattern, zero, capture(path), flags=re.M)
    assert edited != capture(path)
    trial = read(edited)
    assert trial.requests_completed > 0
    assert zeros(trial.latency) == []
    assert zeros(read(capture(path)).latency) == []


def test_nothing_is_left_of_a_report_without_a_latency():
    trial = read(WRK)
    assert (trial.latency, trial.latency_origin) == (Latency(), None)
    assert trial.latency_resolution_us is None
    assert (trial.requests_completed, trial.reported_rps) == (10_800, 5_400)


def test_what_was_measured_beside_the_zeros_stays():
    trial = read(WRK.replace("0.00us    0.00us   0.00us    -nan%", "11.60ms 0.00us 11.60ms 0.00%"))
    assert trial.latency == Latency(mean_us=11_600, stdev_us=0, max_us=11_600)
    assert trial.latency_origin == "summary"


@pytest.mark.parametrize(
    "path",
    [
        "ab/keepalive-c10-10k-tsv-csv/stdout",
        "artillery/rate30-4s-500s-json/stdout",
        "autocannon/c1-a500-json/stdout",
        "jmeter/c1-n300-csv-noheader/stdout",
        "locust/u1-3s-json/stderr",
        "siege/redirects/stderr",
    ],
)
def test_a_rounded_zero_stays_with_its_step(path):
    trial = read(capture(path))
    assert trial.latency_resolution_us >= 1000
    assert 0 in zeros(trial.latency)


def test_no_summary_of_jmeter_is_taken_for_unmeasured():
    line = "summary = 300 in 00:00:03 = 103.4/s Avg: 0 Min: 0 Max: 0 Err: 0 (0.00%)"
    trial = read(f"{line}\n... end of run\n")
    assert trial.latency == Latency(mean_us=0, min_us=0, max_us=0)


@pytest.mark.parametrize("received", ["1.50MB", "0.00B"])
def test_no_bytes_of_answered_requests_are_unknown(received):
    rate = "0.00B" if received == "0.00B" else "768.00KB"
    trial = read(WRK.replace("1.50MB", received).replace("768.00KB", rate))
    is_known = received != "0.00B"
    assert (trial.bytes_received is not None) is is_known
    assert (trial.transfer_rate_bytes_s is not None) is is_known


def test_bodies_may_have_no_bytes():
    """siege counts bodies alone, in steps of 0.01 MB."""
    assert read(capture("siege/slow/stderr")).bytes_received == 0
