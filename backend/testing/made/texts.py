"""What load tools print of a trial, with each tool's own units and rounding."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from backend.testing.made.figures import PrintedFigures, corrected_figures_of, figures_of
from backend.testing.made.requests import MadeTrial

# That a made text of wrk says.
WRK_THREADS = 2
# Of a whole response, as wrk and ab count it.
RESPONSE_BYTES = 240
KIBI, MEBI = 1 << 10, 1 << 20
HEY_STATUS = "  [{}]\t{} responses\n"

Change = Callable[[PrintedFigures], None]


@dataclass(frozen=True, slots=True)
class MadeTool:
    """A load tool: how its output is made, its latency step in µs, and whether its loop is open.

    `has_rows`: it prints each request, so that a mistake in printed figures cannot be planted.
    `lists_answers_only`: it leaves out requests without an answer, which `errors-unknown` finds.
    """

    name: str
    print: Callable[[MadeTrial, PrintedFigures], str]
    step_us: float
    is_open: bool = False
    has_rows: bool = False
    has_seconds: bool = False
    lists_answers_only: bool = False
    compute: Callable[[MadeTrial], PrintedFigures] = figures_of

    def write(self, trial: MadeTrial, change: Change) -> str:
        """What it prints of the trial, after a change of its figures."""
        figures = self.compute(trial)
        change(figures)
        return self.print(trial, figures)


def _wrk_time(us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.2f}{unit}"
    return f"{us:.2f}us"


def _wrk_amount(value: float) -> str:
    return f"{value / 1000:.2f}k" if value >= 1000 else f"{value:.2f}"


def _wrk_bytes(size: float) -> str:
    return f"{size / MEBI:.2f}MB" if size >= MEBI else f"{size / KIBI:.2f}KB"


def write_wrk(trial: MadeTrial, figures: PrintedFigures) -> str:
    """wrk 4 with --latency."""
    p, read = figures.percentiles_us, figures.count * RESPONSE_BYTES
    rows = "".join(f"     {name}%  {_wrk_time(p[name]):>8}\n" for name in ("50", "75", "90", "99"))
    failed = int((trial.status >= 400).sum())
    errors = f"  Non-2xx or 3xx responses: {failed}\n" if failed else ""
    return (
        f"Running {round(trial.asked_s or trial.elapsed_s)}s test @ http://10.0.0.2:8080/\n"
        f"  {WRK_THREADS} threads and {trial.connections} connections\n"
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
        f"    Latency   {_wrk_time(figures.mean_us)}  {_wrk_time(figures.deviation_us)}  "
        f"{_wrk_time(figures.max_us)}   70.00%\n"
        f"    Req/Sec   {_wrk_amount(figures.rate_rps / 2)}   100.00   "
        f"{_wrk_amount(figures.rate_rps)}   70.00%\n"
        f"  Latency Distribution\n{rows}"
        f"  {figures.count} requests in {figures.elapsed_s:.2f}s, {_wrk_bytes(read)} read\n{errors}"
        f"Requests/sec: {figures.rate_rps:9.2f}\n"
        f"Transfer/sec: {_wrk_bytes(read / figures.elapsed_s):>11}\n"
    )


def write_ab(trial: MadeTrial, figures: PrintedFigures) -> str:
    """ab 2.3 with -k: whole milliseconds."""
    p = {**figures.percentiles_us, "100": figures.max_us}
    names = ("50", "66", "75", "80", "90", "95", "98", "99", "100")
    rows = "".join(f"{name:>4}%  {round(p[name] / 1000):>5}\n" for name in names)
    failed = int((trial.status >= 400).sum())
    errors = f"Non-2xx responses:      {failed}\n" if failed else ""
    low, mean, deviation, middle, high = (
        us / 1000
        for us in (figures.min_us, figures.mean_us, figures.deviation_us, p["50"], figures.max_us)
    )
    read = figures.count * RESPONSE_BYTES
    each_ms = trial.connections * figures.elapsed_s * 1000 / max(figures.count, 1)
    return (
        "This is ApacheBench, Version 2.3 <$Revision: 1879490 $>\n\n"
        "Server Software:        nginx/1.25\nServer Hostname:        10.0.0.2\n"
        "Server Port:            8080\n\nDocument Path:          /\n"
        "Document Length:        100 bytes\n\n"
        f"Concurrency Level:      {trial.connections}\n"
        f"Time taken for tests:   {figures.elapsed_s:.3f} seconds\n"
        f"Complete requests:      {figures.count}\nFailed requests:        0\n{errors}"
        f"Keep-Alive requests:    {figures.count}\n"
        f"Total transferred:      {read} bytes\n"
        f"HTML transferred:       {figures.count * 100} bytes\n"
        f"Requests per second:    {figures.rate_rps:.2f} [#/sec] (mean)\n"
        f"Time per request:       {each_ms:.3f} [ms] (mean)\n"
        f"Transfer rate:          {read / KIBI / figures.elapsed_s:.2f} [Kbytes/sec] received\n\n"
        "Connection Times (ms)\n              min  mean[+/-sd] median   max\n"
        "Connect:        0    0   0.0      0       1\n"
        f"Total:   {round(low)} {round(mean)} {deviation:.1f} {round(middle)} {round(high)}\n\n"
        f"Percentage of the requests served within a certain time (ms)\n"
        f"{rows.rstrip()} (longest request)\n"
    )


def write_hey(trial: MadeTrial, figures: PrintedFigures) -> str:
    """hey's summary: seconds with 4 decimals."""
    names = ("10", "25", "50", "75", "90", "95", "99")
    rows = "".join(
        f"  {name}% in {figures.percentiles_us[name] / 1e6:.4f} secs\n" for name in names
    )
    return (
        f"\nSummary:\n  Total:\t{figures.elapsed_s:.4f} secs\n"
        f"  Slowest:\t{figures.max_us / 1e6:.4f} secs\n"
        f"  Fastest:\t{figures.min_us / 1e6:.4f} secs\n"
        f"  Average:\t{figures.mean_us / 1e6:.4f} secs\n"
        f"  Requests/sec:\t{figures.rate_rps:.4f}\n\n"
        f"Response time histogram:\n{_bars(trial, 1e6, '', chr(9) + '|')}\n\n"
        f"Latency distribution:\n{rows}\n"
        "Details (average, fastest, slowest):\n"
        "  DNS+dialup:\t0.0000 secs, 0.0000 secs, 0.0100 secs\n\n"
        f"Status code distribution:\n{_statuses(trial, HEY_STATUS)}\n\n\n\n"
    )


def _bars(trial: MadeTrial, unit_us: float, unit: str, mark: str) -> str:
    """The histogram of hey and oha: how many requests took at most so long."""
    times = trial.latency_us / unit_us
    edges = np.linspace(times.min(), times.max(), 11)
    bars = np.searchsorted(edges, times, side="left").clip(max=10)
    counts = np.bincount(bars, minlength=11)
    return "".join(
        f"  {edge:.3f}{unit} [{n}]{mark}\n" for edge, n in zip(edges, counts, strict=True)
    )


def _statuses(trial: MadeTrial, form: str) -> str:
    """Each status and its count in a form of the tool."""
    counts = sorted(Counter(trial.status.tolist()).items())
    return "".join(form.format(status, count) for status, count in counts)


def write_hey_csv(trial: MadeTrial, _figures: PrintedFigures) -> str:
    """hey -o csv: a line a request."""
    lines = [
        f"{us / 1e6:.4f},0.0001,0.0000,0.0001,{us / 1e6:.4f},0.0000,{status},{start:.4f}"
        for us, status, start in _rows(trial)
    ]
    head = (
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
    )
    return "\n".join([head, *lines]) + "\n"


def _rows(trial: MadeTrial) -> zip[tuple[float, int, float]]:
    return zip(
        trial.latency_us.tolist(), trial.status.tolist(), trial.start_s.tolist(), strict=True
    )


def write_oha(trial: MadeTrial, figures: PrintedFigures) -> str:
    """oha's text: milliseconds with 4 decimals."""
    names = ("10", "25", "50", "75", "90", "95", "99", "99.9", "99.99")
    rows = "".join(
        f"  {float(name):.2f}% in {figures.percentiles_us[name] / 1e3:.4f} ms\n" for name in names
    )
    ok = int((trial.status < 400).sum())
    statuses = _statuses(trial, "  [{}] {} responses\n")
    total_kib = figures.count * 96 / 1024
    return (
        f"Summary:\n  Success rate:\t{ok / trial.count * 100:.2f}%\n"
        f"  Total:\t{figures.elapsed_s * 1e3:.4f} ms\n"
        f"  Slowest:\t{figures.max_us / 1e3:.4f} ms\n"
        f"  Fastest:\t{figures.min_us / 1e3:.4f} ms\n"
        f"  Average:\t{figures.mean_us / 1e3:.4f} ms\n"
        f"  Requests/sec:\t{figures.rate_rps:.4f}\n\n"
        f"  Total data:\t{total_kib:.2f} KiB\n  Size/request:\t96 B\n"
        f"  Size/sec:\t{total_kib / figures.elapsed_s:.2f} KiB\n\n"
        f"Response time histogram:\n{_bars(trial, 1e3, ' ms', ' |')}\n"
        f"Response time distribution:\n{rows}\n\n"
        "Details (average, fastest, slowest):\n"
        "  DNS+dialup:\t0.2859 ms, 0.1379 ms, 0.6237 ms\n"
        "  DNS-lookup:\t0.0436 ms, 0.0019 ms, 0.2647 ms\n\n"
        f"Status code distribution:\n{statuses}"
    )


def _k6_time(us: float) -> str:
    if us >= 1e6:
        return f"{us / 1e6:.2f}s"
    return f"{us / 1e3:.2f}ms" if us >= 1e3 else f"{us:.2f}µs"


def write_k6(trial: MadeTrial, figures: PrintedFigures) -> str:
    """k6's summary with p(99)."""
    p = figures.percentiles_us
    trend = (
        f"avg={_k6_time(figures.mean_us)} min={_k6_time(figures.min_us)} "
        f"med={_k6_time(p['50'])} max={_k6_time(figures.max_us)} "
        f"p(90)={_k6_time(p['90'])} p(95)={_k6_time(p['95'])} p(99)={_k6_time(p['99'])}"
    )
    failed = int((trial.status >= 400).sum())
    return (
        "  █ TOTAL RESULTS \n\n    HTTP\n"
        f"    http_req_duration..............: {trend}\n"
        f"      {{ expected_response:true }}...: {trend}\n"
        f"    http_req_failed................: {failed / figures.count * 100:.2f}%  "
        f"{failed} out of {figures.count}\n"
        f"    http_reqs......................: {figures.count}   {figures.rate_rps:.6f}/s\n\n"
        "    EXECUTION\n"
        f"    iteration_duration.............: {trend}\n"
        f"    iterations.....................: {figures.count}   {figures.rate_rps:.6f}/s\n"
        f"    vus............................: {trial.connections}     "
        f"min={trial.connections}        max={trial.connections}\n"
        f"    vus_max........................: {trial.connections}     "
        f"min={trial.connections}        max={trial.connections}\n\n"
        "    NETWORK\n    data_received..................: 1.2 MB 393 kB/s\n"
        "    data_sent......................: 77 kB  25 kB/s\n\n"
    )


def write_autocannon(trial: MadeTrial, figures: PrintedFigures) -> str:
    """autocannon --json: whole milliseconds, cut off."""
    ok = int((trial.status < 400).sum())
    return json.dumps(
        {
            "url": "http://10.0.0.2:8080/",
            "connections": trial.connections,
            "sampleInt": 1000,
            "pipelining": 1,
            "workers": 0,
            "duration": round(figures.elapsed_s, 2),
            "errors": 0,
            "timeouts": 0,
            "mismatches": 0,
            "non2xx": figures.count - ok,
            "resets": 0,
            "1xx": 0,
            "2xx": ok,
            "3xx": 0,
            "4xx": 0,
            "5xx": figures.count - ok,
            "start": "2026-11-21T03:18:22.391Z",
            "finish": "2026-11-21T03:18:25.416Z",
            "latency": _autocannon_latency(figures),
            "requests": {
                "average": round(figures.rate_rps, 2),
                "mean": round(figures.rate_rps, 2),
                "total": figures.count,
                "sent": figures.count + trial.connections,
            },
            "throughput": {
                "average": round(figures.count * 185 / figures.elapsed_s, 2),
                "mean": round(figures.count * 185 / figures.elapsed_s, 2),
                "total": figures.count * 185,
            },
        }
    )


def _autocannon_latency(figures: PrintedFigures) -> dict[str, float]:
    names = ("10", "25", "50", "75", "90", "97.5", "99", "99.9")
    percentiles_us = figures.percentiles_us
    return {
        "average": round(figures.mean_us / 1000, 2),
        "mean": round(figures.mean_us / 1000, 2),
        "stddev": round(figures.deviation_us / 1000, 2),
        "min": int(figures.min_us / 1000),
        "max": int(figures.max_us / 1000),
        **{f"p{name.replace('.', '_')}": int(percentiles_us[name] / 1000) for name in names},
        "totalCount": figures.count,
    }


def write_bombardier(trial: MadeTrial, figures: PrintedFigures) -> str:
    """bombardier with --latencies."""
    names = ("50", "75", "90", "95", "99")
    rows = "".join(f"     {name}%  {_wrk_time(figures.percentiles_us[name])}\n" for name in names)
    failed = int((trial.status >= 500).sum())
    return (
        f"Bombarding http://10.0.0.2:8080/ for {figures.elapsed_s:g}s using "
        f"{trial.connections} connection(s)\n"
        "Statistics        Avg      Stdev        Max\n"
        f"  Reqs/sec    {figures.rate_rps:.2f}    100.00    {figures.rate_rps * 1.3:.2f}\n"
        f"  Latency     {_wrk_time(figures.mean_us)}    {_wrk_time(figures.deviation_us)}    "
        f"{_wrk_time(figures.max_us)}\n"
        f"  Latency Distribution\n{rows}"
        f"  HTTP codes:\n    1xx - 0, 2xx - {figures.count - failed}, 3xx - 0, 4xx - 0, "
        f"5xx - {failed}\n    others - 0\n  Throughput:     3.52MB/s\n"
    )


def write_vegeta(trial: MadeTrial, figures: PrintedFigures) -> str:
    """vegeta report: an open loop."""
    p = figures.percentiles_us
    times = ", ".join(
        f"{us / 1e3:.3f}ms"
        for us in (
            *(figures.min_us, figures.mean_us, p["50"], p["90"], p["95"], p["99"]),
            figures.max_us,
        )
    )
    ok = int((trial.status < 400).sum())
    codes = _statuses(trial, "{}:{}  ")
    return (
        f"Requests      [total, rate, throughput]         {figures.count}, "
        f"{figures.rate_rps:.2f}, {figures.rate_rps * ok / figures.count:.2f}\n"
        f"Duration      [total, attack, wait]             {figures.elapsed_s:.3f}s, "
        f"{figures.elapsed_s:.3f}s, 0s\n"
        f"Latencies     [min, mean, 50, 90, 95, 99, max]  {times}\n"
        f"Bytes In      [total, mean]                     {figures.count * 13}, 13.00\n"
        "Bytes Out     [total, mean]                     0, 0.00\n"
        f"Success       [ratio]                           {ok / figures.count * 100:.2f}%\n"
        f"Status Codes  [code:count]                      {codes}\nError Set:\n"
    )


def write_vegeta_csv(trial: MadeTrial, _figures: PrintedFigures) -> str:
    """vegeta encode -to csv: a line a request, in the order the responses came."""
    return "".join(
        f"{1_795_229_995_000_000_000 + int(start * 1e9)},{status},{int(us * 1e3)},0,13,,,,{at},"
        "GET,http://10.0.0.2:8080/,\n"
        for at, (us, status, start) in enumerate(_rows(trial))
    )


def write_jmeter(trial: MadeTrial, _figures: PrintedFigures) -> str:
    """JMeter's CSV: a line a request, whole milliseconds, written when the response came."""
    head = (
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
        "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
    )
    threads = trial.connections
    return head + "".join(
        f"{1_795_229_629_000 + int(start * 1000)},{round(us / 1000)},GET /,{status},OK,"
        f"load 1-{at % threads + 1},text,{'true' if status < 400 else 'false'},,185,118,"
        f"{threads},{threads},http://10.0.0.2:8080/,{round(us / 1000)},0,0\n"
        for at, (us, status, start) in enumerate(_rows(trial))
    )


TOOLS = (
    MadeTool("ab", write_ab, 1_000),
    MadeTool("wrk", write_wrk, 10, compute=corrected_figures_of),
    MadeTool("hey", write_hey, 100),
    MadeTool(
        *("hey CSV", write_hey_csv, 100),
        has_rows=True,
        has_seconds=True,
        lists_answers_only=True,
    ),
    MadeTool("oha", write_oha, 0.1),
    MadeTool("k6", write_k6, 10),
    MadeTool("autocannon", write_autocannon, 1_000),
    MadeTool("bombardier", write_bombardier, 10),
    MadeTool("vegeta", write_vegeta, 1, is_open=True),
    MadeTool("vegeta CSV", write_vegeta_csv, 1, is_open=True, has_rows=True, has_seconds=True),
    MadeTool("JMeter CSV", write_jmeter, 1_000, has_rows=True, has_seconds=True),
)
