"""Heavy parts are in an answer only where `expand` asks for them."""

import pytest
from django.test import Client

from backend.api.runs import runs
from backend.api.runs import trials as trial_views
from backend.runs.models import Trial
from backend.sharing.models import Visibility
from backend.testing.openapi import list_operations
from backend.testing.scenes import make_measured_run, make_result_set

pytestmark = pytest.mark.django_db
ROOT = "/api/v1"


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def test_runs_are_listed_with_their_trials(api, scene):
    make_measured_run(scene.own.workspace)
    plain = api.get(f"{ROOT}/runs").json()["runs"]
    assert all("trial_details" not in run for run in plain)
    listed = api.get(f"{ROOT}/runs?expand=trial_details").json()["runs"]
    assert len(listed) == 2
    for run in listed:
        assert run["trial_details"] == api.get(run["url"]).json()["trials"]
        assert len(run["trial_details"]) == run["trials"]
    (first, *_) = api.get(f"{ROOT}/runs?expand=trial_details&fields=trial_details").json()["runs"]
    assert set(first) == {"trial_details"}


def test_a_page_of_runs_with_trials_is_short_and_leads_to_the_next(api, scene):
    make_measured_run(scene.own.workspace)
    refused = api.get(f"{ROOT}/runs?expand=trial_details&limit=11")
    assert (refused.status_code, refused.json()["field"]) == (400, "limit")
    page = api.get(f"{ROOT}/runs?expand=trial_details&limit=1").json()
    (following,) = api.get(page["next"]).json()["runs"]
    assert following["id"] != page["runs"][0]["id"]
    assert following["trial_details"]


def test_a_page_of_runs_has_no_more_trials_than_the_largest_run(api, scene, monkeypatch):
    make_measured_run(scene.own.workspace)
    address = f"{ROOT}/runs?expand=trial_details"
    one, other = (run["trials"] for run in api.get(address).json()["runs"])
    for most, expected in ((one + other, [2]), (one + other - 1, [1, 1]), (1, [1, 1])):
        monkeypatch.setattr(runs, "MOST_TRIALS", most)
        counts, following = [], address
        while following:
            page = api.get(following).json()
            counts.append(len(page["runs"]))
            following = page["next"]
        assert counts == expected


def test_a_trial_comes_with_its_timeline(api, scene):
    with_series, without = Trial.objects.filter(run=scene.run).order_by("ordinal")[:2]
    path = f"{ROOT}/trials/{with_series.pk}"
    assert "timeline" not in api.get(path).json()
    assert (
        api.get(f"{path}?expand=timeline").json()["timeline"] == api.get(f"{path}/timeline").json()
    )
    assert api.get(f"{ROOT}/trials/{without.pk}?expand=timeline").json()["timeline"] is None
    trials = api.get(f"{ROOT}/runs/{scene.run.pk}").json()["trials"]
    assert api.get(path).json() == trials[0]
    assert set(api.get(f"{path}?fields=id,p99_us").json()) == {"id", "p99_us"}


def test_a_result_set_comes_with_its_figures_to_whoever_reads_it(api, scene):
    shared = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    path = f"{ROOT}/result-sets/{shared.link}"
    assert "figures" not in api.get(path).json()
    snapshot = api.get(f"/s/{shared.link}.json").json()
    for reader in (api, Client()):
        assert reader.get(f"{path}?expand=figures").json()["figures"] == snapshot["figures"]


def test_a_part_that_does_not_exist_is_refused_with_those_that_do(api, scene):
    for path, part in (
        ("runs", "trial_details"),
        (f"trials/{scene.trial.pk}", "timeline"),
        (f"result-sets/{make_result_set(scene.own.workspace, Visibility.PUBLIC).link}", "figures"),
    ):
        refused = api.get(f"{ROOT}/{path}?expand={part},colour")
        problem = refused.json()
        assert (refused.status_code, problem["code"], problem["field"]) == (
            400,
            "bad-expand",
            "expand",
        )
        assert f"allowed are {part}." in problem["detail"]


def test_the_document_names_the_parts():
    described = {
        operation["operationId"]: parameter["description"]
        for _, _, operation in list_operations()
        for parameter in operation.get("parameters", ())
        if parameter["name"] == "expand"
    }
    assert described.keys() == {"run_list", "trial_read", "result_set_read"}
    assert (
        "trial_details (then at most 10 runs of at most 5,000 trials together)"
        in described["run_list"]
    )


@pytest.mark.parametrize("path", ["?expand=timeline", "/timeline"])
def test_a_long_timeline_holds_a_slot(api, scene, monkeypatch, path):
    held = []
    monkeypatch.setattr(trial_views, "hold_slot", held.append)
    trial = Trial.objects.filter(run=scene.run).earliest("ordinal")
    api.get(f"{ROOT}/trials/{trial.pk}{path}")
    assert held == []
    monkeypatch.setattr(trial_views, "LARGE_TIMELINE_BYTES", 0)
    api.get(f"{ROOT}/trials/{trial.pk}{path}")
    assert len(held) == 1
