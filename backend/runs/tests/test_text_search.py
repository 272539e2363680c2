"""A word of a search: which runs have it, found by indexes."""

import re

import pytest
from django.db import connection
from django.db.models import TextField
from django.db.models.functions import Cast
from django.test.utils import CaptureQueriesContext

from backend.runs.catalogue.listing import rows_of
from backend.runs.catalogue.search import RunSearch
from backend.runs.catalogue.text_search import few_with, in_workspaces
from backend.runs.models import FormerName, Host, Run, Series, Server, Workload
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


@pytest.fixture
def runs(lab):
    """Four runs; another workspace has a run with the same names."""
    caddy = CellSpec(server="Caddy", version="2.10-rc", tool="wrk")
    nginx = CellSpec(server="nginx_100%", workload={"name": "Größe"}, tool="ab")
    other = CellSpec(server="other", workload={"name": "large"}, tool="ab")
    runs = {
        "caddy": make_run(lab, caddy, host={"name": "bench-1"}),
        "nginx": make_run(lab, nginx, host=None),
        "labelled": make_run(lab, other, host=None),
        "both": make_run(lab, caddy, nginx, host={"name": "bench-2"}),
    }
    Run.objects.filter(pk=runs["labelled"].pk).update(labels={"branch": "feature/caddy-3"})
    for kind, former, current in (
        ("server", "Old-proxy", "Caddy"),
        ("workload", "greeting", "hello"),
        ("host", "rack 7", "bench-2"),
    ):
        FormerName.objects.create(workspace=lab, kind=kind, former=former, current=current)
    make_run(make_workspace("other-lab"), caddy, host={"name": "bench-1"})
    return runs


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("caddy", {"caddy", "both", "labelled"}),
        ("ADDY", {"caddy", "both", "labelled"}),
        ("2.10", {"caddy", "both"}),
        ("hell", {"caddy", "both"}),
        ("wrk", {"caddy", "both"}),
        ("bench-", {"caddy", "both"}),
        ("bench-2", {"both"}),
        ("proxy", {"caddy", "both"}),
        ("GREET", {"caddy", "both"}),
        ("rack", {"both"}),
        ("caddy bench-1", {"caddy"}),
        ("feature", {"labelled"}),
        # Letters that a pattern of LIKE gives a meaning have none here.
        ("100%", {"nginx", "both"}),
        ("x_1", {"nginx", "both"}),
        ("%%", set()),
        ("ngin__", set()),
        ("\\", set()),
        ("röß", {"nginx", "both"}),
        # Shorter than a trigram.
        ("x_", {"nginx", "both"}),
        ("nothing-like-it", set()),
    ],
)
def test_a_word_is_looked_for_in_all_runs_as_in_a_few(lab, runs, words, names):
    asked = RunSearch.parse({"q": words})
    rows = Run.objects.filter(workspace=lab)
    expected = {runs[name].pk for name in names}
    few = [run.pk for run in runs.values()]
    assert {run.pk for run in asked.applied(rows, in_workspaces([lab.pk]))} == expected
    assert {run.pk for run in asked.applied_to_few(rows, few, [lab.pk])} == expected


def test_a_former_name_leads_to_its_own_kind_alone(lab, runs):
    """A server had the name, and a workload has the name that the server has now."""
    hello = CellSpec(server="other", workload={"name": "Caddy"}, tool="ab")
    named_alike = make_run(lab, hello, host={"name": "Caddy"})
    few = [*(run.pk for run in runs.values()), named_alike.pk]
    asked, rows = RunSearch(q="old-proxy"), Run.objects.filter(workspace=lab)
    expected = {runs["caddy"].pk, runs["both"].pk}
    assert {run.pk for run in asked.applied(rows, in_workspaces([lab.pk]))} == expected
    assert {run.pk for run in asked.applied_to_few(rows, few, [lab.pk])} == expected


@pytest.mark.parametrize("word", ["caddy", "feature", "nothing-like-it"])
def test_few_runs_are_searched_without_the_others(lab, runs, word):
    """Runs and load points are read by the ids of the few: the others are not collected."""
    with CaptureQueriesContext(connection) as statements:
        few_with([word], [runs["caddy"].pk], [lab.pk])
    with connection.cursor() as cursor:
        for kind in ("seqscan", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{kind} = off")
        for statement in statements.captured_queries:
            cursor.cursor.execute(f"EXPLAIN (FORMAT JSON) {statement['sql']}")
            for scan in scans(cursor.cursor.fetchone()[0][0]["Plan"]):
                assert re.search(r"\b(run_)?id = ", scan.get("Index Cond", "")), scan


def test_nothing_is_read_for_runs_that_no_word_left(lab, runs, django_assert_num_queries):
    few = [run.pk for run in runs.values()]
    with django_assert_num_queries(1):
        asked = RunSearch(q="nothing-like-it caddy wrk")
        assert not list(asked.applied_to_few(Run.objects.all(), few, [lab.pk]))
    with django_assert_num_queries(0):
        assert rows_of([]) == []


def scans(plan):
    """The nodes of a plan that read runs or load points."""
    if plan.get("Relation Name") in ("runs_run", "runs_cell"):
        yield plan
    for part in plan.get("Plans", ()):
        yield from scans(part)


def test_an_id_is_found_by_its_beginning_as_it_is_spelt(lab, runs):
    key = str(runs["nginx"].pk)
    rows, searched = Run.objects.filter(workspace=lab), in_workspaces([lab.pk])
    few = [run.pk for run in runs.values()]
    for start in (key, key[:8], key[:9], key[:20].upper()):
        asked = RunSearch(q=start)
        for selected in (asked.applied(rows, searched), asked.applied_to_few(rows, few, [lab.pk])):
            assert [run.pk for run in selected] == [runs["nginx"].pk], start
    for other in (key[:8] + key[9:], key[:4] + "-" + key[4:12], key + "0", key[9:]):
        assert not RunSearch(q=other).applied(rows, searched).exists(), other


@pytest.mark.parametrize(
    ("model", "column"),
    [
        (Server, "name"),
        (Server, "version"),
        (Host, "name"),
        (Host, "cpu_model"),
        (Workload, "name"),
        (Workload, "path"),
        (Series, "tool"),
        (Run, "text"),
    ],
)
def test_an_index_answers_what_is_asked(model, column):
    rows = model.objects.order_by()
    if model is Run:
        rows = rows.alias(text=Cast("labels", TextField()))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
        plan = rows.filter(**{f"{column}__icontains": "nothing-like-it"}).explain()
    assert f"{model._meta.model_name}_by_text" in plan


def test_the_owner_of_a_database_may_create_the_extension():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT bool_and(trusted) FROM pg_available_extension_versions WHERE name = 'pg_trgm'"
        )
        assert cursor.fetchone() == (True,)
