"""Golden command lines: a change here changes what published numbers mean."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from loadsheet_agent.errors import PlanError, ToolMissingError, UsageError
from loadsheet_agent.tools import TOOLS, choose, tool_paths
from loadsheet_agent.tools.base import Glance, LoadPoint, Tool

POINT = LoadPoint(
    url="http://127.0.0.1:8000/",
    method="GET",
    keepalive=True,
    connections=8,
    threads=2,
    duration_s=3.0,
)
ROOT = Path(__file__).resolve().parents[3]


def point(**changes: object) -> LoadPoint:
    return dataclasses.replace(POINT, **changes)


CLOSE = point(keepalive=False)
COUNT = point(duration_s=None, requests=800)
ONE = point(connections=1, duration_s=None, requests=50)
OPEN = point(rate_rps=500.0)
OPEN_CLOSE = point(rate_rps=500.0, keepalive=False)
FAR = point(url="http://server.example/", rate_rps=500.0, keepalive=False)
HALF = point(duration_s=2.5)
HEADERS = point(headers=(("Accept", "a/b"), ("X-A", "b: c=d")))
POST = point(
    method="POST", body=b"{}", headers=(("Content-Type", "application/json"), ("X-Id", "7"))
)
PUT = dataclasses.replace(POST, method="PUT")
HEAD = point(method="HEAD")
DELETE = point(method="DELETE")
TLS = point(url="https://127.0.0.1:8443/a?b=1")
ODD = point(connections=9, threads=4)


def golden() -> list[tuple[str, ...]]:
    """Each line: the name of a load point above, and the command line to the letter."""
    lines = (Path(__file__).parent / "golden_commands.txt").read_text().splitlines()
    return [tuple(line.split(": ", 1)) for line in lines]


def tool_of(line: str) -> Tool:
    words = shlex.split(line)
    return TOOLS[words[2] if words[0] == "env" else words[0]]


@pytest.mark.parametrize(("load", "line"), golden())
def test_golden_command_lines(load: str, line: str):
    assert shlex.join(tool_of(line).command(globals()[load], "007").line()) == line


def test_every_tool_has_golden_lines():
    assert {tool_of(line).name for _, line in golden()} == set(TOOLS)


@pytest.mark.parametrize(
    ("tool", "load", "reason"),
    [
        ("wrk", COUNT, "wrk takes a duration only, not a number of requests"),
        ("wrk", HEAD, "wrk waits for the body that an answer to HEAD never has"),
        ("wrk", HALF, "wrk takes whole seconds, not 2.5"),
        ("wrk", OPEN, "wrk waits for each answer before it sends again"),
        ("wrk2", POINT, "wrk2 sends at an offered rate only"),
        ("wrk2", point(rate_rps=2.5), "wrk2 takes whole requests per second, not 2.5"),
        ("ab", point(connections=20_001), "ab takes at most 20000 connections, not 20001"),
        ("ab", dataclasses.replace(POST, method="PATCH"), "ab sends a body with POST and PUT only"),
        ("ab", point(duration_s=None, requests=7), "at least one request a connection: 7 for 8"),
        ("autocannon", OPEN, "autocannon waits for each answer"),
        ("vegeta", COUNT, "vegeta takes a duration only, not a number of requests"),
        ("vegeta", point(rate_rps=0.5), "vegeta takes whole requests per second, not 0.5"),
        ("k6", point(rate_rps=5.0, duration_s=None, requests=9), "k6 takes a duration with an"),
        ("oha", OPEN, "oha waits for each answer"),
        ("hey", point(duration_s=None, requests=801), "801 requests do not divide by 8 conn"),
        ("bombardier", OPEN, "bombardier waits for each answer"),
        ("fortio", OPEN, "fortio waits for each answer"),
        ("h2load", CLOSE, "h2load cannot open a connection for each request"),
        ("h2load", PUT, "h2load sends a body with POST only, not with PUT"),
        ("weighttp", POINT, "weighttp takes a number of requests only, not a duration"),
        ("weighttp", dataclasses.replace(COUNT, method="POST"), "weighttp cannot send POST"),
        ("weighttp", dataclasses.replace(COUNT, url="https://h/"), "weighttp cannot speak TLS"),
        ("siege", PUT, "siege cannot send PUT"),
        ("siege", point(duration_s=None, requests=9), "9 requests do not divide by 8 connections"),
        ("httperf", POINT, "httperf without a rate has one connection at a time, not 8"),
        ("httperf", point(connections=1), "takes a number of requests, not a duration"),
        ("httperf", OPEN, "a rate of requests only without keepalive"),
        ("httperf", POST, "httperf cannot send a body"),
        ("httperf", point(rate_rps=0.1, keepalive=False), "a whole number of requests, not 0.3"),
        ("locust", COUNT, "locust takes a duration only, not a number of requests"),
        ("locust", HALF, "locust takes whole seconds"),
    ],
)
def test_a_load_point_a_tool_cannot_do_is_refused(tool: str, load: LoadPoint, reason: str):
    refusal = TOOLS[tool].refusal(load)
    assert refusal is not None
    assert refusal.startswith(tool)
    assert reason in refusal


def test_a_refusal_names_the_tools_that_can():
    with pytest.raises(PlanError) as caught:
        choose("ab", [OPEN], {})
    assert str(caught.value) == (
        "ab waits for each answer before it sends again, so it cannot hold an offered rate; "
        "tools that can: wrk2, vegeta, k6."
    )
    with pytest.raises(PlanError, match="no load tool can"):
        choose("ab", [OPEN, COUNT, point(rate_rps=0.5)], {})


def test_nothing_in_a_plan_becomes_code():
    end = b'"; os.execute("touch /tmp/x") --'
    (lua,) = (
        text
        for name, text in TOOLS["wrk"]
        .command(dataclasses.replace(POST, body=end), "7")
        .inputs.items()
        if name.endswith(".lua")
    )
    assert re.fullmatch(rb'wrk.method = "(\\\d{3})+"\nwrk.body = "(\\\d{3})+"\n', lua)
    spoilt = point(url="http://h/\";x();'", headers=(("X-A", "'\"});\nx();//"),))
    script = TOOLS["locust"].command(spoilt, "7").inputs["7-locustfile.py"]
    calls = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call)]
    assert {ast.unparse(call.func) for call in calls} == {"constant", "self.client.request"}
    k6 = TOOLS["k6"].command(spoilt, "7").inputs["7-script.js"].decode()
    assert json.loads(re.search(r"const params = (.*);", k6).group(1)) == {
        "headers": dict(spoilt.headers)
    }


@pytest.mark.parametrize(
    ("tool", "load", "capture", "glance"),
    [
        ("vegeta", OPEN, "rate200-4s-allformats", Glance(200.11, 0.325158, 0.0)),
        ("vegeta", OPEN, "rate100-3s-500s-text", Glance(100.44, 0.057096, 1 - 0.7033)),
        ("bombardier", COUNT, "c20-n600-500s-json", Glance(2744.2617606241893, None, 162 / 600)),
        ("weighttp", COUNT, "v04-err500-c10", Glance(2796.0, None, 0.078)),
        ("weighttp", COUNT, "v05-close-c10-rand", Glance(361.0, None, 0.0)),
    ],
)
def test_a_glance_at_saved_output(tool: str, load: LoadPoint, capture: str, glance: Glance):
    path = ROOT / "backend" / "formats" / tool / "tests/captures" / capture / "stdout"
    text = path.read_text()
    seen = TOOLS[tool].glance(lambda _: text, TOOLS[tool].command(load, "007"))
    assert seen.throughput_rps == glance.throughput_rps
    assert seen.p99_s == glance.p99_s
    assert seen.error_rate == pytest.approx(glance.error_rate, abs=1e-9)


def test_a_glance_at_nothing_is_nothing():
    for tool in TOOLS.values():
        able = next(each for each in (POINT, COUNT, OPEN, OPEN_CLOSE) if not tool.refusal(each))
        seen = tool.glance(lambda _: "", tool.command(able, "007"))
        assert (seen.throughput_rps, seen.p99_s) == (None, None)


def test_every_file_a_tool_writes_is_collected():
    assert TOOLS["wrk"].command(POINT, "007").stdout == "007-stdout.txt"
    assert TOOLS["autocannon"].command(POINT, "007").stdout == "007-stdout.json"
    command = TOOLS["ab"].command(POINT, "007")
    assert command.files == ("007-plot.tsv", "007-percentiles.csv")
    assert set(command.files) <= set(command.argv)


def test_threads_are_told_as_they_are_used():
    assert TOOLS["ab"].threads(POINT) == 1
    assert TOOLS["wrk"].threads(point(threads=4, connections=6)) == 3


@pytest.mark.parametrize(
    ("name", "printed", "version"),
    [
        ("wrk", "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer", "4.1.0"),
        ("wrk", "wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer", "4.2.0"),
        ("ab", "This is ApacheBench, Version 2.3 <$Revision$>", "2.3"),
        ("autocannon", "autocannon v9.0.0\nnode v20.20.2", "9.0.0"),
    ],
)
def test_versions_are_read(name: str, printed: str, version: str):
    match = re.search(TOOLS[name].version_pattern, printed, re.MULTILINE)
    assert match is not None
    assert match.group(1) == version


def write_tool(directory: Path, name: str) -> str:
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{name} 1.2.3, Version 1.2.3, autocannon v1.2.3'\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def only_these(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_auto_prefers_wrk_then_ab_then_autocannon(only_these: Path):
    for name in ("autocannon", "ab", "wrk"):
        write_tool(only_these, name)
        found = choose("auto", [POINT], {})
        assert (found.tool.name, found.version) == (name, "1.2.3")


def test_auto_passes_over_a_tool_that_cannot_do_the_plan(only_these: Path):
    write_tool(only_these, "wrk")
    with pytest.raises(PlanError, match="wrk waits for the body"):
        choose("auto", [POINT, HEAD], {})
    write_tool(only_these, "ab")
    assert choose("auto", [POINT, HEAD], {}).tool.name == "ab"


def test_a_load_point_is_refused_not_approximated(only_these: Path):
    write_tool(only_these, "ab")
    with pytest.raises(PlanError, match=r"ab takes whole seconds, not 0\.5"):
        choose("ab", [point(duration_s=0.5)], {})


def test_a_missing_tool_says_what_to_do(only_these: Path):
    with pytest.raises(ToolMissingError, match="install wrk or ab"):
        choose("auto", [POINT], {})
    with pytest.raises(ToolMissingError, match="--tool-path ab=PATH"):
        choose("ab", [POINT], {})


def test_a_tool_may_be_pointed_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write_tool(tmp_path, "autocannon")
    monkeypatch.setenv("PATH", "")
    environ = {"LOADSHEET_AUTOCANNON": "/elsewhere"}
    assert tool_paths([], environ) == {"autocannon": "/elsewhere"}
    paths = tool_paths([f"autocannon={path}"], environ)
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    assert choose("autocannon", [POINT], paths).path == path
    with pytest.raises(UsageError, match="not a program"):
        choose("autocannon", [POINT], {"autocannon": "/elsewhere"})
    for bad in ("wrk", "jmeter=/x", "wrk="):
        with pytest.raises(UsageError, match="NAME=PATH"):
            tool_paths([bad], {})


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_the_real_wrk_tells_its_version():
    assert choose("wrk", [POINT], {}).version is not None
