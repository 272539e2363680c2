"""A load tool's report and the envelopes that carry it, without Django: for tests and benches."""

import uuid
from typing import Any

AB = """This is ApacheBench, Version 2.3 <$Revision: 1903618 $>

Server Hostname:        10.0.0.7
Server Port:            8080

Document Path:          /
Document Length:        13 bytes

Concurrency Level:      10
Time taken for tests:   3.000 seconds
Complete requests:      18000
Failed requests:        0
Keep-Alive requests:    18000
Total transferred:      2700000 bytes
HTML transferred:       234000 bytes
Requests per second:    6000.00 [#/sec] (mean)
Time per request:       1.667 [ms] (mean)
Time per request:       0.167 [ms] (mean, across all concurrent requests)
Transfer rate:          878.91 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.1      0       3
Processing:     0    1   0.9      1      30
Waiting:        0    1   0.9      1      30
Total:          0    2   0.9      1      31
"""
WRK = """Running 3s test @ http://127.0.0.1:8080/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.94ms    2.10ms  30.51ms   90.11%
    Req/Sec     3.01k   240.10     3.60k    71.67%
  Latency Distribution
     50%    1.41ms
     75%    2.20ms
     90%    4.11ms
     99%   10.02ms
  18000 requests in 3.00s, 2.10MB read
Requests/sec:   6000.00
Transfer/sec:    716.80KB
"""


def make_envelope(trials: int = 1, **over: Any) -> dict[str, Any]:
    """An envelope whose trials name the files 0.txt, 1.txt …"""
    return {
        "schema": 1,
        "id": str(uuid.uuid4()),
        "run": {"started_at": "2026-01-31T12:00:00Z", "labels": {"for": "test"}},
        "hosts": {"client": {"name": "here", "cores": 2}, "server": {"name": "here", "cores": 2}},
        "same_host": True,
        "trials": [make_trial(index) for index in range(trials)],
        **over,
    }


def make_trial(index: int, **over: Any) -> dict[str, Any]:
    """One trial entry of an envelope."""
    return {
        "ordinal": index,
        "server": {"name": "hello", "version": "1.0", "configuration": {"workers": 2}},
        "workload": {"name": "hello", "method": "GET", "path": "/", "keepalive": True},
        "load": {"tool": "wrk", "tool_version": "4.1.0", "loop": "closed", "connections": 10},
        "repeat": index,
        "command": ["wrk", "-c10", "http://127.0.0.1:8080/"],
        "exit_code": 0,
        "artefacts": [f"{index}.txt"],
        **over,
    }
