"""What the run page and the exports are given."""

import uuid

import pytest

from backend.analysis.cells import NotVisible
from backend.analysis.comparison import compare
from backend.analysis.outcome_words import outcome_text
from backend.analysis.query import CompareQuery
from backend.analysis.run_view import run_view
from backend.analysis.table import columns_of, rows_of
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


def test_the_run_with_its_trials():
    lab = make_workspace("lab")
    run = make_run(lab, CellSpec(trial_checks=["same-host"]))
    view = run_view(run.pk, workspace_ids=[lab.pk])
    assert view["started_at"] == "2026-03-02T09:30:00.000Z"
    assert [host["role"] for host in view["hosts"]] == ["client and server"]
    warmup, first, *_ = view["trials"]
    assert (warmup["warmup"], first["warmup"]) == (True, False)
    assert first["command"] == "wrk -c 64 'http://127.0.0.1:8000/a b'"
    assert first["origin"] == "computed"
    assert first["checks"][0]["title"] == "Client and server on one host"
    assert first["checks"][0]["detail"] == "same-host."


def test_a_run_of_others_does_not_exist():
    run = make_run(make_workspace("theirs"), CellSpec())
    for run_id, visible in ((run.pk, [make_workspace("lab").pk]), (uuid.uuid4(), [])):
        with pytest.raises(NotVisible):
            run_view(run_id, workspace_ids=visible)


def test_the_table_has_a_row_for_each_point_and_the_same_numbers():
    lab = make_workspace("lab")
    make_run(lab, CellSpec(connections=1), CellSpec(connections=8, p50_us=None))
    figures = compare(CompareQuery(), workspace_ids=[lab.pk])
    first, second = rows_of(figures)
    assert list(first) == columns_of(figures)
    assert (first["connections"], second["connections"]) == (1, 8)
    point = figures["series"][0]["points"][0]
    assert first["throughput_rps_low"] == point["metrics"]["throughput"]["low"]
    assert second["p99_us"] is None


def test_outcome_reasons_and_what_is_left_out_travel_with_every_row(monkeypatch):
    lab = make_workspace("lab")
    monkeypatch.setattr("backend.analysis.series.MAX_SERIES", 1)
    make_run(lab, *(CellSpec(name, trial_checks=["error-rate-high"]) for name in ("a", "b")))
    figures = compare(CompareQuery(), workspace_ids=[lab.pk])
    assert figures["truncated"]
    rows = rows_of(figures)
    said = {(row["outcome"], row["reasons"], row["truncated"]) for row in rows}
    reasons = "; ".join(figures["outcome"]["reasons"])
    assert said == {("caveats", reasons, figures["truncated"])}
    assert reasons


def test_what_an_older_version_froze_is_overridden_by_its_query():
    figures = {"outcome": {"status": "not_comparable", "reasons": ["loop differs"]}, "query": ""}
    assert outcome_text(figures) == "not comparable: loop differs"
    assert outcome_text({**figures, "query": "override=1"}) == (
        "ranked although not comparable: loop differs"
    )
    caveats = {"status": "caveats", "reasons": list("abcde"), "overridden": False}
    assert outcome_text({"outcome": caveats}) == "comparable with caveats: a; b; c; and 2 more"
