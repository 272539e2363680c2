"""What a plan says of its programs: installation, templates, services, limits, what is skipped."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path

import pytest
from agent_fakes import FakeService, Upload, run_agent, write_plan

from loadsheet_agent.exits import Exit
from loadsheet_agent.plan.plan import Plan, SteadySpec
from loadsheet_agent.plan.reading import parse_plan
from loadsheet_agent.run.resting import rest

pytestmark = pytest.mark.processes


def only(service: FakeService) -> Upload:
    (upload,) = service.uploads.values()
    return upload


def flags(tool: str, service: FakeService) -> list[str]:
    return ["--tool-path", f"wrk={tool}", *service.flags]


def one_server(tmp_path: Path, more: str, *, plan_keys: str = "", path: str = "/") -> Path:
    """A plan with one server and one trial; `more` are keys of the server."""
    plan = write_plan(
        tmp_path, servers=1, connections="[1]", repeats=1, warmup_s=0, path=path, more=plan_keys
    )
    text = plan.read_text()
    plan.write_text(text.replace("ready_timeout_s", f"{more}\nready_timeout_s"))
    return plan


def events(service: FakeService, kind: str) -> list[str]:
    return [
        event["text"] for event in only(service).envelope["run"]["events"] if event["kind"] == kind
    ]


def test_templates_ports_numbers_and_limits_reach_the_server(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    (tmp_path / "app.conf.in").write_text("port={port} admin={port:admin} backlog={backlog} {x}\n")
    (tmp_path / "sub").mkdir()
    report = tmp_path / "report"
    (tmp_path / "show.py").write_text(
        "import os, resource, shutil, sys\n"
        f"out = open({str(report)!r}, 'w')\n"
        "print(os.getcwd(), sorted(os.sched_getaffinity(0)),"
        " *(resource.getrlimit(getattr(resource, 'RLIMIT_' + name))[0]"
        " for name in ('NOFILE', 'MEMLOCK', 'NPROC', 'STACK')), sys.argv[2:], file=out)\n"
        "out.write(open(sys.argv[3]).read())\nout.close()\n"
        "hello = sys.argv[0].replace('show', 'hello')\n"
        "os.execv(sys.executable, [sys.executable, hello, sys.argv[1]])\n"
    )
    plan = one_server(
        tmp_path,
        'workers = 3\nbacklog = 99\nports = ["admin"]\ncwd = "sub"\ncpus = [0]\n'
        "ulimit = { nofile = 512, memlock = 65536, nproc = 9000, stack = 4194304 }\n"
        'templates = { "etc/app.conf" = "{here}/app.conf.in" }',
    )
    plan.write_text(
        plan.read_text().replace(
            '"{here}/hello.py", "{port}"',
            '"{here}/show.py", "{port}", "{workers}", "{run}/etc/app.conf"',
        )
    )
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.OK, done.stderr
    first, conf = report.read_text().splitlines()
    assert first.startswith(f"{tmp_path / 'sub'} [0] 512 65536 9000 4194304 ['3', ")
    assert conf.endswith("backlog=99 {x}")
    port, admin = (int(word.partition("=")[2]) for word in conf.split()[:2])
    assert port != admin
    (trial,) = only(service).envelope["trials"]
    assert trial["server"]["configuration"] == {"workers": 3, "backlog": 99, "number": 1}


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/usr/bin/python3").exists(),
    reason="only root may change the user, to one who needs a Python of the system",
)
def test_a_server_runs_as_another_user(service: FakeService, fake_wrk: str, tmp_path: Path):
    tmp_path.chmod(0o755)
    plan = one_server(tmp_path, 'user = "nobody"')
    # Other users cannot read the folder of this test.
    hello = (
        "import os, socketserver as s; print('uid', os.getuid(), flush=True); "
        "H = type('H', (s.StreamRequestHandler,), {'handle': lambda h: (h.rfile.readline(), "
        "h.wfile.write(b'HTTP/1.0 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok'))}); "
        "s.ThreadingTCPServer(('127.0.0.1', {port}), H).serve_forever()"
    )
    (line,) = (line for line in plan.read_text().splitlines() if line.startswith("start"))
    start = f'start = {json.dumps(["/usr/bin/python3", "-c", hello])}\ncwd = "/"'
    plan.write_text(plan.read_text().replace(line, start))
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.OK, done.stderr
    assert "uid 65534" in only(service).envelope["run"]["server_tails"]["server 1"]


def test_setup_runs_once_before_the_first_start_and_teardown_at_the_end(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    note = "open('{here}/notes', 'a').write"
    plan = one_server(
        tmp_path,
        f'setup = [["{{python}}", "-c", "{note}(\'s\')"]]\n'
        f'teardown = [["{{python}}", "-c", "{note}(\'t\')"]]',
        plan_keys='restart = "each-trial"',
    )
    plan.write_text(plan.read_text().replace("repeats = 1", "repeats = 3"))
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.OK, done.stderr
    assert (tmp_path / "notes").read_text() == "st"


def test_a_service_runs_beside_the_servers_and_its_port_is_a_word(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = one_server(tmp_path, 'services = ["db"]\nenvironment = { DB = "{db.port}" }')
    (tmp_path / "hello.py").write_text(
        "import os, socket\nprint('db at', os.environ['DB'], flush=True)\n"
        "socket.create_connection(('127.0.0.1', int(os.environ['DB'])))\n"
        + (tmp_path / "hello.py").read_text()
    )
    plan.write_text(
        plan.read_text()
        + '\n[[services]]\nname = "db"\n'
        + 'start = ["{python}", "-m", "http.server", "--bind", "127.0.0.1", "{port}"]\n'
        + 'after_ready = [["{python}", "-c", "open(\'{here}/filled\', \'w\')"]]\n'
    )
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.OK, done.stderr
    tail = only(service).envelope["run"]["server_tails"]["server 1"]
    with socket.socket() as probe:
        # The service ended with the run.
        assert probe.connect_ex(("127.0.0.1", int(tail.split()[-1]))) != 0
    assert (tmp_path / "filled").exists()


def test_a_server_whose_service_does_not_run_says_so(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = one_server(tmp_path, 'services = ["db"]')
    plan.write_text(
        plan.read_text()
        + '\n[[services]]\nname = "db"\n'
        + 'start = ["{python}", "-c", "raise SystemExit(\'no disk\')"]\n'
    )
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert "its service 'db' does not run: it ended with code 1; it printed: no disk" in done.stderr


def test_what_a_server_needs_is_installed_once_and_its_version_asked_afterwards(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = one_server(
        tmp_path,
        "install = [[\"{python}\", \"-c\", \"open('{install}/v', 'w').write('4.5.6')\"]]\n"
        'version_command = ["sh", "-c", "cat $PLACE"]\nenvironment = { PLACE = "{install}/v" }',
    )
    plan.write_text(plan.read_text().replace('version = "1.1"\n', ""))
    cache = {"LOADSHEET_CACHE": str(tmp_path / "cache")}
    first = run_agent("run", plan, *flags(fake_wrk, service), **cache)
    assert first.returncode == Exit.OK, first.stderr
    assert "Installing server 1" in first.stderr
    assert only(service).envelope["trials"][0]["server"]["version"] == "4.5.6"
    again = run_agent("run", plan, *flags(fake_wrk, service), **cache)
    assert "Installing" not in again.stderr
    (folder,) = (path for path in (tmp_path / "cache").iterdir() if path.is_dir())
    assert "$ " in (folder / "install.log").read_text()


def test_a_server_that_cannot_be_had_is_skipped_with_its_reason(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = one_server(tmp_path, "")
    url = 'url = "http://127.0.0.1:{port}"\nstart = ["x"]\n'
    plan.write_text(
        plan.read_text()
        + f'\n[[servers]]\nname = "b"\n{url}programs = {{ no-such-server = "apt install it" }}\n'
        + f'[[servers]]\nname = "c"\n{url}interpreter = "2.1"\n'
        + f'[[servers]]\nname = "d"\n{url}install = [["sh", "-c", "echo big error; exit 3"]]\n'
    )
    cache = {"LOADSHEET_CACHE": str(tmp_path / "cache")}
    shown = run_agent("plan", "check", plan, **cache).stderr
    assert "server 'b' is skipped, because no-such-server is not installed" in shown
    done = run_agent("run", plan, *flags(fake_wrk, service), **cache)
    assert done.returncode == Exit.OK, done.stderr
    skipped = events(service, "server-skipped")
    assert skipped[0] == (
        "server 'b' is skipped, because no-such-server is not installed (apt install it)"
    )
    assert (
        skipped[1] == "server 'c' is skipped, because Python 2.1 was not found (pyenv install 2.1)"
    )
    assert "sh ended with exit code 3: big error; the whole output is in" in skipped[2]
    assert len(only(service).envelope["trials"]) == 1


def test_a_server_is_skipped_after_failures_and_its_whole_output_is_kept(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = one_server(tmp_path, "", plan_keys="skip_after = 2", path="/crash")
    plan.write_text(plan.read_text().replace("repeats = 1", "repeats = 5"))
    (tmp_path / "hello.py").write_text(
        "print('line\\n' * 2000, flush=True)\n" + (tmp_path / "hello.py").read_text()
    )
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.TRIALS_FAILED
    assert len(only(service).envelope["trials"]) == 2
    (text,) = events(service, "server-skipped")
    assert "server 'server 1' is skipped after 2 failed trials in a row" in text
    (log,) = (tmp_path / "logs").glob("*/server-1-server-1.log")
    assert log.read_text().count("line") == 2000


def test_one_server_runs_at_a_time_where_asked(service: FakeService, fake_wrk: str, tmp_path: Path):
    plan = write_plan(
        tmp_path, connections="[1]", repeats=2, warmup_s=0, more='alive = "one"\nseed = 1'
    )
    count = (
        "import psutil; lines = [p.info['cmdline'] or [] for p in psutil.process_iter(['cmdline'])]"
        f"; here = [l for l in lines if {str(tmp_path / 'hello.py')!r} in l and '-I' not in l]"
        "; print('alive', len(here), flush=True)"
    )
    hello = (tmp_path / "hello.py").read_text()
    (tmp_path / "hello.py").write_text(
        hello.replace("def do_GET(self):", f"def do_GET(self):\n        {count}")
    )
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.OK, done.stderr
    starts = [trial["load"]["start"] for trial in only(service).envelope["trials"]]
    assert starts == [1, 2, 2, 3]
    tails = only(service).envelope["run"]["server_tails"]
    assert {line for tail in tails.values() for line in tail.splitlines() if "alive" in line} == {
        "alive 1"
    }


@pytest.mark.parametrize(
    ("expect", "sentence"),
    [
        ("{ status = 404 }", "answers / with status 200, the plan says 404"),
        ('{ body = "Hello" }', "answers / with 'Hello, world!', the plan says 'Hello'"),
        ("{ closes = false }", "closes the connection after its answer to /"),
        (f'{{ body_sha256 = "{"0" * 64}" }}', "with a body of another SHA-256"),
    ],
)
def test_an_answer_other_than_expected_is_not_measured(
    service: FakeService, fake_wrk: str, tmp_path: Path, expect: str, sentence: str
):
    plan = one_server(tmp_path, "")
    plan.write_text(plan.read_text().replace('path = "/"', f'path = "/"\nexpect = {expect}'))
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert done.returncode == Exit.TRIALS_FAILED
    assert sentence in done.stderr
    assert "the trial was not run" in done.stderr


@pytest.mark.parametrize(("expect", "asked"), [("expect = { status = 200 }", [b"{}"]), ("", [])])
def test_a_request_that_may_change_data_is_sent_before_only_where_its_answer_is_expected(
    service: FakeService, fake_wrk: str, tmp_path: Path, expect: str, asked: list[bytes]
):
    plan = one_server(tmp_path, "")
    post = (
        f'path = "/"\nmethod = "POST"\nbody = "{{}}"\n{expect}\n'
        'headers = { "Content-Type" = "application/json" }\n'
    )
    plan.write_text(plan.read_text().replace('path = "/"\n', post))
    answer = (
        "    def do_POST(self):\n"
        "        body = self.rfile.read(int(self.headers['Content-Length']))\n"
        f"        open({str(tmp_path / 'asked')!r}, 'ab').write(body + b'\\n')\n"
        "        self.send_error(404)\n"
    )
    hello = (tmp_path / "hello.py").read_text()
    hello = hello.replace("    def log_message", answer + "    def log_message")
    (tmp_path / "hello.py").write_text(hello)
    done = run_agent("run", plan, *flags(fake_wrk, service))
    is_asked = "answers / with status 404, the plan says 200; the trial was not run" in done.stderr
    assert is_asked == bool(asked), done.stderr
    log = tmp_path / "asked"
    assert (log.read_bytes().split() if log.exists() else []) == asked


def test_wrk_is_not_run_where_it_would_count_answers_as_errors(
    service: FakeService, fake_wrk: str, tmp_path: Path
):
    plan = one_server(tmp_path, "")
    plan.write_text(plan.read_text().replace('path = "/"', 'path = "/"\nkeepalive = false'))
    (tmp_path / "hello.py").write_text(
        (tmp_path / "hello.py")
        .read_text()
        .replace(
            "class Hello(BaseHTTPRequestHandler):",
            "class Hello(BaseHTTPRequestHandler):\n    protocol_version = 'HTTP/1.1'",
        )
    )
    done = run_agent("run", plan, *flags(fake_wrk, service))
    assert "closes connections without saying so in its answer" in done.stderr
    plan.write_text(
        plan.read_text().replace("ready_timeout_s", "announces_close = false\nready_timeout_s")
    )
    refused = run_agent("plan", "check", plan)
    assert refused.returncode == Exit.PLAN
    assert "counts a read error for each answer of a server that closes without" in refused.stderr
    plan.write_text(plan.read_text().replace('tool = "wrk"', 'tool = "auto"'))
    fake_ab = tmp_path / "installed" / "ab"
    fake_ab.parent.mkdir()
    fake_ab.write_text("#!/bin/sh\necho 'This is ApacheBench, Version 2.3'\n")
    fake_ab.chmod(0o755)
    path = f"{fake_ab.parent}:{os.environ['PATH']}"
    checked = run_agent("plan", "check", plan, "--json", PATH=path)
    assert json.loads(checked.stdout)["tool"] == "ab"


def test_warm_ups_end_when_three_agree():
    plan = Plan(steady=SteadySpec(within=0.1, most=5))
    assert Plan().is_warm([1.0])
    assert not plan.is_warm([100.0, 100.0])
    assert not plan.is_warm([50.0, 80.0, 100.0])
    assert plan.is_warm([50.0, 95.0, 100.0, 99.0])
    assert not plan.is_warm([None, 95.0, 100.0])
    assert plan.is_warm([10.0, 50.0, 100.0, 10.0, None])


def test_a_rest_lasts_until_sockets_are_gone():
    text = '[[servers]]\nname = "a"\nurl = "http://h"\n[[workloads]]\nname = "w"\n'
    plan = parse_plan("rest_time_wait = 10\n" + text, name="p", directory=Path("/"))
    counts = iter([500, 30, 10, None])
    seen = []
    rest(plan, threading.Event().is_set, lambda: seen.append(next(counts)) or seen[-1])
    assert seen == [500, 30, 10]
