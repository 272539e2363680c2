"""What the run page is given."""

import uuid

import pytest

from backend.analysis.loading.selection import NotVisible
from backend.analysis.pages.run import describe_run
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


def test_the_run_with_its_trials():
    lab = make_workspace("lab")
    run = make_run(lab, CellSpec(trial_checks=["same-host"]))
    view = describe_run(run.pk, workspace_ids=[lab.pk])
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
            describe_run(run_id, workspace_ids=visible)
