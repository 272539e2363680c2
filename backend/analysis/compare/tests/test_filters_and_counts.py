"""Any field as a filter, and the counts of what can be chosen."""

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.loading import series_cache
from backend.analysis.loading.facets import facets
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import MAX_LENGTH, CompareQuery
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

BIG = {**HELLO, "name": "big", "path": "/big", "payload_bytes": 10_000}


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[workspace.pk]))


def count(workspace, text=""):
    found = facets(CompareQuery.parse(text), workspace_ids=[workspace.pk])
    return found["total"], {
        field["id"]: {value["value"]: value["count"] for value in field["values"]}
        for field in found["fields"]
    }


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("version=1.0", {"a"}),
        ("version=unknown", {"c"}),
        ("configuration=workers%3D4", {"b"}),
        ("payload=10000", {"b"}),
        ("payload=10000&connections=64", set()),
        ("loop=open", {"c"}),
        ("client=bench-1", {"a", "b", "c"}),
        ("tool_version=4.1.0", {"a", "b", "c"}),
        ("connections=8", {"b"}),
        ("connections=8.0&connections=64", {"a", "b"}),
        ("rate=100", {"c"}),
        ("connections=unknown", {"c"}),
        ("label=build:7", {"a", "b", "c"}),
        ("since=2026-03-02&until=2026-03-02", {"a", "b", "c"}),
        ("since=2026-03-03", set()),
        ("until=2026-03-01", set()),
    ],
)
def test_filters(lab, text, left):
    run = make_run(
        lab,
        CellSpec("a", version="1.0"),
        CellSpec("b", configuration={"workers": 4}, workload=BIG, connections=8),
        CellSpec("c", version=None, loop="open", connections=None, rate_rps=100.0),
    )
    run.labels = {"build": "7"}
    run.save()
    found = {
        series["server"]
        for x in ("connections", "rate")
        for series in ask(lab, f"{text}&x={x}")["series"]
    }
    assert found == left


def test_counts_are_under_every_filter_but_their_own(lab):
    make_run(lab, CellSpec("a"), CellSpec("b", tool="ab"), CellSpec("b", connections=8))
    total, counts = count(lab, "server=a&tool=wrk")
    assert total == {"cells": 1, "trials": 3, "runs": 1}
    assert counts["server"] == {"a": 3, "b": 3}
    assert counts["tool"] == {"wrk": 3, "ab": 0}
    assert counts["connections"] == {"8": 0, "64": 3}
    assert counts["rate"] == {"unknown": 3}


def test_counts_of_labels_and_settings(lab):
    first = make_run(lab, CellSpec("a", configuration={"workers": 4, "tls": True}))
    first.labels = {"build": "7"}
    first.save()
    make_run(lab, CellSpec("b"))
    _, counts = count(lab, "label=build:7")
    assert counts["label"] == {"build:7": 3}
    # What the label leaves nothing of is there to be dimmed.
    assert counts["configuration"] == {"tls=True": 3, "workers=4": 3, "unknown": 0}
    assert counts["server"] == {"a": 3, "b": 0}
    assert count(make_workspace("empty"))[0] == {"cells": 0, "trials": 0, "runs": 0}


def test_of_many_labels_the_chosen_one_and_the_first_by_name_are_listed(lab):
    """With 300,000 labels the list of them all took 8 GiB of the web process."""
    for number in range(3):
        run = make_run(lab, CellSpec("a"))
        run.labels = {f"key {number}-{key:02}": "x" for key in range(60)}
        run.labels["long"] = "y" * (MAX_LENGTH + 1)
        run.save(update_fields=["labels"])
    query = CompareQuery.parse("label=key 2-59:x")
    (field,) = facets(query, workspace_ids=[lab.pk], only=["label"])["fields"]
    values = [value["value"] for value in field["values"]]
    assert (len(values), field["more"]) == (100, 81)
    assert values[:3] == ["key 2-59:x", "key 0-00:x", "key 0-01:x"]
    assert field["values"][0]["chosen"]


@pytest.mark.parametrize("most", ["MAX_TEXT_BYTES", "MAX_SETTINGS"])
def test_of_more_text_than_is_read_at_once_a_comparison_says_so(lab, monkeypatch, most):
    make_run(lab, CellSpec("a", configuration={"workers": "x" * 1_000}))
    monkeypatch.setattr(series_cache, most, 0)
    with pytest.raises(series_cache.TooManyConfigurations, match="comparisons read at most"):
        ask(lab)


def test_a_label_whose_key_has_a_colon_is_found_as_its_facet_says(lab):
    run = make_run(lab, CellSpec("a"))
    run.labels = {"a:b": "c", "a": "x"}
    run.save(update_fields=["labels"])
    for text in ("a:b:c", "a:x"):
        figures = ask(lab, f"label={text}")
        assert len(figures["runs"]) == 1, text
    with pytest.raises(UnknownValue):
        ask(lab, "label=a:c")


def test_a_value_that_no_link_may_hold_is_not_offered(lab):
    make_run(lab, CellSpec("a", configuration={"long": "x" * 400, "short": "y"}))
    answer = facets(CompareQuery.parse(""), workspace_ids=[lab.pk], only=["configuration"])
    (field,) = answer["fields"]
    assert [one["value"] for one in field["values"]] == ["short=y"]
    assert field["more"] == 1


def test_what_only_crashed_counts_nothing(lab):
    make_run(lab, CellSpec("a"), CellSpec("crash", rates=(None, None)))
    total, counts = count(lab)
    assert counts["server"] == {"a": 3, "crash": 0}
    assert total == {"cells": 1, "trials": 3, "runs": 1}


def test_a_payload_of_nothing_is_a_place(lab):
    none = {**HELLO, "name": "none", "payload_bytes": 0}
    make_run(lab, CellSpec("a"), CellSpec("a", workload=none))
    assert ask(lab, "x=payload&at=0")["ranking"]["x"] == 0
