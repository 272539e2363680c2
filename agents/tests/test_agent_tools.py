"""Golden command lines: a change here changes what published numbers mean."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import pytest

from loadsheet_agent.errors import PlanError, ToolMissingError, UsageError
from loadsheet_agent.tools import TOOLS, LoadPoint, choose, tool_paths

POINT = LoadPoint(
    url="http://127.0.0.1:8000/",
    method="GET",
    keepalive=True,
    connections=8,
    duration_s=3.0,
    threads=2,
)


def point(**changes: object) -> LoadPoint:
    return dataclasses.replace(POINT, **changes)


@pytest.mark.parametrize(
    ("tool", "load", "line"),
    [
        ("wrk", point(), "wrk -t2 -c8 -d3s --latency http://127.0.0.1:8000/"),
        ("wrk", point(connections=1), "wrk -t1 -c1 -d3s --latency http://127.0.0.1:8000/"),
        ("wrk", point(connections=9), "wrk -t1 -c9 -d3s --latency http://127.0.0.1:8000/"),
        (
            "wrk",
            point(keepalive=False),
            "wrk -t2 -c8 -d3s --latency -H 'Connection: close' http://127.0.0.1:8000/",
        ),
        (
            "ab",
            point(),
            "ab -q -r -k -c 8 -t 3 -n 600000 -g 007-plot.tsv -e 007-percentiles.csv "
            "http://127.0.0.1:8000/",
        ),
        (
            "ab",
            point(keepalive=False, method="HEAD"),
            "ab -q -r -i -c 8 -t 3 -n 600000 -g 007-plot.tsv -e 007-percentiles.csv "
            "http://127.0.0.1:8000/",
        ),
        (
            "ab",
            point(method="DELETE"),
            "ab -q -r -k -m DELETE -c 8 -t 3 -n 600000 -g 007-plot.tsv "
            "-e 007-percentiles.csv http://127.0.0.1:8000/",
        ),
        (
            "autocannon",
            point(threads=1),
            "autocannon -c 8 -d 3 --json http://127.0.0.1:8000/",
        ),
        (
            "autocannon",
            point(keepalive=False, method="POST"),
            "autocannon -c 8 -d 3 -w 2 -m POST -H Connection=close --json http://127.0.0.1:8000/",
        ),
    ],
)
def test_golden_command_lines(tool: str, load: LoadPoint, line: str):
    import shlex

    assert shlex.join(TOOLS[tool].command(load, "007").argv) == line


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
    with pytest.raises(PlanError, match="wrk sends POST only with a script"):
        choose("auto", [POINT, point(method="POST")], {})
    write_tool(only_these, "ab")
    assert choose("auto", [POINT, point(method="POST")], {}).tool.name == "ab"


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
    for bad in ("wrk", "hey=/x", "wrk="):
        with pytest.raises(UsageError, match="NAME=PATH"):
            tool_paths([bad], {})


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_the_real_wrk_tells_its_version():
    assert choose("wrk", [POINT], {}).version is not None
