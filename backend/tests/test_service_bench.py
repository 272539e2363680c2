"""What `scripts/bench service` measures with: clients, pairs, memory and the made archive."""

import http.server
import json
import re
import threading
from collections import Counter
from subprocess import CalledProcessError

import pytest
from loadsheet_agent.imports.techempower import runs_of

from backend.formats import RawArtefact, parse
from backend.testing.load_clients import report_order, send, upload_order
from backend.testing.service import bencher, flatness, memory
from backend.testing.service.archive import FILES, OUTPUTS, make_tree
from backend.testing.service.memory import MIB, Sample, sample_over, trends

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def is_metric_format(result):
    """Whether a text is Bencher Metric Format: by benchmark and measure, an object with a value."""
    benchmarks = json.loads(result or "{}")
    figures = [figure for measures in benchmarks.values() for figure in measures.values()]
    return bool(figures) and all(isinstance(figure["value"], float) for figure in figures)


class StubOfBencher(http.server.BaseHTTPRequestHandler):
    """Takes a report as Bencher's `POST /v0/projects/{project}/reports` does, or says why not."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        fault = self.fault_of(json.loads(body))
        self.server.faults.append(fault)
        answer = json.dumps({"error": fault} if fault else {"uuid": "0"}).encode()
        self.send_response(400 if fault else 201)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def fault_of(self, report):
        times = [report.get("start_time", ""), report.get("end_time", "")]
        is_right = {
            f"path {self.path}": self.path == "/v0/projects/mine/reports",
            "token": self.headers["authorization"] == "Bearer secret",
            "branch or testbed": {"branch", "testbed"} <= set(report),
            f"times {times}": all(map(TIME.fullmatch, times)),
            "settings": report.get("settings") == {"adapter": "json"},
            "results": all(map(is_metric_format, report.get("results", [""]))),
        }
        return next((part for part, is_taken in is_right.items() if not is_taken), "")

    def log_message(self, *_):
        pass


@pytest.fixture
def stub():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StubOfBencher)
    server.faults = []
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def host_of(server):
    return f"127.0.0.1:{server.server_port}"


@pytest.mark.processes
def test_clients_send_reports_that_bencher_takes(stub):
    sent = send(report_order(host_of(stub), "mine", "secret", seconds=0.3), clients=2)
    assert set(stub.faults) == {""}
    assert len(sent.taken_ms) == len(stub.faults) >= 2
    assert sent.per_second == len(sent.taken_ms) / 0.3


@pytest.mark.processes
def test_a_report_that_is_refused_ends_the_measurement(stub, capfd):
    with pytest.raises(CalledProcessError):
        send(report_order(host_of(stub), "another", "secret", seconds=0.3), clients=1)
    assert "path /v0/projects/another/reports" in capfd.readouterr().err


@pytest.mark.processes
def test_a_client_ends_after_as_many_requests_as_it_may_send(stub):
    order = report_order(host_of(stub), "mine", "secret", seconds=60, most=3)
    assert len(send(order, clients=2).taken_ms) == 6


def test_an_upload_has_another_text_each_time():
    order = upload_order("host", "token", "text", seconds=1)
    assert order.body.count("@number@") == 1


def test_pairs_alternate_and_the_ratio_is_of_each_pair():
    order = []
    rates = iter([300, 100, 220, 200, 90, 60, 100, 50])

    def measured(name):
        order.append(name)
        return next(rates)

    pairs = list(bencher.alternate(lambda: measured("ours"), lambda: measured("theirs")))
    assert order == ["ours", "theirs", "theirs", "ours"] * 2
    assert [round(pair.ratio, 2) for pair in pairs] == [3.0, 0.91, 1.5, 0.5]
    assert bencher.summary(pairs) == "1.20 times in the median, 0.50 to 3.00"


def samples(bytes_of):
    return [
        Sample(uploads, Counter(web=bytes_of(uploads)), Counter(web=2 * bytes_of(uploads)))
        for uploads in range(0, 110_000, 10_000)
    ]


@pytest.mark.parametrize(
    ("bytes_of", "is_flat"),
    [
        # Caches that fill at the beginning.
        (lambda uploads: 200 * MIB + min(uploads, 20_000) * 2000, True),
        (lambda uploads: 200 * MIB + uploads % 30_000 * 10, True),
        (lambda uploads: 300 * MIB - uploads * 500, True),
        # 100 bytes of each upload stay: 9 MiB.
        (lambda uploads: 200 * MIB + uploads * 100, False),
    ],
)
def test_memory_is_judged_by_its_slope_after_the_warm_up(bytes_of, is_flat):
    web = next(trend for trend in trends(samples(bytes_of)) if trend.program == "web")
    assert web.is_flat is is_flat
    assert ("GROWS" in web.line) is not is_flat


def test_the_slope_is_that_of_one_upload():
    web = next(iter(trends(samples(lambda uploads: 200 * MIB + uploads * 100))))
    assert web.bytes_per_upload == pytest.approx(100)
    assert "+0.95 MiB for 10,000 uploads" in web.line


def test_memory_is_sampled_after_each_tenth(monkeypatch):
    monkeypatch.setattr(
        memory, "memory_by_program", lambda: (Counter(web=3 * MIB), Counter(web=5 * MIB))
    )
    lines = []
    sampled = sample_over(2000, lambda uploads: uploads, say=lines.append)
    assert [sample.uploads for sample in sampled] == list(range(0, 2001, 200))
    assert lines[-1].strip().startswith("2,000 uploads: web 3/5")


def test_a_service_that_slows_down_is_not_flat():
    # Each tenth takes a second longer than the one before.
    times = iter([0, 1, 1, 3, 3, 6, 6, 10, 10, 15, 15, 21, 21, 28, 28, 36, 36, 45, 45, 55])
    lines = []
    rates = flatness.rates_over(
        2000, lambda uploads: uploads, say=lines.append, clock=lambda: next(times)
    )
    assert rates[0] == 200
    assert flatness.ratio(rates) == pytest.approx(0.1)
    assert flatness.ratio(rates) < flatness.FLAT_RATIO
    assert lines[-1].strip() == "2,000 uploads: 20/s"


def test_the_made_archive_is_read_by_agent_and_service(tmp_path):
    make_tree(tmp_path / "results", files=20, outputs=150)
    runs = runs_of(tmp_path / "results")
    texts = [text for run in runs for text in run.files.values()]
    assert sum(run.trials for run in runs) == len(set(texts)) == 150
    for text in texts[:10]:
        (trial,) = parse([RawArtefact.of("raw.txt", text)])
        assert trial.requests_completed > 0


def test_the_made_archive_is_as_large_as_that_of_the_library(tmp_path):
    make_tree(tmp_path)
    texts = [path.read_text() for path in tmp_path.rglob("raw")]
    assert len(texts) == FILES == 2_133
    assert sum(text.count("requests in") for text in texts) == OUTPUTS == 16_000
