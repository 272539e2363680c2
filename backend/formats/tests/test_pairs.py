"""Of two outputs in one text nothing is lost: a part of what `scripts/bench pairs` walks whole."""

import pytest

from backend.formats import FormatError, RawArtefact, parse, surroundings
from backend.formats.blocks import TABLE, find_blocks
from backend.formats.parts import figures_in
from backend.formats.text import MOST_BLANKS, Source
from backend.testing.pairs import GLUES, loss_in, outputs, pairs
from backend.testing.reports import AB

SEED, COUNT = 2026, 300
REPORT = """Running 30s test @ http://10.0.0.9:8080/
  4 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.10ms    1.20ms   41.00ms   81.00%
    Req/Sec     1.15k     41.00     1.31k    71.00%
  138211 requests in 30.03s, 36.11MB read
Requests/sec:   4602.43
Transfer/sec:      1.20MB
"""
VEGETA = """Requests      [total, rate, throughput]         900, 30.03, 29.70
Duration      [total, attack, wait]             30.100s, 29.970s, 130.000ms
Latencies     [min, mean, 50, 90, 95, 99, max]  70ms, 120ms, 111ms, 146ms, 176ms, 218ms, 290ms
Bytes In      [total, mean]                     42300, 47.00
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           99.33%
Status Codes  [code:count]                      200:894  500:6
Error Set:
500 Internal Server Error
"""
# wrk2 is known by its second lines, its address stands in the first one.
WRK2 = REPORT.replace(
    "  Thread Stats",
    "  Thread calibration: mean lat.: 5.101ms, rate sampling interval: 10ms\n  Thread Stats",
)
K6 = """  \u2588 TOTAL RESULTS

    HTTP
    http_req_duration...: avg=17.23ms min=1.39ms med=8.2ms max=51.61ms p(90)=40.47ms p(95)=43.12ms
    http_req_failed.....: 20.00% 16 out of 80
    http_reqs...........: 80     261.760219/s

    NETWORK
    data_received.......: 41 kB  133 kB/s
    data_sent...........: 5.7 kB 19 kB/s

  \u2588 GROUP: pages

    HTTP
    http_req_duration...: avg=29.65ms min=6.95ms med=31.9ms max=51.61ms p(90)=43.19ms p(95)=45.26ms
    http_req_failed.....: 0.00%   0 out of 40
    http_reqs...........: 40      130.88011/s
"""
PUBLISHED = """# loadsheet published table
# source: A paper, a made example
# published: 2011
server,connections,throughput_rps,p50_ms,p95_ms
first,10,100,4,5
a unit,10,12 k,4,5
"""
UNKNOWN = """
Summary:
  Count:        2100
  Total:        3.41 s
  Slowest:      88.1 ms
  Requests/sec: 615.83
"""


def read(text):
    return parse([RawArtefact.of("notes.md", text.encode())])


@pytest.mark.parametrize("number", range(COUNT // 100))
def test_nothing_of_two_outputs_is_lost(number):
    lost = [
        (first.label, second.label, glue, loss)
        for first, second, glue in pairs(SEED + number, 100)
        if (loss := loss_in(first, second, glue)) is not None
    ]
    assert lost == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # The second begins with a line of text, without a blank line above.
        ("vegeta/rate100-3s-500s-text/stdout", "gatling/closed-20u-3s-500s/stdout"),
        ("vegeta/rate100-3s-timeouts-text/stdout", "autocannon/warmup-text/stderr"),
        # Lines of "#" stand above the table that they are of.
        ("wrk2/calibrated-rate400/stdout", "hdrhistogram/own-log/own.hlog"),
        # A line with as many commas stands right above.
        ("weighttp/seed-nginx-10k/stdout", "httperf/wsess-sessions/stdout"),
        ("vegeta/rate200-4s-allformats/hist.txt", "ab/rand-c10-tsv-csv/pct.csv"),
        ("wrk/lua-json-done/stdout", "k6/own-refused-ndjson/points.json"),
    ],
)
def test_nothing_is_lost_where_one_output_stands_right_above_another(first, second):
    known = {output.label: output for output in outputs()}
    for glue in GLUES:
        assert loss_in(known[first], known[second], glue) is None


def test_a_heading_above_a_table_is_no_remark_of_it():
    known = {output.label: output for output in outputs()}
    table = known["ab/rand-c10-tsv-csv/pct.csv"].text
    (alone,), (below,) = read(table), read(f"## Percentiles\n{table}")
    assert below.figures() == alone.figures()


def test_a_prompt_behind_vegetas_errors_is_none_of_them():
    refused = 'Get "http://x/": dial tcp 127.0.0.1:1: connect: connection refused\n'
    text = VEGETA.replace("500:6", "0:6").replace("500 Internal Server Error\n", refused)
    prompt = "$ curl --connect-timeout 5 http://x/\n"
    (trial,) = read(text + prompt)
    assert (trial.errors["connect"], trial.errors["timeout"]) == (6, 0)


def test_remarks_above_a_table_are_of_it_below_many_blank_lines():
    """Most of them are left out, so that the place of a line is not its number."""
    known = {output.label: output for output in outputs()}
    log = known["hdrhistogram/own-log/own.hlog"].text
    blanks = 3 * MOST_BLANKS
    text = "\n" * blanks + log + "1001.0,1.0,0.0,HIST\n"
    (block,) = find_blocks(Source(RawArtefact.of("own.hlog", text.encode())))
    assert (block.kind, block.first) == (TABLE, blanks + 1)


def test_the_walk_has_outputs_of_many_tools():
    assert len({output.tool for output in outputs()}) > 15


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ('{"rps": 41, "p99_ms": 7}\n', "the JSON is of no load tool"),
        ('{"latencies": {"mean": 120000000, "max": 29', "the JSON is cut off or damaged"),
        ("name,rps,p99\nfirst,41,7\nsecond,42,8\n", "the table is of no load tool"),
        (UNKNOWN, "looks like output"),
    ],
)
@pytest.mark.parametrize("report", [REPORT, VEGETA])
def test_what_looks_like_output_beside_a_report_is_told_with_its_lines(report, rest, why):
    if report is REPORT and rest.endswith("}\n"):
        # What a script of wrk printed is kept with its run.
        (trial,) = read(f"{report}\n{rest}")
        assert trial.extra["lua_json"] == {"rps": 41, "p99_ms": 7}
        return
    trial, refused = read(f"{report}\n{rest}")
    assert trial.figures() == read(report)[0].figures()
    assert isinstance(refused, FormatError)
    assert why in refused.reason
    assert refused.line > report.count("\n")


@pytest.mark.parametrize("prose", ["Thanks! I have 2 machines with 16 cores each.\n", "\n$ exit\n"])
def test_prose_is_not_told(prose):
    assert len(read(f"{REPORT}\n{prose}")) == 1


DRESSES = (
    lambda text: text.replace("\n", "\r\n"),
    lambda text: f"```\n{text}```\n",
    lambda text: f"user@host2:~$ wrk -t4 -c64 http://10.0.0.9:8080/\n{text}user@host2:~$ \n",
    lambda text: "".join(f"    {line}\n" for line in text.splitlines()),
    lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    lambda text: f"We ran this on two machines with 16 cores for 3 hours in all.\n\n{text}",
)


@pytest.mark.parametrize("dress", DRESSES)
def test_an_output_has_one_name_in_any_dress(dress):
    (plain,), (dressed,) = read(REPORT), read(dress(REPORT))
    assert plain.output_name == dressed.output_name


def test_another_digit_is_another_name_also_where_it_is_not_read():
    (plain,), (other,) = read(REPORT), read(REPORT.replace("71.00%", "72.00%"))
    assert plain.figures() == other.figures()
    assert plain.output_name != other.output_name


def test_the_same_output_twice_in_one_text_has_one_name():
    first, second = read(REPORT + "\n" + REPORT)
    assert first.output_name == second.output_name
    assert second.lines[0] == first.lines[1] + 1


@pytest.mark.parametrize("is_above", [False, True])
def test_a_run_is_read_few_times_however_many_reports_stand_beside_it(monkeypatch, is_above):
    reads = []
    read_alone = surroundings.read_alone
    monkeypatch.setattr(
        surroundings, "read_alone", lambda *given: reads.append(given) or read_alone(*given)
    )
    rest = "\nRequests/sec: 123\nLatency p99: 5\n" * 500
    text = f"{rest}\n{AB}" if is_above else AB + rest
    entries = parse([RawArtefact.of("out.txt", text.encode())])
    assert [isinstance(entry, FormatError) for entry in entries] == [is_above, not is_above]
    assert 0 < len(reads) < 20


@pytest.mark.parametrize(
    ("first", "second"), [(K6, WRK2), (PUBLISHED, WRK2)], ids=["groups", "a published table"]
)
@pytest.mark.parametrize("glue", ["", "\n"])
def test_two_outputs_are_read_as_each_is_alone(first, second, glue):
    alone = [*read(first), *read(second)]
    together = read(first + glue + second)
    assert figures_in(together) == figures_in(alone)
    assert len(together) == len(alone)
