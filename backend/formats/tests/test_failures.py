"""What a tool prints as failed is failed, whether or not its classes of failures are known."""

from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.model import CLIENT_CLASS, ParsedTrial
from backend.formats.outcome import Outcome, outcome_as_printed, outcome_by_class
from backend.formats.tools import TOOLS

FORMATS = Path(__file__).parents[1]
# Their files count values and no requests.
WITHOUT_REQUESTS = {"hdrhistogram"}

K6 = """
     http_req_duration..............: avg=7.2ms min=1.1ms med=6.1ms max=44ms p(90)=12ms p(95)=16ms
     http_req_failed................: 21.00% ✓ 63        ✗ 237
     http_reqs......................: 300    1198.000000/s
     iterations.....................: 300    1198.000000/s
"""
K6_OF_JUDGED = K6.replace("21.00% ✓ 63        ✗ 237", "6.25% 15 out of 240")
K6_SHARE = """{"metrics": {"http_reqs": {"count": 800, "rate": 160.2}, "http_req_duration":
{"avg": 6.1, "min": 1, "med": 5, "max": 90, "p(90)": 9, "p(95)": 12},
"http_req_failed": {"value": 0.05}}}"""
LOCUST = """Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,\
Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,50%,99%,100%
,Aggregated,9000,1260,17,19.25,3.5,140.1,88.0,300.0,42.0,17,66,140
"""
JMETER = """Creating summariser <summary>
Starting standalone test @ 2026 Mar 5 08:00:00 GMT (1772697600000)
summary =  30000 in 00:01:00 =  500.0/s Avg:    14 Min:     1 Max:   402 Err:  4500 (15.00%)
Tidying up ...    @ 2026 Mar 5 08:01:00 GMT (1772697660000)
... end of run
"""
JTL = "timeStamp,elapsed,label,success\n1772697600000,12,GET,true\n1772697600020,15,GET,false\n"
VEGETA = """Requests      [total, rate, throughput]         500, 100.20, 79.80
Duration      [total, attack, wait]             5.01s, 4.99s, 21ms
Latencies     [min, mean, 50, 90, 95, 99, max]  1.5ms, 14.2ms, 4.2ms, 6.1ms, 7.8ms, 500.7ms, 502.5ms
Bytes In      [total, mean]                     6500, 13.00
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           80.00%
Status Codes  [code:count]                      0:70  200:400  503:30
Error Set:
503 Service Unavailable
Get "http://10.1.0.9:80/": dial tcp 10.1.0.9:80: connect: connection refused
Get "http://10.1.0.9:80/": EOF
"""
BOMBARDIER = """Bombarding http://10.1.0.9:80/ with 1000 request(s) using 10 connection(s)
Statistics        Avg      Stdev        Max
  Reqs/sec       507.00     100.00     900.00
  Latency        1.50ms     0.70ms    31.00ms
  HTTP codes:
    1xx - 0, 2xx - 840, 3xx - 0, 4xx - 0, 5xx - 40
    others - 120
  Throughput:    90.62KB/s
"""
GATLING = """================================================================================
---- Global Information --------------------------------------------------------
> request count                                       2000 (OK=1720   KO=280   )
> min response time                                      2 (OK=2      KO=5     )
> max response time                                    310 (OK=298    KO=310   )
> mean response time                                    21 (OK=20     KO=29    )
> std deviation                                         12 (OK=11     KO=15    )
> response time 50th percentile                         18 (OK=18     KO=24    )
> response time 75th percentile                         25 (OK=24     KO=33    )
> response time 95th percentile                         47 (OK=45     KO=60    )
> response time 99th percentile                         90 (OK=88     KO=99    )
> mean requests/sec                                    100 (OK=86     KO=14    )
================================================================================
"""
ARTILLERY = """Test run id: t1_abc
Summary report @ 03:00:01(+0000)
http.codes.200: ..... 900
http.codes.503: ..... 50
http.request_rate: ..... 100/sec
http.requests: ..... 1200
http.response_time:
  min: ..... 1
  max: ..... 90
  median: ..... 6
  p95: ..... 29.1
  p99: ..... 57.4
http.responses: ..... 1000
errors.ETIMEDOUT: ..... 200
vusers.created: ..... 1200
vusers.failed: ..... 200
"""
ARTILLERY_1 = """  Scenarios launched:  900
  Scenarios completed: 600
  Requests completed:  600
  RPS sent: 40.2
  Request latency:
    min: 14
    max: 909.5
    median: 55
    p95: 245
    p99: 755
  Codes:
    200: 590
    503: 10
  Errors:
    ETIMEDOUT: 250
    ECONNREFUSED: 50

"""
STATISTICS = """{"Total": {"transaction": "Total", "sampleCount": 30000, "errorCount": 3,
"errorPct": 0.01, "meanResTime": 28.5, "medianResTime": 21.0, "minResTime": 3.0,
"maxResTime": 1047.0, "pct1ResTime": 33.0, "pct2ResTime": 42.0, "pct3ResTime": 91.0,
"throughput": 500.0, "receivedKBytesPerSec": 812.5, "sentKBytesPerSec": 60.1}}"""
# More numbers than one have that share of the samples.
LISTENER = """Label,# Samples,Average,Min,Max,Std. Dev.,Error %,Throughput,Received KB/sec
TOTAL,4000000,86,3,638,121.55,5.500%,122.15605,19.04
"""
BZT = "INFO: Samples count: 1000000, 5.50% failures\nINFO: Average times: total 0.086, connect 0\n"
WRK = """Running 5s test @ http://10.1.0.9:80/
  2 threads and 20 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.10ms    1.50ms  31.00ms   88.00%
    Req/Sec     1.00k     90.00     1.20k    70.00%
  10000 requests in 5.00s, 1.20MB read
  Socket errors: connect 4, read 36, write 0, timeout 60
  Non-2xx or 3xx responses: 940
Requests/sec:   2000.00
Transfer/sec:    245.76KB
"""
AB = """This is ApacheBench, Version 2.3 <$Revision: 1903618 $>

Server Hostname:        10.1.0.9
Server Port:            80
Document Path:          /
Concurrency Level:      10
Time taken for tests:   2.000 seconds
Complete requests:      4000
Failed requests:        600
Total transferred:      528000 bytes
HTML transferred:       52000 bytes
Requests per second:    2000.00 [#/sec] (mean)

Connection Times (ms)
              min  mean[+/-sd] median   max
Total:          0    5   0.9      5      31
"""
AB_CLASSES = AB.replace(
    "600\n", "600\n   (Connect: 50, Receive: 200, Length: 200, Exceptions: 150)\n"
)
AB_NOT_2XX = AB.replace("600\n", "0\nNon-2xx responses:      900\n")
HEY = """
Summary:
  Total:	100.0000 secs
  Slowest:	0.0900 secs
  Fastest:	0.0005 secs
  Average:	0.0016 secs
  Requests/sec:	20000.0000

Response time histogram:
  0.001 [1]	|
  0.090 [999999]	|■

Latency distribution:
  10% in 0.0008 secs
  50% in 0.0014 secs
  99% in 0.0101 secs

Status code distribution:
  [200]	700000 responses
  [503]	300000 responses


"""
PUBLISHED = """# loadsheet published table
# source: Tests of 2011, A. Author
# published: 2011-04
server,connections,requests,errors,elapsed_s,throughput_rps
ducky,100,9000,1000,10,900
"""


def capture(path):
    return (FORMATS / path).read_bytes()


def files(text):
    return [text.encode() if isinstance(text, str) else text]


# By the name of the case: the output, its attempts and those that failed.
PRINTED = {
    "k6 text": (K6, 300, 63),
    "k6 text, of the judged requests": (K6_OF_JUDGED, 240, 15),
    "k6 --summary-export": (capture("k6/tests/captures/vus10-500s-text/export.json"), 300, 75),
    "k6 share alone": (K6_SHARE, 800, 40),
    "k6 handleSummary": (
        capture("k6/tests/captures/vus8-handlesummary-json/summary.json"), 218, 27,
    ),
    "locust _stats.csv": (LOCUST, 9000, 1260),
    "locust console": (capture("locust/tests/captures/verdicts-csv/stderr"), 194, 90),
    "locust --json": (capture("locust/tests/captures/interrupted/stdout"), 185, 90),
    "locust /stats/requests": (
        capture("locust/tests/captures/u5-500s-requests-json/requests.json"), 1138, 276,
    ),
    "jmeter summariser": (JMETER, 30_000, 4500),
    "jmeter statistics.json": (STATISTICS, 30_000, 3),
    "jmeter listener, of a rounded share": (LISTENER, 4_000_000, 220_000),
    "jmeter JTL without codes": (JTL, 2, 1),
    "gatling console without Errors": (GATLING, 2000, 280),
    "gatling stats.json": (
        capture("gatling/tests/captures/closed-20u-3s-500s/stats.json"), 6600, 1308,
    ),
    "vegeta text, two classes": (VEGETA, 500, 100),
    "bombardier others without their texts": (BOMBARDIER, 1000, 160),
    "artillery without each code": (ARTILLERY, 1200, 250),
    "artillery 1 without its heading": (ARTILLERY_1, 900, 310),
    "wrk, late and bad": (WRK, 10_040, 1040),
    "wrk2, late": (capture("wrk2/tests/captures/hang-timeout1s/stdout"), 394, 4),
    "ab without classes": (AB, 4000, 600),
    "ab classes": (AB_CLASSES, 4050, 250),
    "ab not 2xx": (AB_NOT_2XX, 4000, 900),
    "siege": (capture("siege/tests/captures/reset-c5-r60/stderr"), 300, 11),
    "siege --json": (capture("siege/tests/captures/json-verbose-mixed-c5/stdout"), 200, 19),
    "plow": (capture("plow/tests/captures/timeouts-text/stdout"), 60, 6),
    "autocannon in thousands": (
        capture("autocannon/tests/captures/refused-15k-text/stderr"), 15_000, 15_000,
    ),
    "autocannon older table": (
        capture("autocannon/tests/captures/own-v2-latency-text/stderr"), 106, 6,
    ),
    "autocannon another body": (
        capture("autocannon/tests/captures/mismatches-text/stderr"), 34_000, 34_000,
    ),
    "hey, of those that it kept": (HEY, 1_000_000, 300_000),
    "tsung without a status": (capture("tsung/tests/captures/own-long/tsung.log"), 220, 23),
    "weighttp": (capture("weighttp/tests/captures/v04-err500-c10/stdout"), 1000, 78),
    "fortio": (capture("fortio/tests/captures/c8-n300-resets-text/stderr"), 300, 6),
    "h2load": (capture("h2load/tests/captures/h1-hang-N1-c20/stdout"), 400, 100),
    "httperf": (capture("httperf/tests/captures/hang-timeout1/stdout"), 300, 7),
    "oha": (capture("oha/tests/captures/reset-text/stdout"), 300, 11),
    "nighthawk": (capture("nighthawk/tests/captures/made-text/stdout"), 2994, 44),
    "nighthawk for Fortio, 2xx alone": (
        capture("nighthawk/tests/captures/made-fortio-pedantic-500s-json/stdout"), 2994, 44,
    ),
    "rewrk": (capture("rewrk/tests/captures/resets-text/stdout"), 2455, 169),
    "taurus": (capture("taurus/tests/captures/hang-external/stdout"), 800, 44),
    "taurus, of a rounded share": (BZT, 1_000_000, 55_000),
    "taurus dump": (capture("taurus/tests/captures/hang-external/stats.csv"), 800, 44),
    "taurus dump, of any answer": (
        capture("taurus/tests/captures/apiritif-500s/stats.xml"), 1564, 197,
    ),
    "published": (PUBLISHED, 10_000, 1000),
    "httparena": (capture("httparena/tests/captures/api-4-256/api-4-256.json"), None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_printed_as_failed_is_failed(name):
    output, attempts, failed = PRINTED[name]
    trials = parse([RawArtefact.of("output", *files(output))])
    if attempts is None:
        assert any(trial.outcome.failed for trial in trials)
        return
    (trial,) = trials
    assert (trial.outcome.attempts, trial.outcome.failed) == (attempts, failed)
    read = trial.as_dict()
    assert (read["attempts"], read["failed"]) == (attempts, failed)
    assert read["error_rate"] == pytest.approx(failed / attempts)


def test_every_tool_that_counts_requests_has_a_case():
    tools = {
        entry.tool
        for output, *_ in PRINTED.values()
        for entry in parse([RawArtefact.of("output", *files(output))])
    }
    assert tools >= TOOLS.keys() - WITHOUT_REQUESTS


def test_successes_are_unknown_where_failures_overlap():
    late_and_bad, not_judged = (
        parse([RawArtefact.of("output", *files(text))])[0] for text in (WRK, K6_OF_JUDGED)
    )
    assert late_and_bad.requests_ok is None
    assert (not_judged.requests_ok, not_judged.requests_completed) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        LISTENER.replace("5.500%", "0.000%"),
        BZT.replace("5.50%", "0.00%"),
        capture("rewrk/tests/captures/c10-2s-text/stdout"),
        capture("rewrk/tests/captures/c4-1s-json/stdout"),
    ],
)
def test_that_nothing_failed_is_not_said_where_failures_may_not_be_shown(text):
    (trial,) = parse([RawArtefact.of("output", *files(text))])
    assert trial.outcome.failed is None


@pytest.mark.parametrize(
    "path",
    [
        "hey/tests/captures/n300-c10-resets-text/stdout",
        "oha/tests/captures/body-cut-text/stdout",
        "httperf/tests/captures/hang-timeout1/stdout",
    ],
)
def test_a_text_that_was_cut_before_its_errors_does_not_say_that_none_failed(path):
    lines = (FORMATS / path).read_text().splitlines(keepends=True)
    (whole,) = parse([RawArtefact.of("file", "".join(lines).encode())])
    rates = set()
    for end in range(1, len(lines)):
        try:
            (cut,) = parse([RawArtefact.of("file", "".join(lines[:end]).encode())])
        except FormatError:
            continue
        rates.add(cut.outcome.error_rate)
    assert None in rates
    assert rates <= {None, whole.outcome.error_rate}


def test_a_k6_log_without_tags_does_not_say_what_failed():
    head = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,status\n"
    row = "http_req_duration,1772697600,4.5,,,,,\n"
    (trial,) = parse([RawArtefact.of("results.csv", (head + row * 3).encode())])
    assert (trial.requests_ok, trial.outcome) == (None, Outcome())
    judged = row.replace(",,\n", ",false,\n") + row.replace(",,\n", ",true,\n")
    (trial,) = parse([RawArtefact.of("results.csv", (head + judged).encode())])
    assert (trial.outcome.failed, trial.outcome.attempts) == (1, 2)


@pytest.mark.parametrize(
    ("counts", "outcome"),
    [
        ({"completed": 100, "ok": 90, "status": 10}, Outcome(100, 10)),
        ({"completed": 100, "ok": 90, "status": 10, "unanswered": [5, None]}, Outcome(105, 15)),
        # A late answer is among the completed requests: ok misses it already.
        ({"completed": 100, "ok": 95, "unanswered": [5, 2]}, Outcome(102, 7)),
        ({"completed": 0, "ok": 0, "unanswered": [8]}, Outcome(8, 8)),
        ({"completed": 0, "ok": 0}, Outcome(0, 0)),
        ({"completed": None, "ok": 90, "status": 10}, Outcome()),
        (
            {"completed": 90, "ok": None, "status": 8, "unanswered": [10]},
            Outcome(least_rate=0.18),
        ),
        (
            {"completed": 100, "ok": 90, "unanswered": [None], "lists_answers_only": True},
            Outcome(least_rate=0.1),
        ),
    ],
)
def test_the_outcome_of_counts_by_class(counts, outcome):
    whole = {"status": None, "unanswered": [], "lists_answers_only": False, **counts}
    assert outcome_by_class(**whole) == outcome


def test_without_an_attempt_there_is_no_error_rate():
    assert Outcome(0, 0).error_rate is None
    assert Outcome(None, 5).error_rate is None


def test_printed_attempts_that_failed_on_the_client_are_left_out():
    assert outcome_as_printed(1000, 150, client_errors=100) == Outcome(900, 50)
    assert outcome_as_printed(None, 150, client_errors=100) == Outcome(None, 50)
    trial = ParsedTrial(attempts=1000, failed=150, errors={CLIENT_CLASS: 100})
    assert trial.outcome == Outcome(900, 50)
