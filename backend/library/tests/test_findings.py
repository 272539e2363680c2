"""The checks find unaided, on the library's data, what authors and readers of the studies found."""

import pytest

from backend.accounts.models import Workspace
from backend.analysis.compare.comparison import compare
from backend.analysis.query.compare_query import CompareQuery
from backend.library.loading import SLUG, result_set_id
from backend.runs.models import Cell, Run, Trial
from backend.sharing.models import ResultSet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("library")]


def run_of(study, part):
    return Run.objects.get(labels__study=study, labels__part=part)


def fired_on(study, part, **where):
    """The ids of the checks by trial, of the trials that `where` selects."""
    trials = Trial.objects.filter(run=run_of(study, part), **where)
    assert trials.exists()
    return [{check["id"] for check in trial.checks} for trial in trials]


def detail_of(study, part, check_id, **where):
    trial = Trial.objects.filter(run=run_of(study, part), **where).first()
    return next(check["detail"] for check in trial.checks if check["id"] == check_id)


def compared(study):
    """The figures that the result set of a study shows, asked again."""
    query = ResultSet.objects.get(link=result_set_id(study)).query
    workspace = Workspace.objects.get(slug=SLUG)
    return compare(CompareQuery.parse(query), workspace_ids=[workspace.pk])


def fired_between(study):
    return {check.id for check in compared(study).checks}


def verdicts_of(figures):
    """The rows that a verdict or an interval sets apart from the others."""
    rankings = [figures.ranking, *(panel.ranking for panel in figures.panels or ())]
    return [
        row for ranking in rankings if ranking for row in ranking.rows if row.significant or row.low
    ]


def test_snakelets_answers_one_request_for_each_tick_of_the_clock():
    part = "As published, 2005: over the network"
    at_all_loads = fired_on("snakelets-2005", part, cell__connections__isnull=False)
    assert len(at_all_loads) == 9
    assert all("tick-rate" in ids for ids in at_all_loads)
    assert not any(
        "tick-rate" in ids for ids in fired_on("snakelets-2005", "on the server machine")
    )
    assert "flat-over-load" in fired_between("snakelets-2005")


def test_a_transfer_rate_of_snakelets_cannot_carry_its_responses():
    detail = detail_of(
        "snakelets-2005",
        "on the server machine",
        "tool-disagrees",
        cell__series__workload__name="Ypage",
    )
    assert "23678 KiB/s" in detail


def test_tomcat_collapses_over_its_trials():
    (cell,) = Cell.objects.filter(run=run_of("landshark-2010", "Tomcat without restarts"))
    details = {check["id"]: check["detail"] for check in cell.checks}
    assert details["collapse"] == "The trials reach 3,674 → 3,203 → 477 → 5 → 0 requests/s."
    assert "spread" in details


def test_landsharks_tables_leave_out_the_errors():
    assert all("errors-unknown" in ids for ids in fired_on("landshark-2010", "As published, 2010"))


def test_the_reports_have_the_errors_that_the_tables_leave_out():
    run = run_of("landshark-2010", "Outputs of ab, 2010")
    with_errors = {
        trial.cell.series.server.name
        for trial in Trial.objects.filter(run=run)
        if sum(count or 0 for count in trial.tool_errors.values())
    }
    assert len(with_errors) == 8


def test_fapws3_ends_at_the_limit_of_50_000_requests():
    is_fapws = {"cell__series__server__name": "fapws3"}
    fired = fired_on("landshark-2010", "Outputs of ab, 2010", cell__connections=100, **is_fapws)
    assert all("request-limit" in ids for ids in fired)
    detail = detail_of(
        "landshark-2010", "Outputs of ab, 2010", "request-limit", cell__connections=100, **is_fapws
    )
    assert detail == "ab stopped at 50000 requests, after 6.9 of 10 s."


@pytest.mark.parametrize(
    ("study", "part"),
    [
        ("async-servers-2009", "As published, 2009"),
        ("landshark-2010", "Outputs of ab, 2010"),
        ("landshark-2010", "As published, 2010"),
        ("scaling-twisted-2013", "As published, 2013"),
        ("snakelets-2005", "on the server machine"),
    ],
)
def test_client_and_server_on_one_machine_are_told(study, part):
    assert all("same-host" in ids for ids in fired_on(study, part))


def test_servers_of_2009_had_backlogs_of_different_length():
    assert "unequal-backlog" in fired_between("async-servers-2009")


def test_nginx_and_twisted_have_no_load_in_common():
    figures = compared("scaling-twisted-2013")
    loads = {}
    for series in figures.series:
        loads.setdefault(series.server, set()).update(point.x for point in series.points)
    assert loads == {"nginx": {1000}, "Twisted": {4000}}
    assert "no-common-load" in {check.id for check in figures.checks}


def test_landshark_names_no_hardware():
    assert all("unknown-host" in ids for ids in fired_on("landshark-2010", "Outputs of ab, 2010"))
    assert all("unknown-host" in ids for ids in fired_on("landshark-2010", "As published, 2010"))


def test_the_trials_on_pypy_are_too_short_for_its_compiler():
    on_pypy = {"cell__series__server__runtime": "PyPy 2.1"}
    fired = fired_on("scaling-twisted-2013", "As published, 2013", **on_pypy)
    assert len(fired) == 4
    assert all("compiling" in ids for ids in fired)


def test_httperf_takes_more_ports_than_the_client_has():
    tornado = {"cell__series__server__name": "Tornado"}
    (fired,) = fired_on("async-servers-2009", "As published, 2009", **tornado)
    assert "ephemeral-ports" in fired


def test_the_programs_of_2009_answer_before_they_read():
    fired = fired_on("async-servers-2009", "As published, 2009")
    assert all("answers-before-reading" in ids for ids in fired)


def test_a_readers_test_of_circuits_with_epoll_fails():
    (fired,) = fired_on("async-servers-2009", "a reader's test on a Linode 360")
    assert {"error-rate-high", "overload"} <= fired


@pytest.mark.parametrize(
    "study",
    ["snakelets-2005", "async-servers-2009", "scaling-twisted-2013", "app-servers-rest-2016"],
)
def test_nothing_is_ranked_where_each_point_is_one_trial(study):
    assert verdicts_of(compared(study)) == []
    assert "few-trials" in fired_between(study)


def test_copied_figures_are_marked_on_every_trial():
    one_processor = ("app-servers-rest-2016", "As published, 2016 (one processor)")
    for study, part in (("landshark-2010", "As published, 2010"), one_processor):
        assert all("published-figures" in ids for ids in fired_on(study, part))
    detail = detail_of("landshark-2010", "As published, 2010", "published-figures")
    assert detail == "Copied from: Landshark, Server Benchmarks, 2010, line 157."


def test_outputs_are_no_copied_figures():
    fired = fired_on("landshark-2010", "Outputs of ab, 2010")
    assert not any("published-figures" in ids for ids in fired)
