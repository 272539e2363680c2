"""Correcting a run by its page and by the API."""

import pytest
from django.test import Client

from backend.runs.models import Correction, Run, Trial
from backend.web.runs.run_edit import read_ordinals, write_ordinals
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture
def page(owner, scene):
    """The path of the form, and its fields as the browser sends them back unchanged."""
    path = f"/r/{scene.run.pk}/edit"
    context = owner.get(path).context
    return path, {**context["was"], **hidden(context)}


def hidden(context):
    """The hidden fields of the form, by which others' edits are noticed."""
    return {
        f"{kind}-{name}": text
        for kind in ("was", "corrected")
        for name, text in context[kind].items()
    }


def servers_in(run):
    trials = Trial.objects.filter(run=run).order_by("ordinal")
    return [str(trial.cell.series.server) for trial in trials]


def test_the_form_changes_only_what_was_changed(owner, scene, page):
    path, fields = page
    assert "Nothing was changed" in owner.post(path, fields, follow=True).content.decode()
    assert not Correction.objects.exists()
    fields["notes"] = "Two cables."
    # Meanwhile somebody else corrects the workload.
    owner.patch(f"/api/v1/runs/{scene.run.pk}", {"workload": "json"}, JSON)
    html = html_of(owner.post(path, fields, follow=True))
    assert "Saved. Frozen result sets do not change." in html
    assert "Two cables." in html
    assert sorted(Correction.objects.values_list("field", flat=True)) == ["notes", "workload"]


def test_the_form_corrects_chosen_trials(owner, scene, page):
    path, fields = page
    owner.post(path, {**fields, "server": "caddy", "version": "2", "trials": "0-2, 4"})
    servers = servers_in(scene.run)
    assert [at for at, server in enumerate(servers) if server == "caddy 2"] == [0, 1, 2, 4]


def test_the_form_corrects_everything_of_the_run(owner, scene, page):
    path, fields = page
    given = {
        "server_host": "bench-9",
        "client_host": "",
        "started_at": "2025-06-01T08:30",
        "labels": "night: yes\nbranch: main",
        "notes": "Why.",
    }
    assert owner.post(path, {**fields, **given}).status_code == 302
    run = Run.objects.get(pk=scene.run.pk)
    assert (str(run.server_host), run.client_host, run.notes) == ("bench-9", None, "Why.")
    assert run.labels == {"night": "yes", "branch": "main"}
    assert run.started_at.isoformat() == "2025-06-01T08:30:00+00:00"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"labels": "no colon"}, "Labels: got “no colon”, expected a line such as name: value."),
        ({"trials": "x", "server": "a"}, "Trials: got “x”, expected numbers such as 1-4, 7."),
        ({"trials": "99", "server": "a"}, "this run has no trial 99"),
        ({"started_at": "noon"}, "expected a time such as 2026-01-31T12:00"),
    ],
)
def test_a_refused_form_keeps_what_was_typed(owner, scene, page, given, sentence):
    path, fields = page
    response = owner.post(path, {**fields, "notes": "Typed.", **given})
    assert response.status_code == 400
    html = html_of(response)
    assert sentence in html
    assert "Typed." in html
    assert not Correction.objects.exists()


def test_the_history_is_shown_and_undone_on_the_page(owner, scene, page):
    path, fields = page
    owner.post(path, {**fields, "server_host": "bench-9"})
    html = html_of(owner.get(f"/r/{scene.run.pk}"))
    assert "Edited by members: 1 correction" in html
    assert "own-lab" in html
    correction = Correction.objects.get()
    undo = f"/r/{scene.run.pk}/corrections/{correction.pk}/undo"
    assert f'action="{undo}"' in html
    assert "was undone" in owner.post(undo, follow=True).content.decode()
    assert str(Run.objects.get(pk=scene.run.pk).server_host) == "bench-1"
    assert f'action="{undo}"' not in html_of(owner.get(f"/r/{scene.run.pk}"))


def test_a_viewer_sees_the_history_and_cannot_edit(owner, scene, page):
    path, fields = page
    owner.post(path, {**fields, "server_host": "bench-9"})
    viewer = Client()
    viewer.force_login(scene.viewer)
    html = html_of(viewer.get(f"/r/{scene.run.pk}"))
    assert "Edited by members" in html
    assert "Undo" not in html
    assert path not in html


def test_a_program_corrects_and_undoes(scene):
    client, url = Client(headers=scene.own.headers), f"/api/v1/runs/{scene.run.pk}"
    body = {"server": "caddy", "version": None, "trials": [0], "labels": {"a": "b"}}
    refused = client.patch(url, body, JSON)
    assert refused.status_code == 400
    assert "belongs to the whole run" in refused.json()["detail"]
    body.pop("labels")
    answer = client.patch(url, body, JSON)
    assert answer.status_code == 200, answer.content
    run = answer.json()
    assert run["trials"][0]["server"] == "caddy"
    made = {each["field"]: each for each in run["corrections"]}
    assert made["server"]["trials"] == [0]
    assert made["server"]["before"] == ["secret-server"]
    assert made["server"]["author"] == "own-lab"
    undo = f"{url}/corrections/{made['server']['id']}"
    assert client.delete(undo).status_code == 204
    assert client.delete(undo).status_code == 404
    run = client.get(url).json()
    assert run["trials"][0]["server"] == "secret-server"
    assert {each["field"]: each["undone_by"] for each in run["corrections"]} == {
        "server": "own-lab",
        "version": None,
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"sever": "caddy"}, "sever"),
        ({"server": None}, "server"),
        ({"server": "x" * 201}, "server"),
        ({"trials": [], "server": "a"}, "trials"),
        ({"started_at": "noon"}, "started_at"),
        ({"labels": {"a": {"b": 1}}}, "labels"),
    ],
)
def test_a_program_is_told_which_field_is_wrong(scene, body, field):
    client = Client(headers=scene.own.headers)
    answer = client.patch(f"/api/v1/runs/{scene.run.pk}", body, JSON)
    assert answer.status_code == 400
    assert field in str(answer.json())
    assert not Correction.objects.exists()


def test_who_may_not_write_corrects_nothing(scene):
    url = f"/api/v1/runs/{scene.run.pk}"
    viewer = Client()
    viewer.force_login(scene.viewer)
    for client, status in [
        (Client(), 401),
        (viewer, 404),
        (Client(headers=scene.foreign.headers), 404),
    ]:
        assert client.patch(url, {"notes": "Mine."}, JSON).status_code == status
    assert not Correction.objects.exists()


def test_numbers_of_trials_are_read():
    assert read_ordinals("1-3, 7,5–6") == [1, 2, 3, 5, 6, 7]
    assert read_ordinals("  ") is None
    assert len(read_ordinals("1-4999, 5000")) == 5000


@pytest.mark.parametrize("text", ["0-41, 50", "3", "1, 2", "1, 2, 4-6, 8", ""])
def test_numbers_of_trials_are_written_as_they_are_read(text):
    assert write_ordinals(read_ordinals(text) or []) == text


@pytest.mark.parametrize(
    ("trials", "got"),
    [
        (",".join(["1-99999"] * 400), "the number 99999"),
        (",".join(["1-5000"] * 400), "more than 5000 trials"),
        ("1," * 5000 + "1", "more than 5000 trials"),
        ("1" + " " * 35_000, "35001 characters"),
    ],
)
def test_more_trials_than_a_run_may_have_are_refused(owner, page, trials, got):
    path, fields = page
    response = owner.post(path, {**fields, "server": "caddy", "trials": trials})
    assert response.status_code == 400
    assert f"Trials: got {got}, expected at most" in html_of(response)
    assert not Correction.objects.exists()


def test_an_edit_of_somebody_else_is_not_overwritten(owner, scene, page):
    path, fields = page
    owner.patch(f"/api/v1/runs/{scene.run.pk}", {"notes": "Theirs.", "labels": {"a": "b"}}, JSON)
    mine = {**fields, "notes": "Mine.", "version": "9"}
    response = owner.post(path, mine)
    assert response.status_code == 409
    html = html_of(response)
    assert "Somebody changed this run since you opened the form" in html
    assert "Theirs." in html
    assert "Mine." in html
    assert response.context["given"]["version"] == "9"
    # The labels were not changed in this form, so they are no conflict.
    assert [label for label, _ in response.context["edited_meanwhile"]] == ["Notes"]
    assert Run.objects.get(pk=scene.run.pk).notes == "Theirs."
    assert not Correction.objects.filter(field="version").exists()
    # Having read it, the member saves again.
    assert owner.post(path, {**mine, **hidden(response.context)}).status_code == 302
    run = Run.objects.get(pk=scene.run.pk)
    assert (run.notes, run.labels) == ("Mine.", {"a": "b"})


def test_an_edit_of_the_same_trials_is_not_overwritten_where_servers_differ(owner, scene, page):
    path, fields = page
    assert fields["server"] == fields["was-server"] == ""
    theirs = {**fields, "server": "caddy", "trials": "1-4"}
    assert owner.post(path, theirs).status_code == 302
    mine = {**fields, "server": "nginx", "trials": "1-4"}
    response = owner.post(path, mine)
    assert response.status_code == 409
    assert "Its trials have several values." in html_of(response)
    assert servers_in(scene.run)[1:5] == ["caddy 1.0"] * 4
    # Having read it, the member saves again.
    assert owner.post(path, {**mine, **hidden(response.context)}).status_code == 302
    assert servers_in(scene.run)[1:5] == ["nginx 1.0"] * 4


def test_a_correction_that_was_undone_meanwhile_is_noticed(owner, scene, page):
    path, fields = page
    for server, trials in (("caddy", "1-4"), ("apache", "0")):
        owner.post(path, {**fields, "server": server, "trials": trials})
        fields |= hidden(owner.get(path).context)
    older = Correction.objects.get(value="caddy")
    owner.post(f"{path.removesuffix('edit')}corrections/{older.pk}/undo")
    response = owner.post(path, {**fields, "server": "nginx", "trials": "1-4"})
    assert response.status_code == 409
    assert "nginx" not in servers_in(scene.run)


def test_clearing_a_field_that_got_several_values_is_a_conflict(owner, scene, page):
    path, fields = page
    owner.post(path, {**fields, "version": "7"})
    fields |= hidden(owner.get(path).context)
    owner.post(path, {**fields, "version": "8", "trials": "1-4"})
    assert owner.post(path, {**fields, "version": ""}).status_code == 409


def test_the_same_change_by_two_members_is_no_conflict(owner, scene, page):
    path, fields = page
    owner.patch(f"/api/v1/runs/{scene.run.pk}", {"notes": "Both."}, JSON)
    response = owner.post(path, {**fields, "notes": "Both.\r\n"}, follow=True)
    assert "Nothing was changed" in response.content.decode()


def test_the_page_counts_the_corrections_that_stand(owner, scene):
    owner.patch(f"/api/v1/runs/{scene.run.pk}", {"notes": "One.", "labels": {"a": "b"}}, JSON)
    address = f"/r/{scene.run.pk}"
    assert "Edited by members: 2 corrections" in html_of(owner.get(address))
    for expected in ("Edited by members: 1 correction", "History of corrections"):
        correction = Correction.objects.filter(undone_at=None).first()
        owner.post(f"{address}/corrections/{correction.pk}/undo")
        html = html_of(owner.get(address))
        assert f"<summary> {expected} </summary>" in html
        assert html.count("<strong>Notes</strong>") == 1
