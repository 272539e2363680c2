"""Which differences forbid a comparison, which are told, and which the axis explains."""

from datetime import UTC, datetime

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.amending.dismissals import dismiss
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

BIG = {**HELLO, "name": "big", "path": "/big", "payload_bytes": 10_000}
OTHER = {**MACHINE, "name": "bench-2", "cpu_model": "EPYC"}
LARGER = {**HELLO, "payload_bytes": 10_000}


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[workspace.pk]))


def two_machines(lab):
    """Versions 1.x on one machine only, 2.x on another."""
    for number in range(10):
        newer = number > 4
        rate = 1550.0 if newer else 1000.0
        version = f"{1 + newer}.{number % 5}"
        spec = CellSpec("delta", version=version, rates=(rate, rate + 1, rate - 1))
        day = datetime(2026, 3, 1 + number, tzinfo=UTC)
        make_run(lab, spec, host=OTHER if newer else MACHINE, started_at=day)


@pytest.mark.parametrize(
    ("text", "confounded", "differing"),
    [
        ("x=version", ["version", "processor"], "cpu"),
        ("x=date", ["version", "processor"], "cpu"),
        ("x=host&version=1.2&version=2.2", ["server host", "version"], "version"),
        ("x=connections", ["version", "processor"], "version"),
    ],
)
def test_nothing_but_the_axis_may_differ_along_a_series(lab, text, confounded, differing):
    two_machines(lab)
    asked = f"server=delta&series=server&{text}"
    figures = ask(lab, asked)
    outcome = figures["outcome"]
    assert outcome["status"] == "not_comparable"
    assert differing in outcome["differing"]
    assert figures["ranking"] is None
    assert figures["changes"] == []
    assert "×" not in figures["finding"]
    assert outcome["confounded"] == confounded


def test_a_reason_says_what_differs_along_the_axis(lab):
    two_machines(lab)
    (reason, *_) = ask(lab, "series=server&x=host&version=1.2&version=2.2")["outcome"]["reasons"]
    assert reason == "version differs along the axis (server host): 1.2, 2.2; choose one version"


def test_what_the_axis_covers_may_differ_along_it_and_one_thing_over_the_days(lab):
    for number in range(10):
        day = datetime(2026, 3, 1 + number, tzinfo=UTC)
        make_run(lab, CellSpec("delta", version=f"1.{number}"), started_at=day)
    for axis in ("version", "date"):
        outcome = ask(lab, f"series=server&x={axis}")["outcome"]
        assert outcome["status"] == "comparable"
        assert outcome["intent"] == "only the version differs"


def test_the_things_of_one_server_that_differ_together_are_named(lab):
    make_run(lab, CellSpec("cf", version="1", configuration={"workers": 2}))
    make_run(lab, CellSpec("cf", version="2", configuration={"workers": 4}))
    outcome = ask(lab)["outcome"]
    assert outcome["status"] == "caveats"
    assert outcome["differing"] == ["version", "configuration"]
    assert outcome["confounded"] == ["version", "configuration"]
    assert outcome["reasons"] == [
        "version differs: 1, 2",
        "configuration differs: workers=2, workers=4",
    ]


def test_what_differs_together_in_every_panel_is_named_above_them(lab):
    for workers, version in ((2, "1"), (4, "2")):
        more = {"version": version, "configuration": {"workers": workers}}
        make_run(lab, *[CellSpec("cf", workload=load, **more) for load in (HELLO, BIG)])
    outcome = ask(lab, "facet=workload")["outcome"]
    assert outcome["confounded"] == ["version", "configuration"]
    assert outcome["reasons"][0] == "version differs: 1, 2"


def test_the_hardware_as_axis_forbids_no_comparison_of_servers(lab):
    for host in (MACHINE, OTHER):
        make_run(lab, CellSpec("a"), CellSpec("b", rates=(1620.0, 1600.0, 1640.0)), host=host)
    assert ask(lab)["outcome"]["status"] == "not_comparable"
    figures = ask(lab, "x=host")
    assert figures["x"]["values"] == ["bench-1", "bench-2"]
    assert figures["outcome"]["status"] == "comparable"
    assert figures["ranking"]["rows"][0]["label"] == "b 23.0"


def test_an_override_ranks_what_is_not_comparable_and_says_so(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("b"), host=OTHER)
    plain, forced = ask(lab), ask(lab, "override=1")
    assert plain["ranking"] is None
    assert not plain["outcome"]["overridden"]
    assert forced["ranking"]
    assert forced["outcome"]["status"] == "not_comparable"
    assert forced["outcome"]["overridden"]
    assert forced["finding"].startswith("Not comparable, but ranked anyway: ")
    assert "override=1" in forced["links"]["page"]
    make_run(lab2 := make_workspace("fair"), CellSpec("a"), CellSpec("b"))
    assert not ask(lab2, "override=1")["outcome"]["overridden"]


@pytest.mark.parametrize(
    ("host", "version", "intent", "confounded"),
    [
        ({"kernel": "Linux 6.12"}, "23.0", "only the kernel differs", []),
        ({"cpu_model": "EPYC"}, "23.0", "only the processor differs", []),
        ({"cpu_model": "EPYC", "cores": 64}, "23.0", "only the machine differs", []),
        ({}, "24.0", "only the version differs", []),
        ({"kernel": "Linux 6.12"}, "24.0", None, ["version", "kernel"]),
    ],
)
def test_what_a_comparison_is_about_is_detected(lab, host, version, intent, confounded):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("a", version=version), host={**MACHINE, **host})
    outcome = ask(lab)["outcome"]
    assert outcome["intent"] == intent
    assert outcome["confounded"] == confounded


def test_a_dismissed_finding_is_no_caveat_but_shown(lab):
    run = make_run(lab, CellSpec("a", trial_checks=["same-host"]), CellSpec("b"))
    make_run(lab, CellSpec("a"), CellSpec("b"))
    assert ask(lab)["outcome"]["status"] == "caveats"
    dismiss(run, "same-host", reason="both are pinned to cores of their own", author=None)
    figures = ask(lab)
    assert figures["outcome"]["status"] == "comparable"
    (check,) = figures["checks"]
    assert (check["id"], check["count"]) == ("same-host", 0)
    (dismissed,) = check["dismissed"]
    assert dismissed["run"] == str(run.pk)
    assert dismissed["reason"] == "both are pinned to cores of their own"


def test_a_finding_stands_where_it_was_not_dismissed(lab):
    runs = [make_run(lab, CellSpec("a", trial_checks=["same-host"])) for _ in range(2)]
    dismiss(runs[0], "same-host", reason="pinned", author=None)
    (check,) = (one for one in ask(lab)["checks"] if one["id"] == "same-host")
    assert (check["count"], len(check["dismissed"])) == (3, 1)


def test_a_workspace_says_which_facts_of_the_hosts_must_match(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("b"), host=OTHER)
    assert ask(lab)["outcome"]["status"] == "not_comparable"
    lab.must_match = []
    lab.save()
    assert ask(lab)["outcome"]["status"] == "caveats"
    make_run(strict := make_workspace("strict"), CellSpec("a"))
    make_run(strict, CellSpec("b"), host={**MACHINE, "kernel": "Linux 6.12"})
    assert ask(strict)["outcome"]["status"] == "caveats"
    strict.must_match = ["kernel"]
    strict.save()
    assert ask(strict)["outcome"]["status"] == "not_comparable"


@pytest.mark.parametrize("text", ["limit=1000", "view=tradeoff"])
def test_the_sentence_of_a_view_keeps_that_nothing_may_be_compared(lab, text):
    loads = (1, 8, 64)
    make_run(lab, *[CellSpec("a", connections=load) for load in loads])
    other = {**HELLO, "name": "other"}
    make_run(lab, *[CellSpec("b", connections=load, workload=other) for load in loads])
    assert "cannot be ranked" in ask(lab, text)["finding"]
    assert ask(lab, f"{text}&override=1")["finding"].startswith("Not comparable, but shown anyway")


ELSEWHERE = {**HELLO, "path": "/other", "name": "other"}
NEWER_KERNEL = {**MACHINE, "kernel": "6.12"}


@pytest.mark.parametrize(
    ("query", "runs", "status", "said"),
    [
        # Two servers on two machines, asked from one client: the place says nothing of these.
        ("x=client", [("a", {}, MACHINE), ("b", {}, OTHER)], "not_comparable", "processor"),
        ("x=payload", [("a", {}, MACHINE), ("b", {"workload": ELSEWHERE}, MACHINE)], None, "path"),
        ("x=server", [("a", {}, MACHINE), ("a", {"version": "2"}, MACHINE)], None, "mix"),
        ("x=payload", [("a", {}, MACHINE), ("a", {"workload": ELSEWHERE}, MACHINE)], None, "mix"),
        ("x=workload", [("a", {}, MACHINE), ("a", {"workload": LARGER}, MACHINE)], None, "mix"),
        ("x=tool", [("a", {}, MACHINE), ("a", {"tool_version": "5"}, MACHINE)], None, "mix"),
        ("x=host", [("a", {}, MACHINE), ("a", {}, NEWER_KERNEL)], "caveats", "kernel"),
        ("x=host", [("a", {}, MACHINE), ("a", {}, {**MACHINE, "cores": 99})], None, "mix"),
        # What a place does say may differ along the axis.
        ("x=host", [("a", {}, MACHINE), ("a", {}, OTHER)], "comparable", ""),
        ("x=server", [("a", {}, MACHINE), ("b", {"version": "2"}, MACHINE)], "comparable", ""),
        ("x=payload", [("a", {}, MACHINE), ("a", {"workload": BIG}, MACHINE)], "comparable", ""),
    ],
)
def test_a_place_exempts_what_it_says_and_nothing_else(lab, query, runs, status, said):
    client = {**MACHINE, "name": "client"} if query == "x=client" else None
    for server, more, host in runs:
        make_run(lab, CellSpec(server, **more), host=host, client=client)
    outcome = ask(lab, query)["outcome"]
    assert outcome["status"] == (status or "not_comparable")
    assert said in " ".join(outcome["reasons"])


def test_who_did_not_say_where_the_client_ran_contradicts_nobody(lab):
    for same_host in (False, None):
        make_run(lab, CellSpec("a"), same_host=same_host)
    outcome = ask(lab, "x=host")["outcome"]
    assert outcome["status"] != "not_comparable"


def test_a_version_that_changes_along_the_axis_is_told_beside_another_server(lab):
    old = [CellSpec("sync", version="1", connections=load) for load in (8, 16)]
    other = [CellSpec("nginx", connections=load) for load in (8, 16, 64)]
    make_run(lab, *old, CellSpec("sync", version="2", connections=64), *other)
    outcome = ask(lab, "series=server")["outcome"]
    assert outcome["status"] == "not_comparable"
    assert outcome["reasons"][0].startswith("version differs along the axis (connections)")
    assert outcome["intent"] is None


def test_what_changes_over_the_days_is_told_beside_another_server(lab):
    for day in range(8):
        version = "1" if day < 4 else "2"
        cells = CellSpec("sync", version=version), CellSpec("nginx", version="9")
        make_run(lab, *cells, started_at=datetime(2026, 3, 1 + day, tzinfo=UTC))
    outcome = ask(lab, "x=date&series=server")["outcome"]
    assert (outcome["status"], outcome["intent"]) == ("caveats", None)
    assert "version differs: 1, 2, 9" in outcome["reasons"]


def test_trials_of_several_runs_are_held_against_what_the_workspace_asks_for(lab):
    lab.min_trials = 10
    lab.save(update_fields=["min_trials"])
    for _ in range(2):
        make_run(lab, CellSpec("a"))
    assert "few-trials" in [check["id"] for check in ask(lab)["checks"]]
    for _ in range(2):
        make_run(lab, CellSpec("a"))
    assert "few-trials" not in [check["id"] for check in ask(lab)["checks"]]
