"""`loadsheet check`: the verdict of the service as an exit code, text, Markdown and JUnit XML."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from agent_fakes import FakeService, run_agent

from loadsheet_agent.commands.check import EXITS
from loadsheet_agent.commands.check_report import as_junit, as_markdown, as_text
from loadsheet_agent.exits import Exit

RUN = "0b7c0000-0000-4000-8000-000000000000"
CHECK = ("check", "--run", RUN, "--baseline", "main", "p99 < +5%")


def row(verdict: str = "unchanged", **fields: object) -> dict:
    return {
        "requirement": "p99 < +5%",
        "series": "nginx 1.27",
        "at": "at 64 connections",
        "verdict": verdict,
        "text": f"Latency p99 of nginx 1.27 at 64 connections: {verdict}.",
        "change": "1.01x [0.99, 1.03], 4.2 ms to 4.3 ms",
        **fields,
    }


def answer(verdict: str = "unchanged", **fields: object) -> dict:
    return {
        "verdict": verdict,
        "finding": f"It is {verdict}.",
        "settle": None,
        "rows": [row(verdict)],
        "notes": [],
        "url": "/w/lab/compare/pair?a=1&b=2",
        **fields,
    }


@pytest.mark.processes
@pytest.mark.parametrize("verdict", EXITS)
def test_each_verdict_has_its_exit_code(service: FakeService, verdict: str):
    service.verdicts.append((200, {}, answer(verdict)))
    done = run_agent(*CHECK, *service.flags)
    assert done.returncode == EXITS[verdict], done.stderr
    assert done.stdout.splitlines() == [
        f"It is {verdict}.",
        f"  Latency p99 of nginx 1.27 at 64 connections: {verdict}.",
        f"{service.url}/w/lab/compare/pair?a=1&b=2",
    ]
    assert service.questions == [
        [("candidate", f"run={RUN}"), ("baseline", "main"), ("require", "p99 < +5%")]
    ]


@pytest.mark.processes
def test_a_verdict_that_is_allowed_passes_and_the_files_say_so(
    service: FakeService, tmp_path: Path
):
    settle = "About 2 more runs of the candidate would give a verdict in 67 % of cases."
    service.verdicts.append((200, {}, answer("too_noisy", settle=settle)))
    markdown, junit = tmp_path / "summary.md", tmp_path / "check.xml"
    flags = ("--allow", "too-noisy", "--markdown", markdown, "--junit", junit, "--json")
    done = run_agent(*CHECK, *flags, *service.flags)
    assert done.returncode == Exit.OK, done.stderr
    assert json.loads(done.stdout)["verdict"] == "too_noisy"
    assert settle in done.stderr
    assert markdown.read_text().startswith("### Loadsheet: too noisy to call (allowed)")
    (case,) = ElementTree.parse(junit).iter("testcase")
    assert [child.tag for child in case] == ["skipped"]


@pytest.mark.processes
def test_too_few_trials_are_called_so_and_exit_as_too_noisy(service: FakeService, tmp_path: Path):
    few = {"verdict_text": "Too few trials to call", "finding": "Too few trials to call: p99."}
    told = {"text": "Too few. Measure at least 2 more trials.", **few}
    rows = [row("too_noisy", **told)]
    service.verdicts.append((200, {}, answer("too_noisy", rows=rows, **few)))
    markdown, junit = tmp_path / "summary.md", tmp_path / "check.xml"
    done = run_agent(*CHECK, "--markdown", markdown, "--junit", junit, *service.flags)
    assert done.returncode == Exit.TOO_NOISY
    text = markdown.read_text()
    assert text.startswith("### Loadsheet: too few trials to call\n")
    assert "| Too few trials to call | p99 &lt; \\+5% |" in text
    assert "noisy" not in text
    (error,) = ElementTree.parse(junit).iter("error")
    assert error.get("message") == "Too few. Measure at least 2 more trials."


@pytest.mark.processes
def test_expected_series_are_asked_for_by_their_names(service: FakeService):
    service.verdicts.append((200, {}, answer("not_comparable")))
    expected = ["nginx:json", "nginx:plain text"]
    flags = [word for series in expected for word in ("--expect", series)]
    assert run_agent(*CHECK, *flags, *service.flags).returncode == Exit.NOT_COMPARABLE
    assert [text for name, text in service.questions[0] if name == "expect"] == expected


@pytest.mark.processes
def test_it_asks_again_while_the_run_is_still_measured(service: FakeService):
    busy = {"detail": "The candidate is still being measured.", "hint": "Wait."}
    service.verdicts += [(409, {"Retry-After": "0"}, busy), (503, {}, {}), (200, {}, answer())]
    done = run_agent(*CHECK, *service.flags)
    assert done.returncode == Exit.OK
    assert "No verdict yet: The candidate is still being measured. Wait." in done.stderr
    assert len(service.questions) == 3


LABEL = ("check", "--candidate", "label=build:7", "--baseline", "main", "p99 < +5%")


@pytest.mark.processes
@pytest.mark.parametrize(
    ("verdicts", "measured"),
    [
        (["unchanged"], 0),
        (["too_noisy", "too_noisy", "regressed"], 2),
        (["too_noisy"] * 3, 2),
    ],
)
def test_it_measures_again_while_it_is_too_noisy(
    service: FakeService, tmp_path: Path, verdicts: list, measured: int
):
    service.verdicts += [(200, {}, answer(verdict)) for verdict in verdicts]
    measure = f"echo run; echo run >> {tmp_path / 'runs'}"
    flags = ("--most-runs", "3", "--measure", measure, "--json")
    done = run_agent(*LABEL, *flags, *service.flags)
    assert done.returncode == EXITS[verdicts[-1]], done.stderr
    runs = tmp_path / "runs"
    assert (len(runs.read_text().split()) if runs.exists() else 0) == measured
    assert done.stderr.count("Measuring run ") == measured
    # What the command prints is no part of the result.
    assert json.loads(done.stdout)["verdict"] == verdicts[-1]
    assert len(service.questions) == len(verdicts)
    assert all(("most_runs", "3") in question for question in service.questions)


@pytest.mark.processes
def test_a_command_that_fails_ends_the_measuring_with_the_verdict_so_far(service: FakeService):
    service.verdicts.append((200, {}, answer("too_noisy")))
    done = run_agent(*LABEL, "--most-runs", "3", "--measure", "exit 5", *service.flags)
    assert done.returncode == Exit.TOO_NOISY
    assert "--measure ended with exit code 5, so no more runs are measured." in done.stderr
    assert len(service.questions) == 1


@pytest.mark.processes
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ((*CHECK, "--most-runs", "3", "--measure", "true"), "do not count with --run"),
        ((*LABEL, "--measure", "true"), "give --most-runs 2 or more"),
    ],
)
def test_measuring_needs_runs_that_count(service: FakeService, command: tuple, told: str):
    done = run_agent(*command, *service.flags)
    assert done.returncode == Exit.USAGE
    assert told in done.stderr


@pytest.mark.processes
def test_what_the_service_does_not_understand_is_a_wrong_command_line(service: FakeService):
    detail = "require: got “p99 > +5%”, allowed is p99 < …."
    service.verdicts.append((400, {}, {"detail": detail, "hint": "Correct it."}))
    done = run_agent(*CHECK, *service.flags)
    assert done.returncode == Exit.USAGE
    assert done.stderr == f"loadsheet: {detail} Correct it.\n"


@pytest.mark.processes
@pytest.mark.parametrize("status", [401, 404, 200])
def test_without_a_verdict_the_exit_code_is_its_own(service: FakeService, status: int):
    service.verdicts.append((status, {}, {"title": "Another page"}))
    done = run_agent(*CHECK, *service.flags, "--max-wait", "0")
    assert done.returncode == Exit.UNREACHED
    assert "is this the address of Loadsheet?" in done.stderr


@pytest.mark.processes
def test_a_service_that_is_not_reached_gives_no_verdict(service: FakeService):
    flags = ("--url", "http://127.0.0.1:9", "--token", "ls_agent_x", "--max-wait", "0")
    assert run_agent(*CHECK, *flags).returncode == Exit.UNREACHED


@pytest.mark.processes
@pytest.mark.parametrize("flags", [(), ("--run", RUN, "--candidate", "version=2")])
def test_a_candidate_is_needed_once(service: FakeService, flags: tuple[str, ...]):
    done = run_agent("check", *flags, "--baseline", "main", "p99 < +5%", *service.flags)
    assert done.returncode == Exit.USAGE
    assert "give the candidate: --run ID" in done.stderr


HOSTILE = "x|y <img src=a> @everyone [l](http://e) `c` \x1b[2J\x00 */\n# h"


def test_names_form_no_markdown_and_notify_nobody():
    shown = as_markdown(answer(rows=[row(series=HOSTILE)], notes=[HOSTILE]), "http://h")
    (line,) = [line for line in shown.splitlines() if "everyone" in line and "|" in line[:1]]
    assert line.count("|") - line.count("\\|") == 6
    for part in ("<img", "@", "[l]", "http://e", "\x1b", "\x00", " `c`"):
        assert part not in shown


def test_names_do_not_break_the_xml():
    shown = as_junit(answer("regressed", rows=[row("regressed", series=HOSTILE, text=HOSTILE)]))
    suite = ElementTree.fromstring(shown).find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"
    assert suite.find("testcase/failure").get("type") == "regressed"
    assert "\x1b" not in as_text(answer(finding=HOSTILE), "http://h")


def test_a_build_without_rows_is_one_case_with_the_finding():
    shown = as_junit(answer("not_comparable", rows=[], finding="There is no baseline."))
    (case,) = ElementTree.fromstring(shown).iter("testcase")
    assert case.find("error").get("message") == "There is no baseline."
    assert "There is no baseline." in as_markdown(
        answer(rows=[], finding="There is no baseline."), ""
    )
