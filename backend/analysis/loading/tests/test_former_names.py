"""A link means after a renaming what it meant before, and answers name things as of now."""

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.loading.facets import facets
from backend.analysis.loading.selection import resolve_query
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.amending.renaming import rename
from backend.runs.models import FormerName
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db
Kind = FormerName.Kind


@pytest.fixture
def lab():
    made = make_workspace("lab")
    make_run(made, CellSpec("Old Sync"), CellSpec("gthread", rates=(1500.0, 1510.0, 1490.0)))
    big = {**HELLO, "name": "Big", "path": "/big"}
    make_run(made, CellSpec("other", workload=big), host={**MACHINE, "name": "bench-2"})
    return made


def ask(lab, text=""):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[lab.pk]))


def rename_all(lab):
    rename(lab, Kind.SERVER, "Old Sync", "new sync", None)
    rename(lab, Kind.WORKLOAD, "Big", "large", None)
    rename(lab, Kind.HOST, "bench-2", "rack 7", None)


QUESTIONS = {
    "server=Old+Sync": "server=new+sync",
    "server=old-sync": "server=new+sync",
    "server=gthread&server=Old+Sync": "server=gthread&server=new+sync",
    "workload=Big": "workload=large",
    "workload=big&metric=p99": "metric=p99&workload=large",
    "host=bench-2": "host=rack+7",
    "client=bench-2": "client=rack+7",
    "at=Old+Sync&run=&x=server": "at=new+sync&x=server",
    "at=64&server=other": "at=64&server=other",
}


@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_former_name_or_its_slug_shows_the_same(lab, asked):
    before = ask(lab, asked)
    assert before["series"]
    rename_all(lab)
    after = ask(lab, asked)
    assert after["query"] == QUESTIONS[asked]
    assert ask(lab, after["query"]) == after
    assert cells(after) == cells(before)


def cells(figures):
    return {(one["id"], point["cell"]) for one in figures["series"] for point in one["points"]}


@pytest.mark.parametrize(
    "asked", ["", "series=server", "facet=server", "facet=host&series=workload", "facet=workload"]
)
def test_ids_of_series_outlive_renamings(lab, asked):
    before = {one["id"] for one in ask(lab, asked)["series"]}
    assert len(before) > 1
    rename_all(lab)
    assert {one["id"] for one in ask(lab, asked)["series"]} == before
    rename(lab, Kind.SERVER, "new sync", "Old Sync", None)
    rename(lab, Kind.SERVER, "Old Sync", "third", None)
    assert {one["id"] for one in ask(lab, asked)["series"]} == before


def test_a_baseline_stays(lab):
    asked = "server=Old+Sync&server=gthread&series=server"
    baseline = next(one["id"] for one in ask(lab, asked)["series"] if one["server"] == "Old Sync")
    rename_all(lab)
    figures = ask(lab, f"{asked}&baseline={baseline}")
    assert figures["ranking"]["baseline"] == baseline
    assert "new sync" in figures["finding"]


def test_facets_mark_the_current_name(lab):
    rename_all(lab)
    query = CompareQuery.parse("server=old-sync")
    found = facets(query, workspace_ids=[lab.pk], only=["server", "workload"])
    servers, workloads = (field["values"] for field in found["fields"])
    assert [one["value"] for one in servers if one["chosen"]] == ["new sync"]
    assert found["total"]["cells"] == 1
    assert {one["value"]: one["count"] for one in workloads} == {"hello": 3, "large": 0}


def test_a_name_in_full_means_the_same_whatever_had_it_as_a_slug(lab):
    make_run(lab, CellSpec("old-sync"))
    before = cells(ask(lab, "server=old-sync"))
    rename_all(lab)
    figures = ask(lab, "server=old-sync")
    assert figures["query"] == "server=old-sync"
    assert cells(figures) == before


def test_a_slug_of_two_things_means_both(lab):
    make_run(lab, CellSpec("OLD sync"))
    before = cells(ask(lab, "server=old-sync"))
    rename_all(lab)
    figures = ask(lab, "server=old-sync")
    assert figures["query"] == "server=OLD+sync&server=new+sync"
    assert cells(figures) == before
    # The name in full was the one server's alone.
    assert ask(lab, "server=Old+Sync")["query"] == "server=new+sync"


def test_a_name_that_only_changed_its_case_is_one(lab):
    rename(lab, Kind.SERVER, "gthread", "GThread", None)
    assert ask(lab, "server=gthread")["query"] == "server=GThread"


def test_what_was_never_renamed_is_asked_as_before(lab):
    query = CompareQuery.parse("server=gthread&tool=wrk&x=version")
    rename_all(lab)
    assert resolve_query(query, [lab.pk]) == query


def test_names_are_of_their_workspace(lab):
    other = make_workspace("other")
    make_run(other, CellSpec("Old Sync"))
    rename_all(lab)
    both = CompareQuery.parse("server=Old+Sync")
    assert resolve_query(both, [other.pk]) == both
    everywhere = resolve_query(both, [lab.pk, other.pk])
    assert everywhere.wanted("server") == ("Old Sync", "new sync")


def test_a_slug_is_asked_by_the_name_so_that_equal_views_have_equal_links(lab):
    assert ask(lab, "server=old-sync")["query"] == "server=Old+Sync"
    assert ask(lab, "x=server&at=old-sync")["query"] == "at=Old+Sync&x=server"


def test_a_name_is_asked_for_alone_though_another_has_it_as_its_slug(lab):
    make_run(lab, CellSpec("nginx+"), CellSpec("x"))
    rename(lab, Kind.SERVER, "x", "nginx", None)
    for asked in ("nginx", "x"):
        figures = ask(lab, f"server={asked}")
        assert figures["query"] == "server=nginx"
        assert {one["server"] for one in figures["series"]} == {"nginx"}
    assert {one["server"] for one in ask(lab, "server=nginx%2B")["series"]} == {"nginx+"}
