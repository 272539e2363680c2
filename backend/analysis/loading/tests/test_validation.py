"""What a link names and nothing recorded has is refused; what exists but not together is not."""

import re

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.loading import validation
from backend.analysis.loading.facets import facets
from backend.analysis.loading.selection import resolve_query
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Run, Trial
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    workspace = make_workspace("lab")
    run = make_run(
        workspace,
        CellSpec("caddy", version="2.8", connections=8),
        CellSpec("nginx", version="1.27", connections=64),
    )
    run.labels = {"build": "7", "a:b": "c"}
    run.save(update_fields=["labels"])
    return workspace


def ask(lab, text):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[lab.pk]))


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ("server=ngins", "server", "“ngins”. Recorded: caddy, nginx. Did you mean nginx?"),
        ("server=caddy&server=nobody", "server", "“nobody”. Recorded: caddy, nginx."),
        ("version=9", "version", "Recorded: 1.27, 2.8."),
        ("host=elsewhere", "host", "Recorded: bench-1."),
        ("payload=77", "payload", "Recorded:"),
        ("tool=ab", "tool", "Recorded: wrk."),
        ("connections=9", "connections", "Recorded: 8, 64."),
        ("connections=8&connections=9", "connections", "“9”"),
        ("rate=500", "rate", "Recorded: nothing."),
        ("label=build:8", "label", "Recorded: a:b:c, build:7. Did you mean build:7?"),
        ("x=version&at=1.28", "at", "Recorded: 1.27, 2.8."),
        ("at=9", "at", "“9”. Recorded: 8, 64."),
        ("x=rate&at=8", "at", "Recorded: nothing."),
        ("x=configuration&at=none", "at", "Recorded:"),
        ("x=payload&at=77", "at", "Recorded: 13."),
        ("x=label&at=build:8", "at", "Recorded: a:b:c, build:7."),
        ("x=date&at=2001-01-01 00:00:00", "at", "Recorded: 2"),
        ("host=unknown", "host", "“unknown”. Recorded: bench-1."),
        ("connections=unknown", "connections", "“unknown”. Recorded: 8, 64."),
        ("workspace=elsewhere", "workspace", "Recorded: lab."),
    ],
)
def test_what_nothing_has_is_refused_with_what_there_is(lab, text, field, said):
    query = CompareQuery.parse(text)
    for answer in (compare, facets):
        with pytest.raises(UnknownValue) as refused:
            answer(query, workspace_ids=[lab.pk])
        assert refused.value.field == field
        assert said in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "server=caddy&version=1.27",
        "server=caddy&connections=64",
        "server=caddy&until=2001-01-01",
        "label=a:b:c&connections=8&server=nginx",
    ],
)
def test_what_exists_but_not_together_is_a_question_without_results(lab, text):
    figures = ask(lab, text)
    assert figures["series"] == []
    assert figures["finding"] == "No comparison: no measurement matches this query"


def test_slugs_and_labels_with_colons_are_known(lab):
    for text in (
        "label=a:b:c",
        "label=build:7",
        "at=8",
        "at=1.27&x=version",
        "at=nginx&x=server",
        "at=13&x=payload",
        "x=label&at=a:b:c, build:7",
    ):
        assert ask(lab, text)["series"]
        query = CompareQuery.parse(text)
        assert resolve_query(query, [lab.pk]) == query


def test_where_nothing_is_recorded_no_value_is_wrong():
    empty = make_workspace("empty")
    text = "server=nginx&connections=8&label=build:7&x=version&at=1"
    assert ask(empty, text)["series"] == []


def test_many_known_values_are_counted_not_listed(lab):
    make_run(lab, *(CellSpec(f"server {number}", connections=1) for number in range(40)))
    with pytest.raises(UnknownValue, match=r"server 0, .* and 22 more"):
        ask(lab, "server=nobody")


def test_of_thousands_of_labels_some_are_read(lab, monkeypatch):
    """All of 3,000 runs with a hundred each took 5 s."""
    monkeypatch.setattr(validation, "MAX_COMPARED", 150)
    for run in range(40):
        labels = {f"{run}-{number}": "x" for number in range(100)}
        Run.objects.filter(pk=make_run(lab, CellSpec()).pk).update(labels=labels)
    with pytest.raises(UnknownValue) as refused:
        ask(lab, "label=no:body")
    # Read by twenties; the fixture's few besides.
    assert int(re.search(r"and (\d+) more", str(refused.value))[1]) < 300


def test_no_hint_is_looked_for_among_too_much():
    assert "Did you mean nginx?" in str(UnknownValue("server", "ngin", {"nginx", "y" * 200}))
    many = {f"nginx {number}" for number in range(501)}
    for got, known in (("nginx", many), ("x" * 81, {"x" * 80})):
        assert "Did you mean" not in str(UnknownValue("server", got, known))


def test_a_trial_without_throughput_shows_what_it_tells():
    workspace = make_workspace("lab")
    run = make_run(workspace, CellSpec(rates=(100.0, 100.0, 100.0), error_rate=0.0))
    silent, failed = Trial.objects.filter(run=run, warmup=False).order_by("ordinal")[:2]
    nothing = {"throughput_rps": None, "percentiles_us": {}, "requests_completed": None}
    Trial.objects.filter(pk=silent.pk).update(error_rate=None, **nothing)
    Trial.objects.filter(pk=failed.pk).update(error_rate=1.0, **nothing)
    figures = ask(workspace, "metric=error_rate")
    (point,) = figures["series"][0]["points"]
    assert point["trials"] == Trial.objects.filter(run=run, warmup=False).count() - 1
    assert set(point["metrics"]["error_rate"]["each"]) == {0.0, 1.0}
    assert figures["truncated"] == "Not everything is shown: 1 trial without any figure."


def test_latency_alone_is_compared():
    workspace = make_workspace("lab")
    run = make_run(workspace, CellSpec("a"), CellSpec("b"))
    gone = {"throughput_rps": None, "requests_completed": None, "error_rate": None}
    Trial.objects.filter(run=run).update(**gone)
    figures = ask(workspace, "metric=p99")
    assert [row["value"] is not None for row in figures["ranking"]["rows"]] == [True, True]
    rates = [series["points"][0]["metrics"]["throughput"] for series in figures["series"]]
    assert [rate["value"] for rate in rates] == [None, None]
