"""What the run page is given."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.analysis.loading.selection import NotVisible
from backend.analysis.pages.run import describe_run
from backend.analysis.pages.run_trials import give_details
from backend.runs.models import Trial
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


def test_the_run_with_its_trials():
    lab = make_workspace("lab")
    run = make_run(lab, CellSpec(trial_checks=["same-host"]))
    view = describe_run(run.pk, workspace_ids=[lab.pk])
    give_details(view["trials"])
    assert view["started_at"] == "2026-03-02T09:30:00.000Z"
    assert [host["role"] for host in view["hosts"]] == ["client and server"]
    warmup, first, *_ = view["trials"]
    assert (warmup["warmup"], first["warmup"]) == (True, False)
    assert first["command"] == "wrk -c 64 'http://127.0.0.1:8000/a b'"
    assert first["origin"] == "computed"
    assert first["checks"][0]["title"] == "Client and server on one host"
    assert first["checks"][0]["detail"] == "same-host."


def test_a_run_of_many_trials_takes_no_more_statements():
    lab = make_workspace("lab")
    counts = set()
    for rates in ([1000.0], [1000.0] * 9):
        run = make_run(lab, *(CellSpec(rates=rates, connections=each) for each in (1, 8, 64)))
        with CaptureQueriesContext(connection) as captured:
            assert len(describe_run(run.pk, workspace_ids=[lab.pk])["trials"]) > len(rates)
        counts.add(len(captured))
    assert len(counts) == 1


def test_each_trial_has_what_was_recorded_of_it():
    lab = make_workspace("lab")
    point = CellSpec(resources={"server_cpu_s": 1.5}, errors={"read": 3}, error_rate=0.25)
    run = make_run(lab, point, CellSpec("another", version=None, connections=8))
    Trial.objects.filter(run=run, ordinal=2).update(load={"rate": 1e-7}, command=["ab", 7, None])
    view = describe_run(run.pk, workspace_ids=[lab.pk])
    assert "resources" not in view["trials"][0]
    give_details(view["trials"])
    stored = Trial.objects.filter(run=run).select_related("cell__series__server")
    for described, trial in zip(view["trials"], stored, strict=True):
        series = trial.cell.series
        assert (described["id"], described["server"]) == (str(trial.pk), str(series.server))
        for name in ("errors", "resources", "load", "repeat", "error_rate", "elapsed_s"):
            assert described[name] == getattr(trial, name), name
        assert described["p99_us"] == trial.percentiles_us.get("99")
    assert view["trials"][2]["command"] == "ab 7 None"
    assert view["name"] == "another and sync 23.0 · hello · wrk"


def test_a_run_of_others_does_not_exist():
    run = make_run(make_workspace("theirs"), CellSpec())
    for run_id, visible in ((run.pk, [make_workspace("lab").pk]), (uuid.uuid4(), [])):
        with pytest.raises(NotVisible):
            describe_run(run_id, workspace_ids=visible)
