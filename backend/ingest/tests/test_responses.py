"""Redirects, responses of an unclear kind and faults of the client, from upload to answer."""

import pytest
from django.test import Client

from backend.ingest.queue.worker import process
from backend.runs.models import Trial
from backend.testing.uploads import make_envelope, make_tenant, make_trial, make_upload

pytestmark = pytest.mark.django_db

HEY = """
Summary:
  Total:	{total:.4f} secs
  Slowest:	0.0305 secs
  Fastest:	0.0005 secs
  Average:	0.0016 secs
  Requests/sec:	{rate:.4f}

  Total data:	234000 bytes
  Size/request:	13 bytes

Response time histogram:
  0.001 [1]	|
  0.031 [17999]	|

Latency distribution:
  10% in 0.0008 secs
  50% in 0.0014 secs
  90% in 0.0030 secs
  99% in 0.0101 secs

Details (average, fastest, slowest):
  DNS+dialup:	0.0000 secs, 0.0005 secs, 0.0305 secs

Status code distribution:
  [{status}]	18000 responses

"""
AB = """This is ApacheBench, Version 2.3 <$Revision: 1903618 $>

Server Hostname:        10.0.0.7
Server Port:            8080
Document Path:          /
Document Length:        0 bytes
Concurrency Level:      10
Time taken for tests:   3.000 seconds
Complete requests:      18000
Failed requests:        0
Non-2xx responses:      {count}
Total transferred:      2700000 bytes
HTML transferred:       234000 bytes
Requests per second:    6000.00 [#/sec] (mean)
Transfer rate:          878.91 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Total:          0    2   0.9      1      31
"""
K6 = """
     http_req_duration..............: avg=7.2ms min=1.1ms med=6.1ms max=44ms p(95)={p95}ms
     http_req_failed................: {failed} out of 3000
     http_reqs......................: 3000   1000.000000/s
     iterations.....................: 3000   1000.000000/s
"""
HTTPERF = """httperf --client=0/1 --server=10.0.0.7 --port=80 --uri=/ --rate=50 --send-buffer=4096 \
--recv-buffer=16384 --num-conns=1000 --num-calls=1
Maximum connect burst length: 1

Total: connections 900 requests 900 replies 900 test-duration 19.980 s

Connection rate: 45.0 conn/s (22.2 ms/conn, <=3 concurrent connections)
Connection time [ms]: min 0.5 avg 1.2 max 9.9 median 1.5 stddev 0.4
Connection time [ms]: connect 0.1
Connection length [replies/conn]: 1.000

Request rate: 45.0 req/s (22.2 ms/req)
Request size [B]: 62.0

Reply rate [replies/s]: min 44.8 avg 45.0 max 45.2 stddev 0.1 (3 samples)
Reply time [ms]: response 1.0 transfer 0.0
Reply size [B]: header 100.0 content 13.0 footer 0.0 (total 113.0)
Reply status: 1xx=0 2xx=900 3xx=0 4xx=0 5xx=0

CPU time [s]: user 2.00 system 7.00 (user 10.0% system 35.0% total 45.0%)
Net I/O: 7.7 KB/s (0.1*10^6 bps)

Errors: total 100 client-timo 0 socket-timo 0 connrefused 0 connreset 0
Errors: fd-unavail 0 addrunavail 100 ftab-full 0 other 0
"""


def hey(status, seconds=3.0):
    return HEY.format(status=status, total=seconds, rate=18000 / seconds)


@pytest.fixture
def tenant():
    return make_tenant()


def record(tenant, reports_by_server, tool="hey"):
    pairs = [(name, text) for name, texts in reports_by_server.items() for text in texts]
    trials = [
        make_trial(
            index,
            server={"name": name, "version": "1"},
            workload={"name": "hello", "payload_bytes": 13},
            load={"tool": tool, "connections": 10},
        )
        for index, (name, _) in enumerate(pairs)
    ]
    envelope = {**make_envelope(), "trials": trials}
    row = make_upload(tenant, *(text for _, text in pairs), envelope=envelope)
    process(row.pk)
    row.refresh_from_db()
    return row.run


def compare(tenant):
    answer = Client().get("/api/v1/compare?workspace=lab", headers=tenant.headers)
    return answer.json()


def details(run):
    (trial,) = Trial.objects.filter(run=run)
    return trial, {finding["id"]: finding["detail"] for finding in trial.checks}


def test_a_redirect_is_no_failed_request_and_is_told(tenant):
    trial, checks = details(record(tenant, {"moved": [hey(302)]}))
    assert trial.error_rate == 0
    assert checks["redirects"] == "18,000 of 18,000 responses were redirects (3xx)."


def test_a_server_of_redirects_is_not_ranked_beside_one_of_pages(tenant):
    times = (3.0, 3.01, 2.99)
    record(
        tenant, {"moved": [hey(302, s / 2) for s in times], "page": [hey(200, s) for s in times]}
    )
    figures = compare(tenant)
    assert figures["ranking"] is None
    assert "redirects" in figures["outcome"]["differing"]
    (reason, *_) = figures["outcome"]["reasons"]
    assert reason == "share of redirects differs: over 1 %, under 1 %"


def test_servers_that_all_redirect_are_ranked_with_a_warning(tenant):
    times = (3.0, 3.01, 2.99)
    record(tenant, {"a": [hey(302, s) for s in times], "b": [hey(302, s * 1.1) for s in times]})
    figures = compare(tenant)
    assert figures["ranking"] is not None
    assert "the server answered with redirects" in figures["outcome"]["reasons"]


def test_what_ab_prints_as_no_2xx_counts_as_failed(tenant):
    trial, checks = details(record(tenant, {"moved": [AB.format(count=4500)]}, "ab"))
    assert (trial.error_rate, trial.attempts, trial.failed) == (0.25, 18_000, 4500)
    assert trial.requests_ok == 13_500
    assert checks["not-2xx"] == (
        "4,500 of 18,000 responses were not 2xx. The load tool does not say whether they were "
        "redirects or errors, so all of them count as failed."
    )
    assert checks["error-rate-high"] == (
        "25 % of the attempts failed (4,500 of 18,000: status 4,500)."
    )


def test_failures_without_classes_keep_a_server_out_of_the_ranking(tenant):
    failing = [K6.format(p95=16 + at, failed="14.00% 420") for at in range(3)]
    sound = [K6.format(p95=26 + at, failed="0.00% 0") for at in range(3)]
    run = record(tenant, {"failing": failing, "sound": sound}, "k6")
    trial = Trial.objects.filter(run=run).first()
    assert (trial.attempts, trial.failed, trial.error_rate) == (3000, 420, 0.14)
    assert (trial.throughput_rps, trial.goodput_rps) == (None, None)
    checks = {finding["id"]: finding["detail"] for finding in trial.checks}
    assert checks["error-rate-high"] == "14 % of the attempts failed (420 of 3,000)."
    figures = (
        Client().get("/api/v1/compare?workspace=lab&metric=p95", headers=tenant.headers).json()
    )
    rows = {row["label"].split()[0]: row for row in figures["ranking"]["rows"]}
    assert rows["failing"]["why"] == "14 % of the requests failed, so the figure is not ranked."
    assert rows["sound"]["why"] is None


def test_a_few_unclear_responses_of_ab_are_no_error(tenant):
    trial, checks = details(record(tenant, {"page": [AB.format(count=180)]}, "ab"))
    assert trial.error_rate == 0.01
    assert "error-rate" in checks
    assert not {"not-2xx", "error-rate-high", "errors-unknown"} & checks.keys()


def test_what_the_client_could_not_send_is_no_error_of_the_server(tenant):
    trial, checks = details(record(tenant, {"page": [HTTPERF]}, "httperf"))
    assert trial.error_rate == 0
    assert checks["client-fault"] == (
        "100 attempts failed because the client ran out of ports or open files."
    )
    assert not {"error-rate", "error-rate-high"} & checks.keys()


def test_a_few_attempts_that_the_client_lost_are_background(tenant):
    few = HTTPERF.replace("total 100", "total 2").replace("addrunavail 100", "addrunavail 2")
    _, checks = details(record(tenant, {"page": [few]}, "httperf"))
    assert "client-fault-few" in checks
    assert "client-fault" not in checks


def test_a_server_with_answers_that_ab_calls_no_2xx_is_not_ranked(tenant):
    good = [AB.format(count=0).replace("18000", str(18000 + number)) for number in range(3)]
    faster = AB.replace("6000.00", "12000.00").replace("878.91", "1757.82")
    bad = [faster.format(count=18000).replace("3.000 s", f"1.50{number} s") for number in range(3)]
    record(tenant, {"page": good, "moved": bad}, "ab")
    rows = {row["label"]: row for row in compare(tenant)["ranking"]["rows"]}
    assert rows["page 1"]["why"] is None
    assert rows["moved 1"]["tier"] is None
    assert rows["moved 1"]["why"] == "100 % of the requests failed, so the figure is not ranked."
