"""The identities of an output: silent on every capture, broken by an edited figure of any tool."""

import re

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.read_trial import ReadTrial
from backend.formats.tests.test_captures import EXPECTATIONS, FORMATS, artefact, files_of, name_of
from backend.runs.checks import check_trial, withheld_metrics
from backend.runs.checks.identities import IDENTITIES
from backend.runs.measured.measured import TrialRecord, check_input_of, load_point
from backend.runs.models import Run
from backend.testing.reports import AB, WRK

CHECKS = {identity.check for identity in IDENTITIES}
THROUGHPUT, LOAD, COUNTS, ORDER = (
    "impossible-throughput",
    "impossible-load",
    "impossible-counts",
    "percentile-order",
)


def check_input(trial, **load):
    record = TrialRecord(
        ordinal=1, server={"name": "nginx"}, workload={}, load=load, reading=ReadTrial.of(trial)
    )
    return check_input_of(record, load_point(record), Run(facts={}, session={}))


def broken(trial, **load):
    """The identities' checks that fire, with their sentences."""
    findings = check_trial(check_input(trial, **load))
    return {finding.id: finding.detail for finding in findings if finding.id in CHECKS}


def read(text):
    (trial,) = parse([RawArtefact.of("stdout", text.encode())])
    return trial


def capture(path):
    tool, _, rest = path.partition("/")
    return (FORMATS / tool / "tests" / "captures" / rest).read_text()


def edited(text, pattern, factor):
    """The text with the number of its last group multiplied, in as many decimals."""

    def multiplied(match):
        number = match[match.lastindex]
        decimals = len(number.partition(".")[2])
        start = match.start(match.lastindex) - match.start()
        whole = f"{float(number) * factor:.{decimals}f}"
        return match[0][:start] + whole + match[0][start + len(number) :]

    changed, count = re.subn(pattern, multiplied, text)
    assert count, pattern
    return changed


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=name_of)
def test_no_capture_breaks_an_identity(expectation):
    try:
        entries = parse([artefact(path) for path in files_of(expectation)])
    except FormatError:
        return
    for entry in entries:
        if not isinstance(entry, FormatError):
            assert broken(entry) == {}


RATE = r"\d+\.?\d*"
# A capture, the number that is edited, the factor, and what fires.
EDITS = {
    "ab, rate": ("ab/rand-c10-tsv-csv/stdout", rf"Requests per second: +({RATE})", 1.1, THROUGHPUT),
    "ab, time": (
        "ab/rand-c10-tsv-csv/stdout",
        rf"Time taken for tests: +({RATE})",
        0.5,
        THROUGHPUT,
    ),
    "ab, bytes": ("ab/rand-c10-tsv-csv/stdout", r"Total transferred: +(\d+)", 2, THROUGHPUT),
    "ab, mean": ("ab/rand-c10-tsv-csv/stdout", rf"Total: +\d+ +({RATE})", 2, LOAD),
    "ab, longest": ("ab/rand-c10-tsv-csv/stdout", rf"Total: .* ({RATE})\n", 0.1, ORDER),
    "wrk, rate": ("wrk/latency-c10-10k/stdout", rf"Requests/sec: +({RATE})", 1.1, THROUGHPUT),
    "wrk, time": ("wrk/latency-c10-10k/stdout", rf"requests in ({RATE})s", 0.5, THROUGHPUT),
    "wrk, bytes": ("wrk/latency-c10-10k/stdout", rf"Transfer/sec: +({RATE})", 1.1, THROUGHPUT),
    "wrk2, rate": ("wrk2/calibrated-rate400/stdout", rf"Requests/sec: +({RATE})", 1.1, THROUGHPUT),
    "hey, rate": ("hey/n30-c30-few-text/stdout", rf"Requests/sec:\s+({RATE})", 0.8, THROUGHPUT),
    "hey, time": ("hey/n30-c30-few-text/stdout", rf"Total:\s+({RATE})", 0.5, THROUGHPUT),
    "hey, mean": ("hey/n30-c30-few-text/stdout", rf"Average:\s+({RATE})", 4, LOAD),
    "siege, rate": ("siege/text-c10-r50/stderr", rf"Transaction rate:\s+({RATE})", 1.2, THROUGHPUT),
    "siege, longest": (
        "siege/text-c10-r50/stderr",
        rf"Longest transaction:\s+({RATE})",
        50,
        THROUGHPUT,
    ),
    "siege, mean": ("siege/text-c10-r50/stderr", rf"Response time:\s+({RATE})", 3, LOAD),
    "h2load, rate": ("h2load/h1-c10-n3000-log/stdout", rf"({RATE}) req/s,", 1.1, THROUGHPUT),
    "h2load, time": ("h2load/h1-c10-n3000-log/stdout", rf"finished in ({RATE})s", 0.5, THROUGHPUT),
    "h2load, bytes": ("h2load/h1-c10-n3000-log/stdout", r"\((\d+)\) total", 2, THROUGHPUT),
    "h2load, statuses": ("h2load/h1-c10-n3000-log/stdout", r"codes: (\d+) 2xx", 3, COUNTS),
    "fortio, rate": ("fortio/own-fine/stderr", rf"qps=({RATE})\n", 1.1, THROUGHPUT),
    "fortio, time": ("fortio/own-fine/stderr", rf"Ended after ({RATE})s", 0.001, THROUGHPUT),
    "fortio, mean": ("fortio/own-fine/stderr", rf"Function Time : count 100 avg ({RATE})", 2, LOAD),
    "fortio JSON, rate": (
        "fortio/c20-n600-500s-json/stdout",
        rf'"ActualQPS": ({RATE})',
        1.1,
        THROUGHPUT,
    ),
    "httperf, rate": ("httperf/err500-rate200/stdout", rf"Request rate: ({RATE})", 1.1, THROUGHPUT),
    "plow, rate": ("plow/c10-n2000-text/stdout", rf"RPS +({RATE})", 3, THROUGHPUT),
    "plow, mean": ("plow/c10-n2000-text/stdout", rf"Latency +{RATE}µs +({RATE})ms", 3, LOAD),
    "oha, rate": ("oha/c10-n2000-text/stdout", rf"Requests/sec:\s+({RATE})", 0.8, THROUGHPUT),
    "oha, time": ("oha/c10-n2000-text/stdout", rf"Total:\s+({RATE}) ms", 0.02, THROUGHPUT),
    "vegeta, rate": (
        "vegeta/rate200-4s-allformats/report.json",
        rf'"throughput": ?({RATE})',
        1.1,
        THROUGHPUT,
    ),
    "vegeta, longest": (
        "vegeta/rate200-4s-allformats/report.json",
        r'"max": ?(\d+)',
        10,
        THROUGHPUT,
    ),
    "weighttp, rate": (
        "weighttp/v05-close-c10-rand/stdout",
        rf'"reqs_per_sec": ({RATE})',
        2,
        THROUGHPUT,
    ),
    "jmeter, rate": ("jmeter/c1-n300-csv-noheader/stdout", rf"= +({RATE})/s", 3, THROUGHPUT),
    "jmeter, longest": ("jmeter/c1-n300-csv-noheader/stdout", r"Max: +(\d+)", 20, THROUGHPUT),
    "k6, time": (
        "k6/vus8-handlesummary-json/summary.json",
        rf'"testRunDurationMs": ({RATE})',
        0.01,
        THROUGHPUT,
    ),
    "k6 text, rate": ("k6/vus10-3s-text/stdout", rf"http_reqs\.+: \d+ +({RATE})/s", 99, THROUGHPUT),
    "bombardier, time": (
        "bombardier/c20-n600-500s-json/stdout",
        rf'"timeTakenSeconds":({RATE})',
        0.01,
        THROUGHPUT,
    ),
    "bombardier, mean": (
        "bombardier/c20-n600-500s-json/stdout",
        rf'"latency":{{"mean":({RATE})',
        3,
        LOAD,
    ),
    "autocannon, time": (
        "autocannon/c1-a500-json/stdout",
        rf'"duration":({RATE})',
        0.05,
        THROUGHPUT,
    ),
    "autocannon table, rate": (
        "autocannon/own-v2-text/stderr",
        r"Req/Sec +(3321\.6)",
        10,
        THROUGHPUT,
    ),
    "gatling, rate": ("gatling/open-40rps-3s/stdout", rf"requests/sec +({RATE})", 100, THROUGHPUT),
    "gatling, longest": (
        "gatling/open-40rps-3s/stdout",
        r"max response time +(\d+)",
        60,
        THROUGHPUT,
    ),
    "locust, longest": ("locust/u10-3s-csv/stderr", r"32 +3 +(126)", 60, THROUGHPUT),
    "artillery, longest": ("artillery/rate40-3s-json/stdout", r"max: \.+ (559)\n", 60, THROUGHPUT),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_figure_breaks_an_identity(name):
    path, pattern, factor, check = EDITS[name]
    text = capture(path)
    load = {} if parsed_connections(text) else {"connections": 30}
    assert broken(read(text), **load) == {}
    sentences = broken(read(edited(text, pattern, factor)), **load)
    assert check in sentences
    assert sentences[check].endswith(".")


def parsed_connections(text):
    return read(text).connections


def test_a_test_of_five_seconds_in_a_millisecond():
    """An edited unit: 664 million requests a second."""
    text = WRK.replace("3.00s, 2.10MB", "1.25ms, 2.10MB").replace("6000.00", "14400000.00")
    found = broken(read(text))
    assert "The longest latency is 30.51 ms, but the trial lasted 1.25 ms." in found.values()
    withheld = withheld_metrics(found)
    assert {group: check.id for group, check in withheld.items()} == {
        "rate": THROUGHPUT,
        "resources": THROUGHPUT,
    }


@pytest.mark.parametrize(
    ("text", "printed", "other", "sentence"),
    [
        (WRK, "716.80KB", "1.40MB", "but the output says 1,468,006 bytes/s."),
        (WRK, "716.80KB", "735.00KB", "but the output says 752,640 bytes/s."),
        (AB, "878.91", "1757.82", "but the output says 1,800,008 bytes/s."),
        (AB, "1.667 [ms] (mean)", "0.834 [ms] (mean)", "but the output says 834 µs."),
        (WRK, "3.01k   240", "2.50k   240", "but Requests/sec is 6,000."),
        (WRK, "6000.00", "6300.00", "but the tool printed 6,300 (-4.76 %)."),
    ],
)
def test_a_figure_that_contradicts_the_others_is_said(text, printed, other, sentence):
    assert text.count(printed) == 1
    assert broken(read(text)) == {}
    (found,) = broken(read(text.replace(printed, other))).values()
    assert found.endswith(sentence)


@pytest.mark.parametrize(
    ("text", "printed", "other"),
    [
        (WRK, "716.80KB", "722.00KB"),
        (AB, "1.667 [ms] (mean)", "1.668 [ms] (mean)"),
        (WRK, "6000.00", "6100.00"),
        # The step of a rate of one request in four seconds is a twenty-fifth of it.
        (WRK.replace("18000 requests", "1 requests"), "6000.00", "0.34"),
    ],
)
def test_rounding_breaks_no_identity(text, printed, other):
    assert THROUGHPUT not in broken(read(text.replace(printed, other)))


def test_the_rate_of_gatling_is_held_against_its_longest_request():
    text = capture("gatling/open-40rps-3s/stdout")
    (sentence,) = broken(read(edited(text, rf"requests/sec +({RATE})", 100))).values()
    assert sentence == (
        "The longest latency is 136 ms, but 240 requests at 8,000 requests/s take 30 ms."
    )


def test_each_identity_has_a_check_that_withholds():
    assert withheld_metrics(CHECKS).keys() == {"rate", "latency", "resources"}
