"""scripts/bench service: receiving and reading, with everything running.

Starts its own service on a free port with a fresh data folder, sends to loopback only, and prints
what it measured beside the machine's facts. Figures of a shared machine: compare within one run.

With --memory N, it sends N small uploads and says of each program whether its memory grows. With
--flat N, it says whether the last of them are received and read as fast as the first. With
--bencher URL, it measures the service and a Bencher server in alternating pairs. Bencher must be
running on the same machine, with a project and a token in BENCHER_PROJECT and BENCHER_TOKEN.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx
from own_service import demo_token, own_service, print_machine

from backend.testing.load_clients import percentile, report_order, send, upload_order
from backend.testing.reports import WRK, make_envelope, make_trial
from backend.testing.service import archive, bencher, flatness, memory
from backend.testing.service.bench import Bench
from backend.testing.service.processes import cpu_by_program, cpu_of_each, memory_by_program

# Variables of the Bencher server.
BENCHER_ACCESS = ("BENCHER_TOKEN", "BENCHER_PROJECT")
CLIENTS, FLOOD, ALONE_S = 8, 10_000, 15
CAPTURE = Path(__file__).parents[2] / "backend/formats/ab/tests/captures/close-c100-40-tsv"
AB = (CAPTURE / "stdout").read_text()
# Of sending a tenth of the uploads of --memory and --flat.
TENTH_TIMEOUT_S = 3600
# Sent before the first part of --flat.
WARM_UPS = 1_000
ONE_AT_A_TIME = 100


def main() -> None:
    given = arguments()
    print_machine()
    # Two idle cores receive more than one sender may send.
    os.environ["UPLOADS_PER_MINUTE"] = str(1_000_000)
    with own_service() as site:
        bench = Bench(site, demo_token(site))
        pace_before_ms = pace_ms()
        measure(bench, given)
        print(f"the machine's pace: {pace_before_ms:.1f} ms before, {pace_ms():.1f} ms after")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench service", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="of receiving and reading")
    parser.add_argument("--bencher", metavar="URL", help="a Bencher server to measure beside ours")
    parser.add_argument("--memory", type=int, metavar="N", help="only memory over N small uploads")
    parser.add_argument("--flat", type=int, metavar="N", help="only the rates over N small uploads")
    parser.add_argument("--archive", metavar="DIR", help="a results tree in place of a made one")
    parser.add_argument("--only-rates", action="store_true", help="receiving and reading alone")
    given = parser.parse_args()
    for name in ("memory", "flat"):
        count, least = getattr(given, name), memory.POINTS * CLIENTS
        if count is not None and count < least:
            parser.error(f"--{name} needs at least {least} uploads")
    if given.bencher and not {*BENCHER_ACCESS} <= set(os.environ):
        parser.error(f"--bencher needs {' and '.join(BENCHER_ACCESS)} in the environment")
    return given


def measure(bench: Bench, given: argparse.Namespace) -> None:
    time.sleep(5)
    if given.memory is not None:
        memory_over(bench, given.memory)
        return
    if given.flat is not None:
        flat_over(bench, given.flat)
        return
    if given.bencher:
        beside_bencher(bench, given.bencher, given.seconds)
        return
    idle_memory(bench)
    envelope_of_trials(bench, 120, aim_s=0.5)
    received_and_read(bench, given.seconds)
    accepted_alone(bench)
    one_at_a_time(bench)
    if given.only_rates:
        return
    paced(bench)
    beside_a_flood(bench)
    envelope_of_trials(bench, 5_000, aim_s=15)
    imported_archive(bench, given.archive)


def show(what: str, aim: str, measured: str) -> None:
    """One row of the table."""
    print(f"| {what} | {aim} | {measured} |", flush=True)


def post(client: httpx.Client, name: str = "wrk.txt") -> dict[str, str]:
    answer = client.post("/api/v1/uploads", files={"file": (name, WRK)})
    answer.raise_for_status()
    return dict(answer.json())


def wait_parsed(client: httpx.Client, upload_id: str, limit_s: float = 60) -> None:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        state = client.get(f"/api/v1/uploads/{upload_id}").json()["state"]
        if state == "parsed":
            return
        if state in ("failed", "quarantined"):
            sys.exit(f"upload {upload_id} ended as {state}")
        time.sleep(0.01)
    sys.exit(f"upload {upload_id} was not parsed in {limit_s:g} s")


def send_envelope(
    client: httpx.Client, trials: list[dict[str, object]], outputs: Sequence[str]
) -> str:
    """The id of an upload with these trials and their outputs."""
    envelope = {**make_envelope(0), "trials": trials}
    files = [("file", (f"{number}.txt", text)) for number, text in enumerate(outputs)]
    answer = client.post(
        "/api/v1/uploads", data={"envelope": json.dumps(envelope)}, files=files, timeout=120
    )
    answer.raise_for_status()
    return str(answer.json()["id"])


def envelope_of_trials(bench: Bench, count: int, aim_s: float) -> None:
    with bench.client() as client:
        wait_parsed(client, post(client)["id"])  # warm-up, discarded
        started = time.perf_counter()
        trials = [make_trial(number) for number in range(count)]
        upload_id = send_envelope(client, trials, [WRK] * count)
        sent = time.perf_counter()
        wait_parsed(client, upload_id)
        parsed = time.perf_counter()
    show(
        f"one envelope of {count:,} trials, readable after its 202 (accepted in "
        f"{sent - started:.2f} s)",
        f"<= {aim_s:g} s",
        f"{parsed - sent:.2f} s",
    )


def paced(bench: Bench, rate: int = 20, seconds: int = 15) -> None:
    """Uploads at a steady rate; times by the service's own clock, so that asking costs nothing."""
    since = bench.now()
    send(upload_order(bench.host, bench.token, AB, seconds=seconds, rate=rate), clients=1)
    bench.wait_until_read()
    p50_s, p95_s = (bench.waits_s(since, "demo", percent) for percent in (50, 95))
    what = f"upload to readable at {rate} a second (p50 {p50_s:.3f} s), p95"
    show(what, "<= 0.3 s", f"{p95_s:.3f} s")


def one_at_a_time(bench: Bench) -> None:
    """Each upload is sent when the one before can be queried; by the client's clock."""
    waits_ms = []
    with bench.client() as client:
        for number in range(ONE_AT_A_TIME + 1):
            started = time.perf_counter()
            wait_parsed(client, post(client, f"{number}.txt")["id"])
            waits_ms.append((time.perf_counter() - started) * 1000)
    # The first is the warm-up.
    p50_ms, p95_ms = (percentile(sorted(waits_ms[1:]), percent) for percent in (50, 95))
    what = f"one at a time, from upload to readable (p50 {p50_ms / 1000:.3f} s), p95"
    show(what, "<= 0.3 s", f"{p95_ms / 1000:.3f} s")


def received_and_read(bench: Bench, seconds: int) -> None:
    """Uploads as fast as they are accepted; until the last is readable."""
    since, cpu_before, began = bench.now(), cpu_by_program(), time.monotonic()
    sent = send(upload_order(bench.host, bench.token, AB, seconds=seconds), clients=CLIENTS)
    read = bench.read_count(since)
    bench.wait_until_read()
    took_s = time.monotonic() - began
    count = len(sent.taken_ms)
    what = f"received, read and queryable: {CLIENTS} clients for {seconds} s, until all are read"
    show(what, ">= 350/s", f"{count / took_s:.0f}/s")
    show("— received meanwhile", "", f"{sent.per_second:.0f}/s")
    show("— read while others were received", "", f"{read / seconds:.0f}/s")
    show("— ms of CPU for each", "", cpu_of_each(cpu_before, count))


def accepted_alone(bench: Bench) -> None:
    """Nobody reads meanwhile."""
    cpu_before = cpu_by_program()
    with bench.stopped_readers():
        order = upload_order(bench.host, bench.token, AB, seconds=ALONE_S)
        sent = send(order, clients=CLIENTS)
    show(f"accepted alone, {CLIENTS} clients", "", f"{sent.per_second:.0f}/s")
    show("— time of the answer, p99", "<= 60 ms", f"{sent.percentile(99):.0f} ms")
    show("— ms of CPU for each", "", cpu_of_each(cpu_before, len(sent.taken_ms)))
    began, waiting = time.monotonic(), bench.waiting_count()
    bench.wait_until_read()
    show("— then read alone", "", f"{waiting / (time.monotonic() - began):.0f}/s")


def beside_a_flood(bench: Bench) -> None:
    """A workspace that uploads five times a second, alone and beside 10,000 uploads that wait."""
    token = bench.make_workspace("small")
    alone_s = small_workspace(bench, token)
    with bench.stopped_readers():
        while bench.waiting_count() < FLOOD:
            send(upload_order(bench.host, bench.token, AB, seconds=5), clients=CLIENTS)
    beside_s = small_workspace(bench, token)
    left = bench.waiting_count()
    show("small workspace alone: p95 of upload to readable", "", f"{alone_s:.3f} s")
    what = f"— beside {FLOOD:,} uploads that wait ({left:,} at the end)"
    show(what, "<= 2 times", f"{beside_s:.3f} s, {beside_s / alone_s:.1f} times")
    bench.wait_until_read()


def small_workspace(bench: Bench, token: str) -> float:
    since = bench.now()
    send(upload_order(bench.host, token, AB, seconds=10, rate=5), clients=1)
    time.sleep(1)
    return bench.waits_s(since, "small", 95)


def idle_memory(bench: Bench) -> None:
    """Of everything that was started. Pages that processes share count once."""
    shares, _ = memory_by_program()
    by_program = ", ".join(f"{name} {used >> 20}" for name, used in shares.most_common())
    show(f"idle memory in MiB ({by_program})", "<= 600", str(sum(shares.values()) >> 20))


def memory_over(bench: Bench, count: int) -> None:
    """Small uploads as fast as they are accepted, sampled where all are read."""
    print("MiB with shared pages counted once / in each process")
    samples = memory.sample_over(count, lambda uploads: send_and_read(bench, uploads), say=print)
    for trend in memory.trends(samples):
        print(trend.line)


def flat_over(bench: Bench, count: int) -> None:
    """Whether the service slows down as its tables grow."""
    send_and_read(bench, WARM_UPS)
    rates = flatness.rates_over(count, lambda uploads: send_and_read(bench, uploads), say=print)
    what = f"received, read and queryable: the last tenth of {count:,} uploads against the first"
    show(what, f">= {flatness.FLAT_RATIO:g} times", f"{flatness.ratio(rates):.2f} times")


def send_and_read(bench: Bench, uploads: int) -> int:
    """Send about so many small uploads, as fast as they are accepted, until all are read; how many
    there were."""
    order = upload_order(bench.host, bench.token, AB, seconds=TENTH_TIMEOUT_S)
    sent = send(replace(order, most=uploads // CLIENTS), clients=CLIENTS)
    bench.wait_until_read()
    return len(sent.taken_ms)


def beside_bencher(bench: Bench, url: str, seconds: int) -> None:
    """The same clients at both. Bencher's answer means stored and queryable, so that is what is
    counted of ours."""
    token, project = (os.environ[name] for name in BENCHER_ACCESS)
    theirs = report_order(url.removeprefix("http://"), project, token, seconds=seconds)
    ours = upload_order(bench.host, bench.token, AB, seconds=seconds)

    def our_rate() -> float:
        began = time.monotonic()
        count = len(send(ours, clients=CLIENTS).taken_ms)
        bench.wait_until_read()
        return count / (time.monotonic() - began)

    pairs = []
    for pair in bencher.alternate(our_rate, lambda: send(theirs, clients=CLIENTS).per_second):
        pairs.append(pair)
        what = f"received, read and queryable for {seconds} s: ours, Bencher"
        show(what, "", f"{pair.ours:.0f}/s, {pair.theirs:.0f}/s, {pair.ratio:.2f} times")
    show("— ratio", f">= {bencher.AIM:g} times", bencher.summary(pairs))


def imported_archive(bench: Bench, given: str | None) -> None:
    """A results tree, imported by the agent, until all its trials can be queried."""
    with tempfile.TemporaryDirectory(prefix="loadsheet-archive-") as folder:
        tree = Path(given) if given else Path(folder) / "results"
        if not given:
            archive.make_tree(tree)
        files = sum(1 for path in tree.rglob("raw") if path.is_file())
        before = bench.number("SELECT count(*) FROM runs_trial")
        began = time.monotonic()
        archive.import_tree(tree, bench.site.url, bench.token, Path(folder) / "spool")
        imported_s = time.monotonic() - began
        bench.wait_until_read()
        took_s = time.monotonic() - began
        trials = bench.number("SELECT count(*) FROM runs_trial") - before
    show(
        f"an archive of {trials:,.0f} trials in {files:,} files, imported and readable (sent in "
        f"{imported_s:.1f} s)",
        "<= 60 s",
        f"{took_s:.1f} s",
    )


def pace_ms() -> float:
    """CPU time of a fixed piece of work: busy neighbours slow the cores themselves, and with them
    every figure above. Runs of unlike pace are not comparable."""
    taken = []
    for _ in range(5):
        started = time.process_time()
        sum(range(1_000_000))
        taken.append(time.process_time() - started)
    return min(taken) * 1000


if __name__ == "__main__":
    main()
