"""Answers about many trials hold one of few slots of their viewer until they are written."""

import uuid

import pytest
from django.core.cache import caches
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from backend.accounts.models import Token
from backend.analysis.loading import large_runs, series_cache
from backend.analysis.loading.viewer_slots import MEMBERS, RETRY_AFTER_S, VISITORS
from backend.analysis.query.compare_query import CompareQuery
from backend.api import middleware
from backend.api.protocol import rendering
from backend.api.runs import run_answer
from backend.runs.models import Correction, Observation, Run, Trial
from backend.sharing.freezing import Description, freeze, save_live
from backend.sharing.models import ResultSet, SharedRun, Visibility
from backend.testing.scenes import make_changes, make_measured_run
from backend.testing.transactions import connection_kept_open, taken_back
from backend.untrusted.sandbox import fair_slots
from backend.web.runs import run_page
from backend.web.tests.access_rows import ROWS
from backend.web.tests.access_statuses import Row
from backend.web.tests.test_access import ask, body_of, ids_of

pytestmark = pytest.mark.django_db
EXPANDED = "/api/v1/runs?expand=trial_details"
NEW_NOTES = {"notes": "new notes"}
TICKED, CONFIRMED, RUN = "/w/own-lab/runs/ticked", {"is_confirmed": "yes"}, {"run": "{run}"}
NO_SERVERS = {"workspace": "own-lab", "kind": "server", "source": "x", "target": "y"}
# Of a workspace with many trials, and of a run in the trash.
CHANGES_OF_NAMES = {
    **dict.fromkeys(("rename-server", "rename-host", "rename-workload"), 302),
    **dict.fromkeys(("merge-server", "undo-merge", "restore-run", "erase-run"), 302),
    **dict.fromkeys(("merge", "restore-run-api"), 204),
    # Allowed in, but there is no such server.
    "renames": 400,
}
# Of a large run, and the status of the answer to a member.
LARGE = {
    "run": (Row("/api/v1/runs/{run}", {}), 200),
    "patch": (Row("/api/v1/runs/{run}", {}, "patch", NEW_NOTES, json=True), 200),
    "run-list": (Row(EXPANDED, {}), 200),
    "search-api": (Row("/api/v1/runs?q=a", {}), 200),
    "search-page": (Row("/w/own-lab/runs?q=a", {}), 200),
    "palette": (Row("/w/own-lab/search?q=a", {}), 200),
    "palette-everywhere": (Row("/search?q=a", {}), 200),
    "correction": (Row("/api/v1/runs/{run}/corrections/{correction}", {}, "delete"), 204),
    "shared-run": (Row("/api/v1/shared-runs/{link}", {}), 200),
    "trials-csv": (Row("/api/v1/trials.csv", {}), 200),
    "trials-parquet": (Row("/api/v1/trials.parquet", {}), 200),
    "run-page": (Row("/r/{run}", {}), 200),
    "shared-run-page": (Row("/shared/runs/{link}", {}), 200),
    "session-page": (Row("/w/own-lab/sessions/pair", {}), 200),
    "edit-run": (Row("/r/{run}/edit", {}), 200),
    "undo-correction": (Row("/r/{run}/corrections/{correction}/undo", {}, "post"), 302),
    "share-run": (Row("/r/{run}/share", {}, "post", {"visibility": "unlisted"}), 302),
    "run-sharing": (
        Row("/api/v1/runs/{run}/sharing", {}, "patch", {"visibility": "unlisted"}, json=True),
        200,
    ),
    "dismissals": (ROWS["dismissals"], 302),
    "delete-run": (Row("/r/{run}/delete", {}, "post"), 302),
    "ask-ticked": (Row(TICKED, {}, "post", {"action": "delete", **RUN}), 200),
    "delete-ticked": (Row(TICKED, {}, "post", {**CONFIRMED, "action": "delete", **RUN}), 302),
    "label-ticked": (Row(TICKED, {}, "post", {"action": "label", "label": "a", **RUN}), 302),
    "merge-make": (Row("/api/v1/merges", {}, "post", NO_SERVERS, json=True), 400),
    **{name: (ROWS[name], status) for name, status in CHANGES_OF_NAMES.items()},
}
GROWN_BY = 200


def share(run):
    return SharedRun.objects.create(run=run, visibility=Visibility.PUBLIC).link


@pytest.fixture
def is_large(monkeypatch):
    """The run of the scene, of twelve trials, counts as large."""
    monkeypatch.setattr(large_runs, "LARGE_TRIALS", 3)
    monkeypatch.setattr(large_runs, "LARGE_SEARCH", 0)
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)


@pytest.fixture
def ids(scene):
    Run.objects.filter(pk=scene.run.pk).update(session={"name": "pair", "parts": 1})
    series = scene.trial.cell.series
    parts = {"server": series.server_id, "workload": series.workload_id}
    own = {"run": scene.run.pk, "host": scene.run.server_host_id, "link": share(scene.run)}
    return {**own, **parts, **make_changes(scene)}


def take_all(monkeypatch):
    """Others have every slot, and all places to wait."""
    for slots in (MEMBERS, VISITORS):
        monkeypatch.setattr(slots, "running", 0)
        monkeypatch.setattr(slots, "_most_waiting", 0)


@pytest.fixture
def viewer(scene):
    return f"user:{scene.own.user.pk}"


@pytest.mark.usefixtures("is_large")
@pytest.mark.parametrize("name", LARGE)
def test_whoever_has_all_slots_is_told_to_wait_and_nothing_is_changed(
    owner, ids, scene, name, monkeypatch
):
    row, status = LARGE[name]
    with monkeypatch.context() as patch:
        patch.setattr(MEMBERS, "of_owner", 0)
        refused = ask(owner, row, ids)
        assert (refused.status_code, refused["Retry-After"]) == (429, str(RETRY_AFTER_S))
        assert b"wait" in refused.content
        if row.path.startswith("/api/"):
            assert refused.json()["code"] == "too-many-large-answers"
        scene.run.refresh_from_db()
        assert scene.run.notes != NEW_NOTES["notes"]
        assert not Correction.objects.exclude(undone_at=None).filter(pk=ids["correction"]).exists()
    assert ask(owner, row, ids).status_code == status
    assert not MEMBERS._running


@pytest.mark.usefixtures("is_large")
@pytest.mark.parametrize("name", LARGE)
def test_where_others_have_all_places_the_answer_is_503(owner, ids, monkeypatch, name):
    take_all(monkeypatch)
    refused = ask(owner, LARGE[name][0], ids)
    assert (refused.status_code, refused["Retry-After"]) == (503, str(RETRY_AFTER_S))


# What is found in a whole workspace: kept, so that it needs a slot once.
FOUND = {
    "home": "/",
    "workspace": "/w/own-lab/",
    "compare-page": "/w/own-lab/compare",
    "first-comparison": "/w/own-lab/compare/first",
    "result-sets-page": "/w/own-lab/result-sets",
    "result-set-page": "/s/{frozen}",
    "live-result-set-page": "/s/{live}",
    "result-set-changes": "/s/{frozen}/changes",
    "result-set-feed": "/s/{frozen}.atom",
    "embed": "/embed/{live}",
    "result-set": "/api/v1/result-sets/{frozen}",
    "result-set-list": "/api/v1/result-sets",
}


@pytest.fixture
def links(scene):
    """A frozen and a live result set, which a newer run matches."""
    lab, public = scene.own.workspace, Description(title="T", visibility=Visibility.PUBLIC)
    query = CompareQuery.parse("server=secret-server&workspace=own-lab")
    made = {
        "frozen": freeze(query, workspace=lab, author=None, description=public).link,
        "live": save_live(query, workspace=lab, author=None, description=public).link,
    }
    make_measured_run(lab)
    lab.changed()
    caches["answers"].clear()
    series_cache.forget()
    return made


@pytest.mark.usefixtures("is_large")
@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_in_a_large_workspace_needs_a_slot_until_it_is_kept(
    owner, links, scene, name, monkeypatch
):
    path = FOUND[name].format(**links)
    # A frame on another site is a visitor's.
    asker = Client() if name == "embed" else owner
    for _ in range(2):
        with monkeypatch.context() as patch:
            take_all(patch)
            assert asker.get(path).status_code == 503
        shown = asker.get(path)
        assert shown.status_code in (200, 302)
        with monkeypatch.context() as patch:
            take_all(patch)
            assert asker.get(path).status_code == shown.status_code
        scene.own.workspace.changed()
    assert not MEMBERS._running
    assert not VISITORS._running


@pytest.mark.usefixtures("is_large")
def test_the_json_of_a_live_set_names_the_files_of_all_trials(owner, links, monkeypatch):
    path = f"/s/{links['live']}.json"
    shown = owner.get(path)
    with monkeypatch.context() as patch:
        take_all(patch)
        assert owner.get(path).status_code == 503
    assert owner.get(path).content == shown.content


@pytest.mark.usefixtures("is_large")
def test_where_there_is_no_slot_no_token_is_made(owner, scene, monkeypatch):
    """It is shown once, on a page of what is found in the workspace."""
    take_all(monkeypatch)
    tokens = Token.objects.count()
    assert owner.post("/w/own-lab/first-token").status_code == 503
    assert Token.objects.count() == tokens


@pytest.mark.parametrize("path", ["/api/v1/result-sets", "/w/own-lab/result-sets/new"])
def test_a_result_set_is_computed_in_a_slot(owner, scene, monkeypatch, path):
    take_all(monkeypatch)
    before = ResultSet.objects.count()
    api = Client(headers=scene.own.headers)
    form = {"query": "", "visibility": "private"}
    answer = api.post(path, form, "application/json") if "api" in path else owner.post(path, form)
    assert answer.status_code == 503
    assert ResultSet.objects.count() == before


def test_lists_of_uploads_leave_their_envelopes_out(owner, scene):
    """One may have 4 MB: a list of 31 took 1.2 GB."""
    api = Client(headers=scene.own.headers)
    pages = (owner, "/w/own-lab/uploads"), (api, "/api/v1/uploads?workspace=own-lab")
    for client, path in pages:
        with CaptureQueriesContext(connection) as seen:
            assert client.get(path).status_code == 200
        read = [query["sql"] for query in seen if '"ingest_upload"."envelope",' in query["sql"]]
        assert read == [], path


def observation():
    sample = {"at_s": 1.0, "cores": [0.5]}
    host = {"name": "server-1"}
    return {"id": str(uuid.uuid4()), "host": host, "uncertainty_s": 0.1, "samples": [sample]}


def test_an_observation_needs_a_slot_before_its_body_is_read(scene, monkeypatch):
    """One token could keep all threads: of a long run each observation took a minute."""
    agent = Client(headers=scene.own.headers)
    path = f"/api/v1/runs/{scene.run.pk}/observations"
    with monkeypatch.context() as patch:
        patch.setattr(MEMBERS, "of_owner", 0)
        for body in (observation(), "no JSON"):
            refused = agent.post(path, body, "application/json")
            assert (refused.status_code, refused["Retry-After"]) == (429, str(RETRY_AFTER_S))
    assert not Observation.objects.exists()
    assert agent.post(path, observation(), "application/json").status_code == 201
    assert not MEMBERS._running


def test_small_runs_need_no_slot(owner, ids, monkeypatch):
    take_all(monkeypatch)
    for name, (row, status) in LARGE.items():
        # Tables of all trials and sessions always need one.
        if not name.startswith(("trials-", "session-")):
            with taken_back():
                assert ask(owner, row, ids).status_code == status, name


@pytest.mark.usefixtures("is_large")
def test_whose_run_it_is_not_learns_nothing_of_its_size(scene, ids, monkeypatch):
    take_all(monkeypatch)
    foreign = Client(headers=scene.foreign.headers)
    for name in ("run", "patch", "correction", "run-page"):
        row = LARGE[name][0]
        unknown = ask(foreign, row, {**ids, "run": uuid.uuid4()})
        assert ask(foreign, row, ids).status_code == unknown.status_code == 404, name


@pytest.mark.usefixtures("is_large")
def test_the_slot_is_held_until_the_bytes_are_written(owner, scene, viewer, monkeypatch):
    running = []

    def spy(module, name):
        work = getattr(module, name)

        def watched(*arguments, **more):
            running.append((name, MEMBERS._running.count(viewer)))
            return work(*arguments, **more)

        monkeypatch.setattr(module, name, watched)

    spy(rendering, "_written")
    spy(middleware, "tag_of")
    spy(run_page, "render_large")
    assert owner.get(f"/api/v1/runs/{scene.run.pk}").status_code == 200
    assert owner.get(f"/r/{scene.run.pk}").status_code == 200
    assert set(running) == {("_written", 1), ("tag_of", 1), ("render_large", 1)}
    assert not MEMBERS._running


@pytest.mark.usefixtures("is_large")
def test_a_view_that_fails_gives_its_slot_back(scene, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError

    client = Client(raise_request_exception=False)
    client.force_login(scene.own.user)
    monkeypatch.setattr(run_answer, "describe_run", fail)
    monkeypatch.setattr(run_page, "render_large", fail)
    for path in (f"/api/v1/runs/{scene.run.pk}", f"/r/{scene.run.pk}"):
        assert client.get(path).status_code == 500
        assert not MEMBERS._running


@pytest.mark.usefixtures("is_large")
def test_a_client_that_goes_away_keeps_no_slot(scene, viewer):
    """It neither reads the answer nor lets the server close it."""
    asked = RequestFactory().get(f"/api/v1/runs/{scene.run.pk}", headers=scene.own.headers)
    statuses = []
    with connection_kept_open():
        unread = get_wsgi_application()(asked.environ, lambda status, *_: statuses.append(status))
        assert statuses == ["200 OK"]
        assert not MEMBERS._running
        unread.close()


def grow(run):
    """Give the run more trials like its first."""
    trial = Trial.objects.filter(run=run).earliest("ordinal")
    last = Trial.objects.filter(run=run).latest("ordinal").ordinal
    trials = [
        Trial(**{**fields_of(trial), "id": uuid.uuid4(), "ordinal": last + number})
        for number in range(1, GROWN_BY + 1)
    ]
    Trial.objects.bulk_create(trials)
    for artefact in trial.artefacts.all():
        artefact.trials.add(*trials)


def fields_of(trial):
    return {field.attname: getattr(trial, field.attname) for field in Trial._meta.concrete_fields}


@pytest.mark.usefixtures("is_large")
def test_every_answer_that_grows_with_the_trials_of_a_run_holds_a_slot(
    owner, scene, settings, tmp_path, monkeypatch
):
    settings.AGENT_FILES = tmp_path
    holding = []
    monkeypatch.setattr(large_runs, "hold_slot", holding.append)
    every = {name: row for name, row in ROWS.items() if row.method == "get"}
    every |= {name: row for name, (row, _) in LARGE.items() if not name.startswith("trials-")}
    ids = {**ids_of(scene), "link": share(scene.run)}
    sizes = {name: size_of(owner, row, ids) for name, row in every.items()}
    grow(scene.run)
    growing = set()
    for name, row in every.items():
        holding.clear()
        if size_of(owner, row, ids) > sizes[name] + 20 * GROWN_BY and not holding:
            growing.add(name)
    # Bounded by itself: the first 500 trials of a point.
    assert growing == {"trial-list"}


def size_of(client, row, ids):
    with taken_back():
        return len(body_of(ask(client, row, ids)))


@pytest.mark.parametrize("name", ["run", "run-list", "run-page", "shared-run", "shared-run-page"])
def test_few_trials_with_long_commands_hold_a_slot(owner, ids, scene, name, monkeypatch):
    """200 trials had 800 MB of commands, whose run was small by its count."""
    holding = []
    monkeypatch.setattr(large_runs, "hold_slot", holding.append)
    ask(owner, LARGE[name][0], ids)
    assert holding == []
    Trial.objects.filter(pk=scene.trial.pk).update(command=["x" * large_runs.LARGE_BYTES])
    ask(owner, LARGE[name][0], ids)
    assert holding


@pytest.mark.parametrize("name", ["run", "run-list", "run-page", "shared-run", "shared-run-page"])
def test_trials_with_long_findings_hold_a_slot_and_are_refused_where_they_are_many(
    owner, ids, scene, name, monkeypatch
):
    """499 trials of one file of 2 KB had 82 MB of findings, and held no slot."""
    holding = []
    monkeypatch.setattr(large_runs, "hold_slot", holding.append)
    findings = [{"id": "tool-disagrees", "detail": "x" * large_runs.LARGE_BYTES}]
    Trial.objects.filter(pk=scene.trial.pk).update(checks=findings)
    assert ask(owner, LARGE[name][0], ids).status_code == 200
    assert holding
    monkeypatch.setattr(large_runs, "MOST_BYTES", large_runs.LARGE_BYTES)
    refused = ask(owner, LARGE[name][0], ids)
    assert refused.status_code == 413
    assert "have 2 MiB; at most 2 MiB are answered" in refused.content.decode()


@pytest.mark.parametrize("name", ["run-page", "shared-run-page"])
def test_a_page_has_the_commands_of_the_trials_it_lists_alone(owner, ids, scene, name, monkeypatch):
    monkeypatch.setattr(large_runs, "MOST_BYTES", large_runs.LARGE_BYTES)
    Trial.objects.filter(pk=scene.trial.pk).update(command=["x" * large_runs.LARGE_BYTES])
    assert ask(owner, LARGE[name][0], ids).status_code == 200
