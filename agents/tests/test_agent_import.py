"""A results tree of TechEmpower becomes runs: what is read of it, and what is uploaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_fakes import FakeService, run_agent

from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.imports import techempower
from loadsheet_agent.imports.techempower import (
    file_name,
    outputs_of,
    parts_of,
    read_results,
    workload_of,
)

RULE = "-" * 57
HEADERS = "-H 'Host: localhost' -H 'Connection: keep-alive'"


def head(title: str, connections: int) -> str:
    command = f" wrk {HEADERS} -d 15 -c {connections} -t 8 http://10.0.0.1:8080/"
    return f"{RULE}\n {title}\n{command}\n{RULE}\n"


def output(connections: int, requests: int) -> str:
    return (
        f"\nRunning 15s test @ http://10.0.0.1:8080/\n  8 threads and {connections} connections\n"
        f"  {requests} requests in 15.00s, 1.00MB read\nRequests/sec: {requests / 15:.2f}\n"
    )


def raw_text(framework: str, requests: int = 1500) -> str:
    return "".join(
        [
            "Welcome to Ubuntu\n\n",
            head(f"Running Primer {framework}", 8) + output(8, 10),
            head(f"Running Warmup {framework}", 256) + output(256, 20),
            head(f"Concurrency: 8 for {framework}", 8) + output(8, requests),
            head(f"Concurrency: 16 for {framework}", 16) + output(16, 2 * requests),
        ]
    )


def write_raw(results: Path, test: str, framework: str, text: str | None = None) -> Path:
    path = results / test / framework / "raw"
    path.parent.mkdir(parents=True)
    path.write_text(raw_text(framework) if text is None else text)
    return path


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "i7" / "round-1"
    write_raw(folder, "json", "netty")
    write_raw(folder, "db", "rails")
    return folder


def write_summary(results: Path, totals: list[int]) -> None:
    levels = [{"totalRequests": total} for total in totals]
    document = {"frameworks": ["rails", "netty"], "rawData": {"json": {"1": levels}}}
    (results / "results.json").write_text(json.dumps(document))


def test_each_output_is_a_trial_and_primer_and_warm_up_do_not_count(results: Path):
    outputs = list(outputs_of(results / "json" / "netty" / "raw"))
    assert [(each.kind, each.level, each.is_warmup) for each in outputs] == [
        ("Primer", None, True),
        ("Warmup", None, True),
        ("Concurrency", 8, False),
        ("Concurrency", 16, False),
    ]
    assert [each.total for each in outputs] == [10, 20, 1500, 3000]
    assert outputs[2].text.startswith("Running 15s test @")
    assert RULE not in outputs[2].text
    assert outputs[2].command[0] == "wrk"
    assert workload_of(outputs[2]) == {"name": "json", "keepalive": True}


def test_the_number_of_queries_is_a_workload_of_its_own(tmp_path: Path):
    text = head("Queries: 5 for netty", 256) + output(256, 100)
    (only,) = outputs_of(write_raw(tmp_path, "query", "netty", text))
    assert workload_of(only)["name"] == "query, 5 queries"
    assert file_name(only, 3) == "3-query-netty-queries-5.txt"


def test_a_head_without_an_output_is_no_trial(tmp_path: Path):
    path = write_raw(tmp_path, "json", "a/b".replace("/", "-"), head("Concurrency: 8 for a", 8))
    assert list(outputs_of(path)) == []


def test_weighttp_of_early_rounds_is_counted_too(tmp_path: Path):
    text = head("Concurrency: 8 for netty", 8) + "\nrequests: 1000 total, 1000 started, 1000 done\n"
    (only,) = outputs_of(write_raw(tmp_path, "json", "netty", text))
    assert only.total == 1000


def test_every_folder_of_results_is_a_run_of_its_own(results: Path):
    write_raw(results.parent / "round-2", "json", "netty")
    found = read_results(results.parent.parent)
    assert [each.name for each in found] == ["results/i7/round-1", "results/i7/round-2"]
    assert [len(each.outputs) for each in found] == [8, 4]
    assert [each.name for each in read_results(results)] == ["round-1"]


def test_a_folder_without_results_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="TEST/FRAMEWORK/raw"):
        read_results(tmp_path)


@pytest.mark.parametrize(
    ("totals", "differences"),
    [
        ([1500, 3000], ()),
        (
            [1500, 2999],
            (
                "netty, json, concurrency 16: results.json has 2999 requests, "
                "the raw file has 3000.",
            ),
        ),
        ([1500], ("netty, json: results.json has 1 results, the raw file has 2.",)),
    ],
)
def test_the_projects_own_figures_are_held_against_the_outputs(
    results: Path, totals: list[int], differences: tuple[str, ...]
):
    write_summary(results, totals)
    (read,) = read_results(results)
    assert read.differences == differences


def test_a_framework_without_a_name_is_a_difference(results: Path):
    document = {"frameworks": [], "rawData": {"json": {"1": []}}}
    (results / "results.json").write_text(json.dumps(document))
    (read,) = read_results(results)
    assert "framework 1, but not its name" in read.differences[0]


@pytest.mark.parametrize(
    ("by_framework", "difference"),
    [
        ({"netty": [{"totalRequests": 1500}, {"totalRequests": 2999}]}, "results.json has 2999"),
        ({"netty": [{"totalRequests": 1500}, {"totalRequests": "\x1b[2J"}]}, "an unknown number"),
        ({"netty": [5]}, "results.json has 0 results, the raw file has 2"),
        ({"9" * 5000: []}, "but not its name"),
        ({"-1": [{}]}, "-1, json: results.json has 1 results, the raw file has 0"),
        ({"1": 5}, None),
        (5, None),
    ],
    ids=range(7),
)
def test_a_summary_may_name_frameworks_and_hold_anything(
    results: Path, by_framework: object, difference: str | None
):
    document = {"frameworks": [{}, "netty"], "rawData": {"json": by_framework}}
    (results / "results.json").write_text(json.dumps(document))
    (read,) = read_results(results)
    if difference is None:
        assert read.differences == ()
    else:
        assert difference in read.differences[0]
        assert len(read.differences[0]) < 500


@pytest.mark.parametrize("text", ["[]", "[" * 100_000], ids=["list", "deep"])
def test_a_summary_of_another_kind_is_refused(results: Path, text: str):
    (results / "results.json").write_text(text)
    with pytest.raises(UsageError, match=r"is not a results\.json of TechEmpower"):
        read_results(results)


@pytest.mark.processes
def test_an_import_uploads_a_run_with_its_differences(service: FakeService, results: Path):
    write_summary(results, [1500, 2999])
    done = run_agent("import", "techempower", results, *service.flags, "--json")
    assert done.returncode == Exit.OK, done.stderr
    assert "8 trials in 1 runs" in done.stderr
    (upload,) = service.uploads.values()
    trials = upload.envelope["trials"]
    assert len(trials) == len(upload.files) == 8
    assert {trial["server"]["name"] for trial in trials} == {"netty", "rails"}
    assert [trial["warmup"] for trial in trials[:4]] == [True, True, False, False]
    assert upload.envelope["run"]["labels"] == {"archive": "techempower", "results": "round-1"}
    assert "They do not give the versions and settings" in upload.envelope["run"]["notes"]
    (event,) = upload.envelope["run"]["events"]
    assert "2999 requests" in event["text"]
    (answer,) = json.loads(done.stdout)["runs"]
    assert len(answer["differences"]) == 1


def test_a_large_folder_becomes_several_runs(results: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(techempower, "TRIALS_PER_RUN", 4)
    (read,) = read_results(results)
    parts = list(parts_of(read))
    assert [len(part.outputs) for part in parts] == [4, 4]
    assert [{each.framework for each in part.outputs} for part in parts] == [{"rails"}, {"netty"}]


@pytest.mark.processes
def test_runs_are_reported_in_their_order_with_progress(service: FakeService, results: Path):
    for number in (2, 3):
        write_raw(results.parent / f"round-{number}", "json", "netty")
    done = run_agent("import", "techempower", results.parent, *service.flags)
    assert done.returncode == Exit.OK, done.stderr
    assert len(service.uploads) == 3
    reported = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert [line.split("]")[0] for line in reported] == ["[1/3", "[2/3", "[3/3"]
    assert "[3/3] i7/round-3: sending 4 trials" in done.stderr
