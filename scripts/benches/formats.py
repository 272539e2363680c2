"""scripts/bench formats: how fast load tools' output is read, and in how much memory.

Writes logs of every request with a generator of its own (the same bytes for the same size) into a
temporary folder. Beside our time for each log, which includes the histogram and the time series,
stands what the same process needs to read the same columns with polars, or to decode the same
lines with orjson; the two take turns, and polars has one thread, as it has where uploads are read
(POLARS_MAX_THREADS changes that). Ours reads a chunk ahead in a thread of its own: on a machine
with one free core it takes longer. Memory is a child process's peak. Figures of a shared machine:
compare within one run.
"""

import argparse
import base64
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

# As in the process that reads uploads: said before polars is imported.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import orjson
import polars as pl

from backend.formats import TOOLS, FormatError, RawArtefact, parse
from backend.testing.damage import captures

SEED, CHUNK = 20_260_601, 10_000
# Log-normal latencies of 8 ms in the middle, 2,000 requests a second, 1 % fail.
MEDIAN_US, SIGMA, RATE, FAILING = 8000.0, 0.6, 2000.0, 0.01
START_S = 1_780_000_000
URL = "http://127.0.0.1:8080/"
BODY = base64.b64encode(b"hello, world\n").decode()
ROUNDS = 3
MEMORY_MIB, TEXTS_A_SECOND = 300, 1000
# k6 writes thirteen lines for a request.
K6_SHARE = 10
TEXT_BYTES = 4096
# What a report for people may be long.
LONGEST_TEXT = 64 << 10

Request = tuple[float, float, bool]


def requests(count: int) -> Iterator[Request]:
    """The start (s), the latency (µs) and the success of each request."""
    chance = np.random.default_rng(SEED)
    for begin in range(0, count, CHUNK):
        size = min(CHUNK, count - begin)
        starts = (begin + np.arange(size)) / RATE
        latencies = MEDIAN_US * np.exp(SIGMA * chance.standard_normal(size))
        succeeded = chance.random(size) >= FAILING
        yield from zip(starts.tolist(), latencies.tolist(), succeeded.tolist(), strict=True)


def write_ab(count: int, out: TextIO) -> None:
    out.write("starttime\tseconds\tctime\tdtime\tttime\twait\n")
    for start, latency, _ in requests(count):
        second, total = int(START_S + start), round(latency / 1000)
        stamp = time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime(second))
        out.write(f"{stamp}\t{second}\t0\t{total}\t{total}\t{total}\n")


def write_hey(count: int, out: TextIO) -> None:
    out.write("response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,")
    out.write("status-code,offset\n")
    for start, latency, ok in requests(count):
        took = f"{latency / 1e6:.4f}"
        code = 200 if ok else 500
        out.write(f"{took},0.0000,0.0000,0.0000,{took},0.0000,{code},{start:.4f}\n")


def write_oha(count: int, out: TextIO) -> None:
    out.write("request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n")
    for start, latency, ok in requests(count):
        took = f"{latency / 1e6:.9f}"
        out.write(f"{start:.9f},0.000001500,0.000015000,{took},{took},13,{200 if ok else 500}\n")


def write_jtl(count: int, out: TextIO) -> None:
    out.write("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,")
    out.write("failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n")
    lost = "Non HTTP response code: org.apache.http.NoHttpResponseException"
    message = "Non HTTP response message: 127.0.0.1:8080 failed to respond"
    for number, (start, latency, ok) in enumerate(requests(count)):
        took, thread = round(latency / 1000), number % 20 + 1
        answer = "200,OK" if ok else f"{lost},{message}"
        out.write(
            f"{round((START_S + start) * 1000)},{took},HTTP Request,{answer},"
            f"Thread Group 1-{thread},text,{'true' if ok else 'false'},,{77 if ok else 2512},"
            f"{118 if ok else 0},20,20,{URL},{took if ok else 0},0,0\n"
        )


def write_vegeta_csv(count: int, out: TextIO) -> None:
    headers = base64.b64encode(b"Content-Length: 13\r\nContent-Type: text/plain\r\n").decode()
    for number, (start, latency, ok) in enumerate(requests(count)):
        stamp, took = round((START_S + start) * 1e9), round(latency * 1000)
        answer = f"0,13,,{BODY}" if ok else f'0,0,"Get ""{URL}"": EOF",'
        answer_headers = headers if ok else ""
        out.write(
            f"{stamp},{200 if ok else 0},{took},{answer},,{number},GET,{URL},{answer_headers}\n"
        )


def write_vegeta_json(count: int, out: TextIO) -> None:
    headers = '{"Content-Length":["13"],"Content-Type":["text/plain"]}'
    for number, (start, latency, ok) in enumerate(requests(count)):
        answer = f'"bytes_in":13,"error":"","body":"{BODY}"' if ok else _NO_ANSWER
        out.write(
            f'{{"attack":"","seq":{number},"code":{200 if ok else 0},"timestamp":"{_iso(start)}",'
            f'"latency":{round(latency * 1000)},"bytes_out":0,{answer},"method":"GET",'
            f'"url":"{URL}","headers":{headers if ok else "null"}}}\n'
        )


_NO_ANSWER = f'"bytes_in":0,"error":"Get \\"{URL}\\": EOF","body":null'


def write_h2load(count: int, out: TextIO) -> None:
    for start, latency, ok in requests(count):
        out.write(f"{round((START_S + start) * 1e6)}\t{200 if ok else 500}\t{round(latency)}\n")


def write_k6(count: int, out: TextIO) -> None:
    kinds = {"http_reqs": "counter", "http_req_failed": "rate", "http_req_duration": "trend"}
    for name in K6_METRICS:
        kind = kinds.get(name, "trend")
        out.write(
            f'{{"type":"Metric","data":{{"name":"{name}","type":"{kind}","contains":"default",'
            f'"thresholds":[],"submetrics":null}},"metric":"{name}"}}\n'
        )
    for start, latency, ok in requests(count):
        end = _iso(start + latency / 1e6)
        tags = (
            f'{{"expected_response":"{"true" if ok else "false"}","group":"","method":"GET",'
            f'"name":"{URL}","proto":"HTTP/1.1","scenario":"default",'
            f'"status":"{200 if ok else 500}","url":"{URL}"}}'
        )
        values = {"http_reqs": 1, "http_req_failed": int(not ok), "iterations": 1}
        values["http_req_duration"] = values["http_req_waiting"] = round(latency) / 1000
        for name in K6_METRICS:
            out.write(
                f'{{"metric":"{name}","type":"Point","data":{{"time":"{end}",'
                f'"value":{values.get(name, 0)},"tags":{tags}}}}}\n'
            )


K6_METRICS = (
    *("http_reqs", "http_req_duration", "http_req_blocked", "http_req_connecting"),
    *("http_req_tls_handshaking", "http_req_sending", "http_req_waiting", "http_req_receiving"),
    *("http_req_failed", "data_sent", "data_received", "iteration_duration", "iterations"),
)


def _iso(start_s: float) -> str:
    whole, part = divmod(round((START_S + start_s) * 1e6), 1_000_000)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{part:06d}Z"


def read_columns(
    *columns: int, separator: str = ",", header: bool = True
) -> Callable[[Path], object]:
    """A reading of these columns (from 0) with polars alone."""

    def read(path: Path) -> object:
        table = pl.scan_csv(path, separator=separator, has_header=header, quote_char='"')
        return table.select(pl.nth(*columns)).collect()

    return read


def decode_lines(path: Path) -> int:
    """A loop over the lines with orjson alone."""
    count = 0
    with path.open("rb") as lines:
        for line in lines:
            orjson.loads(line)
            count += 1
    return count


@dataclass(frozen=True, slots=True)
class Log:
    """A kind of log: who writes it, how it is generated, and what its reading is held against."""

    name: str
    tool: str
    write: Callable[[int, TextIO], None]
    alone: Callable[[Path], Any]
    # Ours may take so many times as long.
    target: float = 2.0
    share: int = 1


LOGS = (
    Log("ab TSV", "ab", write_ab, read_columns(4, separator="\t")),
    Log("hey CSV", "hey", write_hey, read_columns(0, 6, 7)),
    Log("oha CSV", "oha", write_oha, read_columns(0, 4, 5, 6)),
    Log("JTL CSV", "jmeter", write_jtl, read_columns(0, 1, 2, 3, 4, 7, 8, 9, 13)),
    Log(
        "vegeta CSV",
        "vegeta",
        write_vegeta_csv,
        read_columns(0, 1, 2, 3, 4, 5, 9, 10, header=False),
    ),
    Log("vegeta JSON", "vegeta", write_vegeta_json, decode_lines, 1.6),
    Log("h2load log", "h2load", write_h2load, read_columns(0, 1, 2, separator="\t", header=False)),
    Log("k6 NDJSON", "k6", write_k6, decode_lines, 1.6, K6_SHARE),
)


def main() -> None:
    options = _options()
    print(f"{os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="loadsheet-bench-", dir=options.folder) as folder:
        for log in LOGS:
            if options.only and options.only not in log.name:
                continue
            if log.tool not in TOOLS:
                print(f"{log.name}: skipped, {log.tool} is not read yet")
                continue
            path = Path(folder) / log.name.replace(" ", "-").lower()
            measure(log, path, max(options.requests // log.share, 1))
            path.unlink()
    if not options.only or options.only == "texts":
        texts()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench formats", description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000, help="requests in each log")
    parser.add_argument("--only", help="a part of a log's name, or texts")
    parser.add_argument("--folder", help="where the logs are written (a temporary folder)")
    return parser.parse_args()


def measure(log: Log, path: Path, count: int) -> None:
    """Print what reading one log costs."""
    with path.open("w", encoding="utf-8", buffering=1 << 20) as out:
        log.write(count, out)
    size = path.stat().st_size
    read = samples_of(path)
    if read != count:
        sys.exit(f"{log.name}: {read} samples were read of {count} requests")
    ours, alone = best(lambda: samples_of(path), lambda: log.alone(path))
    peak, start = peak_mib(path), peak_mib(None)
    ratio = ours / alone
    print(
        f"{log.name:12} {count:>9,} requests {size >> 20:>5} MiB: ours {ours:.2f} s, "
        f"{'orjson' if log.alone is decode_lines else 'polars'} alone {alone:.2f} s, "
        f"{_held(f'{ratio:.2f} x', ratio <= log.target, f'{log.target:g} x')}; "
        f"peak {_held(f'{peak} MiB', peak <= MEMORY_MIB, f'{MEMORY_MIB} MiB')}, "
        f"{start} MiB of it before the log is opened",
        flush=True,
    )


def _held(figure: str, is_held: bool, target: str) -> str:
    return f"{figure} (target {target}{'' if is_held else ', MISSED'})"


def samples_of(path: Path) -> int | None:
    """Read a log as an upload would be, and say how many requests it had."""
    (trial,) = parse([RawArtefact(path.name, lambda: path.open("rb"))])
    if isinstance(trial, FormatError):
        raise trial
    return trial.samples


def best(*runs: Callable[[], object]) -> list[float]:
    """The least of a few durations of each, in seconds; what else the machine does hits all."""
    durations: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, taken in zip(runs, durations, strict=True):
            started = time.perf_counter()
            run()
            taken.append(time.perf_counter() - started)
    return [min(taken) for taken in durations]


# The kernel's own mark: rusage would count the parent's memory from before exec, too.
CHILD = """
import sys
import polars
from pathlib import Path
from backend.formats import RawArtefact, parse
if len(sys.argv) > 1:
    parse([RawArtefact("log", lambda: Path(sys.argv[1]).open("rb"))])
marks = Path("/proc/self/status").read_text().split("VmHWM:")
print(int(marks[1].split()[0]) >> 10)
"""


def peak_mib(path: Path | None) -> int:
    """The most memory that a process takes to read a log, or to be ready to."""
    command = [sys.executable, "-c", CHILD, *([] if path is None else [str(path)])]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def texts() -> None:
    """Print how many texts of 4 KB one core reads in a second, over all captures that are texts."""
    reports = [
        [RawArtefact.of(name, data)]
        for case in captures()
        for name, data in case.files.items()
        if len(data) <= LONGEST_TEXT and _is_report(name, data)
    ]
    size = sum(len(artefact.open().read()) for (artefact,) in reports)

    def read_all() -> None:
        for artefacts in reports:
            parse(artefacts)

    started = time.process_time()
    rounds = 0
    while time.process_time() - started < ROUNDS:
        read_all()
        rounds += 1
    taken = (time.process_time() - started) / rounds
    rate = size / TEXT_BYTES / taken
    print(
        f"{len(reports)} texts of {size / len(reports) / 1024:.1f} KB on average: "
        f"{len(reports) / taken:,.0f} texts a second per core, as texts of 4 KB "
        f"{_held(f'{rate:,.0f}', rate >= TEXTS_A_SECOND, f'{TEXTS_A_SECOND:,}')}"
    )


def _is_report(name: str, data: bytes) -> bool:
    """Whether a capture is a report for people: it is read, and is no log of every request."""
    try:
        entries = parse([RawArtefact.of(name, data)])
    except FormatError:
        return False
    return all(isinstance(entry, FormatError) or entry.samples is None for entry in entries)


if __name__ == "__main__":
    main()
