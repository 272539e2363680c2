"""What an archive says beside its outputs: its own figures are held against them, the machine is
read, and what cannot be read is told."""

import json
from pathlib import Path

import pytest

from backend.formats import RawArtefact, archive_facts, archive_texts, parse, techempower_summary
from backend.formats.archive_facts import NO_FACTS
from backend.formats.httparena import machine
from backend.formats.tests.test_techempower import RAW

RAW_OF_RAILS = RAW.replace("netty", "rails")
ROW = {
    "framework": "fastapi",
    "rps": 100,
    "avg_latency": "1.00ms",
    "p99_latency": "2.00ms",
    "connections": 8,
    "duration": "10s",
    "status_2xx": 1000,
    "status_3xx": 0,
    "status_4xx": 0,
    "status_5xx": 0,
}


def facts_of(read, **files):
    artefacts = [
        RawArtefact.of(name, (text if isinstance(text, str) else json.dumps(text)).encode())
        for name, text in files.items()
    ]
    return read(artefacts, parse(artefacts))


def of_summary(summary, **files):
    raw = files or {"r/json/netty/raw": RAW}
    return facts_of(techempower_summary.facts_of, **raw, **{"results.json": summary})


def summary_of(*totals, framework="1"):
    levels = [{"totalRequests": total} for total in totals]
    return {"frameworks": ["rails", "netty"], "rawData": {"json": {framework: levels}}}


def test_an_uploaded_archive_tells_the_same_as_one_that_the_agent_imports():
    """One file under two names, because neither may import the other."""
    root = Path(__file__).parents[3]
    theirs = root / "agents/src/loadsheet_agent/imports/archive_texts.py"
    assert Path(archive_texts.__file__).samefile(theirs)


@pytest.mark.parametrize("framework", ["1", "netty"])
def test_equal_counts_of_requests_are_no_remark(framework):
    facts = of_summary(summary_of(1500, 3000, framework=framework))
    assert facts.remarks == ()
    assert "Each load was measured once" in facts.notes


def test_each_different_count_is_told():
    facts = of_summary(summary_of(1500, 2999))
    assert facts.remarks == (
        "netty, json, result 2: the number of requests is 2,999 in results.json and 3,000 in the "
        "raw file.",
    )


def test_another_number_of_results_is_told_once():
    assert of_summary(summary_of(1500)).remarks == (
        "netty, json: the number of results is 1 in results.json and 2 in the raw file.",
    )


def test_results_on_one_side_alone_are_told():
    summary = summary_of(1500, 3000)
    files = {"r/json/netty/raw": RAW, "r/db/rails/raw": RAW_OF_RAILS}
    summary["rawData"]["fortune"] = {"0": [{"totalRequests": 1}]}
    assert of_summary(summary, **files).remarks == (
        "rails, db: the number of results is 0 in results.json and 2 in the raw file.",
        "Tests of a framework that are in results.json alone: 1. Their outputs are not in the "
        "archive, or cannot be read.",
    )


@pytest.mark.parametrize(
    "damaged",
    ["", "{", "[]", "{}", '{"frameworks": {}, "rawData": {}}', "[" * 100_000, '{"a": "\\ud800"}'],
    ids=["empty", "cut off", "array", "no members", "other members", "deep", "half a character"],
)
def test_a_summary_that_cannot_be_read_is_told(damaged):
    assert of_summary(damaged).remarks == (
        "results.json is not a results.json of TechEmpower: not read.",
    )


@pytest.mark.parametrize("value", [None, "3000", 3000.5, True, [], {}, 10**30])
def test_values_that_are_no_counts_are_unknown(value):
    (remark,) = of_summary(summary_of(1500, value)).remarks
    assert remark.endswith(" in results.json and 3,000 in the raw file.")
    assert ("unknown" in remark) == (not isinstance(value, int) or isinstance(value, bool))


@pytest.mark.parametrize("levels", [None, 7, "text", {}, []])
def test_members_that_are_no_results_are_passed_over(levels):
    summary = summary_of(1500, 3000)
    summary["rawData"] |= {"slocCounts": levels, "commitCounts": {"netty": levels}}
    assert of_summary(summary).remarks == ()


def test_two_summaries_are_not_held_against_the_outputs():
    raw = {"a/json/netty/raw": RAW, "b/json/netty/raw": RAW}
    summaries = {"a/results.json": summary_of(1), "b/results.json": summary_of(2)}
    (remark,) = facts_of(techempower_summary.facts_of, **raw, **summaries).remarks
    assert remark.startswith("The archive has 2 files named results.json.")


def test_remarks_are_limited_and_the_rest_counted(monkeypatch):
    monkeypatch.setattr(archive_facts, "MAX_REMARKS", 1)
    assert of_summary(summary_of(1, 2)).remarks == (
        "netty, json, result 1: the number of requests is 1 in results.json and 1,500 in the raw "
        "file.",
        "Further remarks about the archive, not listed: 1.",
    )


def test_a_large_summary_is_not_read(monkeypatch):
    monkeypatch.setattr(archive_facts, "MAX_BYTES", 10)
    (remark,) = of_summary(summary_of(1500, 3000)).remarks
    assert "results.json is larger than" in remark


def of_machine(current, **more):
    files = {"baseline-8.json": [ROW], "current.json": current, **more}
    return facts_of(machine.facts_of, **files)


def test_the_machine_of_the_summaries_is_the_server_host():
    current = {
        "cpu": "AMD Ryzen",
        "cores": "64",
        "os": "Ubuntu",
        "ram": "251Gi",
        "tcp": {"congestion": "cubic", "somaxconn": 65535},
    }
    facts = of_machine(current)
    assert facts.server_host == {
        "name": "HttpArena",
        "cpu_model": "AMD Ryzen",
        "cores": 64,
        "os": "Ubuntu",
        "facts": {"memory": "251Gi", "somaxconn": "65535", "tcp_congestion_control": "cubic"},
    }
    assert facts.remarks == ()
    assert "nothing is ranked" in facts.notes


@pytest.mark.parametrize("cores", ["²", "-1", "many", "9" * 30, True, None, [], 1.5])
def test_cores_that_are_no_number_are_unknown(cores):
    assert of_machine({"cpu": "AMD", "cores": cores}).server_host == {
        "name": "HttpArena",
        "cpu_model": "AMD",
    }


def test_characters_that_cannot_be_stored_are_replaced():
    assert of_machine({"cpu": "A\0B"}).server_host["cpu_model"] == "A\N{REPLACEMENT CHARACTER}B"


def test_files_without_results_and_a_machine_that_cannot_be_read_are_told():
    facts = of_machine("[1]", **{"json-16.json": "[]"})
    assert facts.server_host == {}
    assert facts.remarks == (
        "current.json is not a description of a machine: not read.",
        "json-16.json has no results.",
    )


def test_the_machine_is_unknown_where_the_archive_describes_two():
    files = {
        "a/current.json": {"cpu": "A"},
        "b/current.json": {"cpu": "B"},
        "a/baseline-8.json": [ROW],
    }
    facts = facts_of(machine.facts_of, **files)
    assert facts.server_host == {}
    assert facts.remarks == (
        "The archive describes 2 machines, so the machine of its results is unknown. Upload each "
        "folder of results alone.",
    )


@pytest.mark.parametrize("read", [techempower_summary.facts_of, machine.facts_of])
def test_other_files_have_no_facts(read):
    artefacts = [RawArtefact.of("current.json", b"{}"), RawArtefact.of("results.json", b"{}")]
    assert read(artefacts, []) == NO_FACTS
