"""The runs that are ticked in a list: compared, labelled, deleted."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from backend.runs.amending.labelling import label_runs
from backend.runs.models import Run
from backend.testing.rows import MACHINE, CellSpec, make_run
from backend.web.tests.pages import html_of

URL = "/w/own-lab/runs/ticked"


@pytest.fixture
def runs(scene):
    return [make_run(scene.own.workspace, CellSpec(name)) for name in ("caddy", "nginx")]


@pytest.fixture
def viewer(scene):
    client = Client()
    client.force_login(scene.viewer)
    return client


def stored(runs):
    return Run.objects.filter(pk__in=[run.pk for run in runs])


def send(client, runs, **fields):
    return client.post(URL, {"run": [str(run.pk) for run in runs], **fields})


def test_two_ticked_runs_lead_to_their_pair_for_viewers_too(viewer, runs):
    response = send(viewer, runs, action="compare")
    assert response.status_code == 302
    assert response["Location"].startswith("/w/own-lab/compare/pair?a=")


def test_a_label_is_set_on_every_ticked_run_and_removed_again(owner, scene, runs):
    version = scene.own.workspace.data_version
    assert send(owner, runs, action="label", label=" branch ", value="main").status_code == 302
    assert [run.labels for run in stored(runs)] == [{"branch": "main"}] * 2
    scene.own.workspace.refresh_from_db()
    assert scene.own.workspace.data_version > version
    send(owner, runs, action="label", label="branch", value="")
    assert [run.labels for run in stored(runs)] == [{}] * 2


def test_two_labels_that_are_set_at_once_are_both_kept(scene, runs):
    """Each member's rows were read before the other's label was set."""
    first, second = list(stored(runs)), list(stored(runs))
    label_runs(first, "branch", "main", author=scene.own.user)
    label_runs(second, "night", "yes", author=scene.own.user)
    assert [run.labels for run in stored(runs)] == [{"branch": "main", "night": "yes"}] * 2


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"label": " ", "value": "x"}, "The label has no name."),
        ({"label": "x" * 201, "value": "x"}, "expected at most 200"),
        ({"label": "a", "value": "x" * 201}, "expected at most 200"),
    ],
)
def test_a_label_that_cannot_be_set_is_explained(owner, runs, fields, sentence):
    response = send(owner, runs, action="label", **fields)
    assert response.status_code == 400
    assert sentence in html_of(response)
    assert not any(run.labels for run in stored(runs))


def test_runs_are_deleted_after_a_question(owner, runs):
    question = send(owner, runs, action="delete", next="/w/own-lab/runs?tool=wrk")
    assert "Delete 2 runs?" in html_of(question)
    assert stored(runs).count() == 2
    done = send(owner, runs, action="delete", is_confirmed="1", next="/w/own-lab/runs?tool=wrk")
    assert done["Location"] == "/w/own-lab/runs?tool=wrk"
    assert not stored(runs).exists()
    assert "2 runs moved to the trash" in html_of(owner.get("/w/own-lab/runs"))


def test_the_deletion_of_one_run_speaks_of_one_run(owner, runs):
    question = html_of(send(owner, runs[:1], action="delete"))
    assert "Moves the run to the trash, where you can restore it for 30 days." in question
    send(owner, runs[:1], action="delete", is_confirmed="1")
    page = html_of(owner.get("/w/own-lab/runs"))
    restore = '<a href="/w/own-lab/trash">restore it</a>'
    assert f"1 run moved to the trash. You can {restore} for 30 days." in page


def test_deleting_many_runs_takes_as_many_statements_as_deleting_few(owner, scene):
    counts = []
    for number in (2, 30):
        some = [make_run(scene.own.workspace, CellSpec(), host=MACHINE) for _ in range(number)]
        with CaptureQueriesContext(connection) as statements:
            send(owner, some, action="delete", is_confirmed="1")
        assert not stored(some).exists()
        counts.append(len(statements))
    # The first also makes the row of the host's noise.
    assert counts[1] <= counts[0]


def test_runs_of_others_are_left_alone(owner, scene):
    foreign = make_run(scene.foreign.workspace, CellSpec())
    response = send(owner, [foreign], action="delete", is_confirmed="1")
    assert response.status_code == 400
    assert "No run was ticked" in html_of(response)
    assert Run.objects.filter(pk=foreign.pk).exists()


@pytest.mark.parametrize("action", ["label", "delete", "nonsense", ""])
def test_viewers_change_nothing(viewer, runs, action):
    assert send(viewer, runs, action=action, label="a", value="b").status_code == 404


def test_a_link_to_another_site_is_not_followed(owner, runs):
    response = send(owner, runs, action="label", label="a", value="b", next="//evil.example/")
    assert response["Location"] == "/w/own-lab/runs"


def test_a_reload_of_the_address_leads_to_the_list(owner):
    assert owner.get(URL)["Location"] == "/w/own-lab/runs"
