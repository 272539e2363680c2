"""What all operations share: tags, keys of creations, rates, pages and sparse answers."""

import io
import re
from datetime import timedelta
from pathlib import Path
from threading import Thread
from uuid import UUID

import polars
import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.test import Client

from backend.accounts.models import TokenKind
from backend.accounts.tokens.token_making import MOST_USABLE
from backend.accounts.tokens.tokens import AGENT_LIFETIME, issue
from backend.alerts.rules import MAX_RULES
from backend.api.models import CreationKey
from backend.api.protocol.idempotency import HEADER
from backend.api.results.point_trials import MAX_TRIALS
from backend.deliveries.channels import MAX_CHANNELS
from backend.runs.catalogue.trial_table import COLUMNS
from backend.runs.models import Run, Trial
from backend.runs.tables.names import TOKEN_HOSTS
from backend.sharing.models import SavedView
from backend.testing.openapi import list_operations
from backend.testing.rows import STARTED, CellSpec, let_a_minute_pass, make_run
from backend.testing.scenes import make_measured_run

pytestmark = pytest.mark.django_db
GUIDE = (Path(__file__).parents[3] / "docs/api.md").read_text()


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


@pytest.fixture
def owner(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


def test_an_answer_that_did_not_change_is_304_without_a_body(api, scene):
    for path in (f"/api/v1/runs/{scene.run.pk}", f"/api/v1/compare?run={scene.run.pk}"):
        first = api.get(path)
        again = api.get(path, headers={"if-none-match": first["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == first["ETag"]
        assert again["Cache-Control"] == first["Cache-Control"] == "private, no-store"


def test_an_answer_that_changed_is_sent_whole(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    body = {"notes": "Another cable."}
    assert api.patch(path, body, content_type="application/json").status_code == 200
    again = api.get(path, headers={"if-none-match": tag})
    assert again.status_code == 200
    assert again["ETag"] != tag


def test_a_reader_who_lost_access_gets_no_304(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    foreign = Client(headers=scene.foreign.headers)
    assert foreign.get(path, headers={"if-none-match": tag}).status_code == 404
    assert Client().get(path, headers={"if-none-match": tag}).status_code == 401


def edit(client, path, tag, **body):
    headers = {"if-match": tag}
    return client.patch(path, body, content_type="application/json", headers=headers)


def test_a_run_is_corrected_only_as_it_was_read(api, owner, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    first = edit(owner, path, tag, version="2.0")
    assert first.status_code == 200
    assert first["ETag"] == api.get(path)["ETag"]
    refused = edit(api, path, tag, version="3.0", notes="Another cable.")
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (412, "changed-meanwhile")
    assert problem["current"] == {"version": ["2.0"], "notes": [""]}
    (correction,) = problem["corrections"]
    assert (correction["value"], correction["author"]) == ("2.0", scene.own.user.username)
    assert api.get(path).json()["notes"] == ""
    assert problem["etag"] == first["ETag"]
    assert edit(api, path, problem["etag"], version="3.0").status_code == 200


@pytest.mark.parametrize("form", ["{}", "W/{}", '"another", {}', "*"])
def test_each_form_of_a_tag_that_holds_is_taken(api, scene, form):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    assert edit(api, path, form.format(tag), notes="A cable.").status_code == 200


def test_a_tag_that_a_proxy_marked_as_compressed_is_taken(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    tag = api.get(path)["ETag"]
    assert edit(api, path, f'{tag[:-1]}-gzip"', notes="A cable.").status_code == 200


def test_a_condition_without_a_tag_is_refused(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    refused = edit(api, path, "3f2a", notes="A cable.")
    assert (refused.status_code, refused.json()["code"]) == (400, "bad-if-match")
    assert api.get(path).json()["notes"] == ""


def test_a_condition_that_would_be_ignored_is_refused(api, scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    refused = api.delete(path, headers={"if-match": api.get(path)["ETag"]})
    assert (refused.status_code, refused.json()["code"]) == (400, "condition-not-taken")
    assert api.get(path).status_code == 200


def test_who_may_only_read_learns_nothing_by_a_condition(scene):
    path = f"/api/v1/runs/{scene.run.pk}"
    foreign = Client(headers=scene.foreign.headers)
    assert edit(foreign, path, '"3f2a"', notes="A cable.").status_code == 404


def create(client, key="a-key", **body):
    given = {"name": "Nightly", "query": "server=nginx", **body}
    headers = {"idempotency-key": key}
    return client.post("/api/v1/views", given, content_type="application/json", headers=headers)


def test_a_creation_that_is_sent_again_creates_nothing_and_gets_the_first_answer(api):
    first, again = create(api), create(api)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again["Idempotent-Replayed"] == "true"
    assert SavedView.objects.count() == 1


def test_a_browser_that_checks_for_forgery_may_send_a_key(scene):
    browser = Client(enforce_csrf_checks=True, headers={"x-csrftoken": "x" * 32})
    browser.force_login(scene.own.user)
    browser.cookies[settings.CSRF_COOKIE_NAME] = "x" * 32
    first, again = (create(browser, workspace=scene.own.workspace.slug) for _ in range(2))
    assert (first.status_code, again["Idempotent-Replayed"]) == (201, "true")
    assert create(browser, name="Another").status_code == 409


def test_a_key_with_another_body_is_refused(api):
    create(api)
    refused = create(api, name="Another")
    assert (refused.status_code, refused.json()["code"]) == (409, "key-used-before")
    assert SavedView.objects.count() == 1


def test_keys_of_two_senders_never_meet(api, scene):
    create(api)
    assert create(Client(headers=scene.foreign.headers)).status_code == 201
    token = issue(
        TokenKind.AGENT, scene.own.workspace, user=scene.own.user, name="b", lifetime=AGENT_LIFETIME
    )
    other = Client(headers={"authorization": f"Bearer {token}"})
    # Its own key, and so a creation of its own: the name is taken.
    assert create(other).status_code == 409


def test_a_creation_that_failed_may_be_sent_again(api):
    assert create(api, name="").status_code == 400
    assert CreationKey.objects.count() == 0
    assert create(api).status_code == 201


def test_a_key_is_forgotten_after_a_day(api):
    create(api)
    CreationKey.objects.update(created_at=STARTED - timedelta(days=1))
    SavedView.objects.all().delete()
    assert create(api, key="another").status_code == 201
    assert list(CreationKey.objects.values_list("key", flat=True)) == ["another"]


def expire_keys():
    CreationKey.objects.update(created_at=F("created_at") - timedelta(days=1))


def test_an_expired_key_creates_again_with_any_body(api):
    create(api)
    expire_keys()
    anew = create(api, name="Another")
    assert (anew.status_code, anew.json()["name"]) == (201, "Another")
    assert "Idempotent-Replayed" not in anew
    # From now on it stands for the second creation, for a day.
    assert create(api, name="Another")["Idempotent-Replayed"] == "true"
    assert create(api).status_code == 409
    assert SavedView.objects.count() == 2


def test_an_expired_key_whose_creation_fails_may_be_sent_again(api):
    create(api)
    expire_keys()
    # The name is taken: the key does not hide it any more.
    assert create(api).json()["code"] != "key-used-before"
    assert create(api, name="Another").status_code == 201


def test_the_kept_answer_goes_with_its_workspace(api, scene):
    create(api)
    assert CreationKey.objects.get().workspace == scene.own.workspace


@pytest.mark.parametrize("key", ["", "x" * 201, "a key", "sch\u00f6n"])
def test_a_key_that_cannot_be_one_is_refused(api, key):
    assert create(api, key=key).status_code == 400


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("/api/v1/uploads", "Send an envelope with an id"),
        ("/api/v1/uploads/preview", "Leave out Idempotency-Key"),
        ("/api/v1/renames", "Leave out Idempotency-Key"),
        (f"/api/v1/runs/{UUID(int=1)}/dismissals", "sent again creates nothing"),
    ],
)
def test_a_key_is_refused_where_it_would_do_nothing(api, path, instead):
    answer = api.post(path, {}, content_type="application/json", headers={"idempotency-key": "a"})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "idempotency-key-not-taken")
    assert instead in problem["hint"]
    assert api.post(path, {}, content_type="application/json").json()["code"] != problem["code"]


def test_the_guide_names_the_creations_that_take_a_key():
    (sentence,) = re.findall(r"^These take an `Idempotency-Key`.*?\. ", GUIDE, re.M | re.S)
    named = re.findall(r"`POST (\S+)`", sentence)
    assert named == sorted(
        path
        for method, path, operation in list_operations()
        if any(each["name"] == HEADER for each in operation.get("parameters", ()))
    )


CREATED = {
    "alert-rules": {"name": "Hosts", "kind": "noisy_host"},
    "channels": {"name": "Pager", "kind": "webhook", "address": "https://pager.example/hooks/1"},
}


@pytest.mark.parametrize("noun", CREATED)
def test_a_rule_and_a_channel_are_created_once(noun, owner, scene):
    body = {**CREATED[noun], "workspace": scene.own.workspace.slug}
    headers = {"idempotency-key": "a-key"}
    first, again = (
        owner.post(f"/api/v1/{noun}", body, content_type="application/json", headers=headers)
        for _ in range(2)
    )
    assert (first.status_code, again.json()) == (201, first.json())
    assert again["Idempotent-Replayed"] == "true"
    assert CreationKey.objects.get().workspace == scene.own.workspace


def test_a_key_is_kept_for_the_kind_of_its_sender(api, scene, owner):
    create(api)
    made = create(owner, name="Another", workspace=scene.own.workspace.slug)
    assert made.status_code == 201
    token, user = sorted(CreationKey.objects.values_list("sender", flat=True))
    assert (token.partition(":")[0], user) == ("token", f"user:{scene.own.user.pk}")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_expired", [False, True])
def test_two_creations_at_the_same_time_are_one(scene, is_expired):
    answers = []
    if is_expired:
        create(Client(headers=scene.own.headers))
        expire_keys()
        SavedView.objects.all().delete()

    def send():
        try:
            answers.append(create(Client(headers=scene.own.headers)))
        finally:
            connection.close()

    senders = [Thread(target=send) for _ in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert SavedView.objects.count() == 1


def test_every_answer_tells_the_rate(api):
    answer = api.get("/api/v1/runs")
    limit = answer["RateLimit-Policy"]
    assert limit.startswith('"requests";q=')
    assert answer["RateLimit"].startswith('"requests";r=')


def test_more_requests_than_the_rate_get_429_and_uploads_do_not_count(api, settings, scene):
    settings.REQUESTS_PER_MINUTE = 3
    statuses = [api.get("/api/v1/servers").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    refused = api.get("/api/v1/servers")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert refused["RateLimit"].startswith('"requests";r=0;')
    assert refused.json()["code"] == "too-many-requests"
    assert api.post("/api/v1/uploads").status_code == 400
    assert Client(headers=scene.foreign.headers).get("/api/v1/servers").status_code == 200


def test_an_entry_has_only_the_fields_that_are_asked_for(api, scene):
    (run,) = api.get("/api/v1/runs?fields=id,name").json()["runs"]
    assert set(run) == {"id", "name"}
    assert set(api.get(f"/api/v1/runs/{scene.run.pk}?fields=labels").json()) == {"labels"}
    refused = api.get("/api/v1/runs?fields=id,colour")
    assert (refused.status_code, refused.json()["field"]) == (400, "fields")


@pytest.mark.parametrize(
    ("path", "entries", "field"),
    [
        ("members?workspace=own-lab&", "members", "role"),
        ("tokens?workspace=own-lab&", "tokens", "name"),
        ("workspaces?", "workspaces", "role"),
    ],
)
def test_lists_of_a_workspace_have_only_the_fields_that_are_asked_for(owner, path, entries, field):
    listed = owner.get(f"/api/v1/{path}fields={field}").json()[entries]
    assert listed
    assert {frozenset(entry) for entry in listed} == {frozenset({field})}


def test_uploads_are_listed_with_their_reasons(api, scene):
    (upload,) = api.get("/api/v1/uploads").json()["uploads"]
    assert (upload["id"], upload["state"]) == (str(scene.upload.pk), "parsed")
    assert api.get("/api/v1/uploads?state=failed").json()["uploads"] == []
    assert api.get("/api/v1/uploads?state=lost").status_code == 400


def pull(api, suffix, **query):
    """The bodies of all parts."""
    address, bodies = f"/api/v1/trials.{suffix}", []
    while address:
        answer = api.get(address, query)
        assert answer.status_code == 200
        bodies.append(answer.content)
        link = answer.headers.get("Link", "")
        address, query = link.partition(">")[0].removeprefix("<http://testserver"), {}
        address = address[address.find("/api") :] if address else ""
    return bodies


@pytest.fixture
def lab(scene):
    """Three runs beside that of the scene: 12 + 3 × (1 warm-up and 2 trials)."""
    for _ in range(3):
        make_run(scene.own.workspace, CellSpec(server="=nginx", rates=(1000.0, None)))
    let_a_minute_pass()
    return scene


def test_trials_as_parquet_come_whole_in_parts_with_types(api, lab):
    parts = [polars.read_parquet(io.BytesIO(body)) for body in pull(api, "parquet", limit=6)]
    table = polars.concat(parts)
    assert table.height == Trial.objects.count()
    assert table["trial_id"].n_unique() == table.height
    assert [part.height for part in parts] == [12, 6, 3]
    assert table.columns == [column.name for column in COLUMNS]
    assert table.schema["run_recorded_at"] == polars.Datetime("us", "UTC")
    assert table["throughput_rps"].null_count() == 3
    recorded = table["run_recorded_at"].to_list()
    assert recorded == sorted(recorded)


def test_trials_as_csv_are_harmless_in_a_spreadsheet_and_unknown_is_empty(api, lab):
    text = b"".join(pull(api, "csv")).decode()
    lines = text.split("\r\n")
    assert lines[0].startswith("workspace,run_id,")
    assert "'=nginx" in text
    assert "None" not in text


def test_only_what_is_new_comes_after_the_cursor(api, lab):
    cursor = api.get("/api/v1/trials.csv")["Loadsheet-Next"]
    assert api.get(f"/api/v1/trials.csv?after={cursor}").content.count(b"\r\n") == 1
    make_measured_run(lab.own.workspace)
    let_a_minute_pass()
    assert api.get(f"/api/v1/trials.csv?after={cursor}").content.count(b"\r\n") == 13


def test_trials_of_other_workspaces_and_of_open_runs_are_left_out(api, lab):
    foreign = Client(headers=lab.foreign.headers)
    assert foreign.get("/api/v1/trials.csv").content.count(b"\r\n") == 1
    Run.objects.update(is_open=True)
    assert api.get("/api/v1/trials.csv").content.count(b"\r\n") == 1


@pytest.mark.parametrize("query", ["limit=0", "limit=20001", "after=x", "colour=red", "since=2"])
def test_a_bad_question_for_trials_is_refused(api, query):
    assert api.get(f"/api/v1/trials.parquet?{query}").status_code == 400


def paths_of(is_meant):
    """The paths of the GET operations that are meant, as the guide writes them."""
    return sorted(
        re.sub(r"\{\w+\}", "<id>", path)
        for method, path, operation in list_operations()
        if method == "get" and is_meant(operation)
    )


def parameters_of(operation):
    return {each["name"] for each in operation.get("parameters", ())}


def test_the_guide_names_the_lists_that_come_whole_with_their_bounds():
    def comes_whole(operation):
        is_list = operation["operationId"].endswith("_list")
        return is_list and not {"limit", "after"} <= parameters_of(operation)

    (table,) = re.findall(r"Only these lists are not paged:\n\n(.*?)\n\n", GUIDE, re.S)
    bounds = dict(re.findall(r"^\| `(\S+)` \| (.+) \|$", table, re.M))
    assert list(bounds) == paths_of(comes_whole)
    numbers = {path: [int(n) for n in re.findall(r"\d+", bounds[path])] for path in bounds}
    assert numbers["/api/v1/agents"] == [TOKEN_HOSTS, MOST_USABLE]
    assert numbers["/api/v1/alert-rules"] == [MAX_RULES]
    assert numbers["/api/v1/channels"] == [MAX_CHANNELS]
    assert numbers["/api/v1/trials"] == [MAX_TRIALS]


def test_the_guide_names_what_takes_fields():
    (named,) = re.findall(r"These take it:\n(.*?)\.\n\n", GUIDE, re.S)
    assert re.findall(r"`(\S+)`", named) == paths_of(lambda each: "fields" in parameters_of(each))


def test_every_paged_list_takes_fields():
    def is_paged(operation):
        return {"limit", "after"} <= parameters_of(operation)

    tables = [path for path in paths_of(is_paged) if "/trials." in path]
    with_fields = paths_of(lambda each: is_paged(each) and "fields" in parameters_of(each))
    assert sorted([*with_fields, *tables]) == paths_of(is_paged)


OPERATIONS = [
    pytest.param(described, id=f"{method} {path}") for method, path, described in list_operations()
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_has_a_description_an_example_and_its_errors(operation):
    assert len(operation.get("description", "")) > 10
    codes = set(operation["responses"])
    assert {"429", "503"} <= codes
    assert "413" in codes or "requestBody" not in operation
    assert codes & {"400", "401", "404"} or operation["operationId"] == "limit_list"
    answers = [answer for code, answer in operation["responses"].items() if code < "300"]
    for part in (*answers, operation.get("requestBody", {})):
        for content in part.get("content", {}).values():
            assert "example" in content
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query":
            assert parameter["description"]
