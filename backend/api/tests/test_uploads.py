"""POST /api/v1/uploads: what is accepted, and what is refused with which words."""

import json
from datetime import timedelta

import pytest

from backend.ingest.models import Artefact, Upload
from backend.testing.uploads import WRK, make_envelope, make_file, make_tenant

pytestmark = pytest.mark.django_db
URL = "/api/v1/uploads"


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def post(client, tenant):
    def post(*files, headers=None, **fields):
        data = {**fields, "file": list(files)}
        return client.post(URL, data, headers=headers or tenant.headers)

    return post


def problem(answer, status):
    assert answer.status_code == status
    assert answer["content-type"] == "application/problem+json"
    return answer.json()


def test_a_file_and_a_token_are_enough(post, client, tenant):
    answer = post(make_file())
    assert answer.status_code == 202
    body = answer.json()
    assert body["state"] == "received"
    assert body["result_url"].endswith(f"/u/{body['id']}")
    again = client.get(f"{URL}/{body['id']}", headers=tenant.headers)
    assert again.json()["id"] == body["id"]


def test_the_same_id_with_the_same_bytes_is_answered_again(post):
    envelope = json.dumps(make_envelope(1))
    first = post(make_file(name="0.txt"), envelope=envelope)
    second = post(make_file(name="0.txt"), envelope=envelope)
    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json()["id"] == second.json()["id"]
    assert Upload.objects.count() == Artefact.objects.count() == 1


def test_the_same_id_with_other_bytes_is_a_conflict(post):
    envelope = json.dumps(make_envelope(1))
    post(make_file(name="0.txt"), envelope=envelope)
    answer = post(make_file(WRK + "more", name="0.txt"), envelope=envelope)
    assert "already in use" in problem(answer, 409)["detail"]
    assert Upload.objects.count() == 1


def test_another_workspaces_id_is_a_conflict_that_tells_nothing(post):
    envelope = json.dumps(make_envelope(1))
    other = make_tenant("other")
    post(make_file(name="0.txt"), envelope=envelope)
    answer = post(make_file(name="0.txt"), envelope=envelope, headers=other.headers)
    assert "lab" not in problem(answer, 409)["detail"]


def test_another_workspaces_upload_is_not_found(post, client):
    upload_id = post(make_file()).json()["id"]
    other = make_tenant("other")
    problem(client.get(f"{URL}/{upload_id}", headers=other.headers), 404)


@pytest.mark.parametrize(
    ("token", "word"), [("ls_agent_nonsense", "format or checksum"), ("", "token")]
)
def test_a_wrong_token_is_told_what_is_wrong(post, token, word):
    answer = post(make_file(), headers={"authorization": f"Bearer {token}"})
    assert word in problem(answer, 401)["detail"].lower()


def test_an_expired_token_says_when(post):
    old = make_tenant("old", lifetime=timedelta(days=-1))
    assert "expired on" in problem(post(make_file(), headers=old.headers), 401)["detail"]


def test_no_token_is_refused(client):
    problem(client.post(URL, {"file": make_file()}), 401)


def test_an_empty_file_is_refused_at_once(post):
    assert "0 bytes" in problem(post(make_file("")), 400)["detail"]


def test_no_file_says_how_to_send_one(post):
    assert "curl" in problem(post(), 400)["hint"]


def test_what_is_too_large_is_refused_before_it_is_stored(post, settings):
    settings.UPLOAD_MAX_BYTES = 100
    assert "at most 100" in problem(post(make_file(WRK)), 413)["detail"]
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"schema": 9}, "schema is 9"),
        ({"id": "no"}, "expected a UUID"),
        ({"trials": 3}, "expected a list"),
        ({"run": {"started_at": "yesterday"}}, "ISO 8601"),
        ({"run": {"started_at": "9999-12-31T23:59:59-14:00"}}, "ISO 8601"),
        ({"run": {"finished_at": "0001-01-01T00:00:00+14:00"}}, "ISO 8601"),
        ({"run": {"plan": "a\0b"}}, "no NUL"),
        ({"hosts": {"client": {"cores": -1}}}, "whole number"),
        ({"run": {"labels": json.loads('{"a":' * 200 + "1" + "}" * 200)}}, "50 levels"),
    ],
)
def test_a_bad_envelope_says_where(post, change, word):
    envelope = json.dumps({**make_envelope(1), **change})
    assert word in problem(post(make_file(name="0.txt"), envelope=envelope), 400)["detail"]


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"a": NaN}'])
def test_an_envelope_that_is_no_json_is_refused(post, text):
    problem(post(make_file(), envelope=text), 400)


OTHER_KINDS = (5, "x", True, [], [5], {}, {"x": [{}]}, {"plan": ["password=hunter2"]})


@pytest.mark.parametrize("member", ["run", "hosts", "agent", "trials", "id", "same_host"])
def test_a_member_of_another_kind_is_no_fault(post, member):
    codes = {}
    for value in OTHER_KINDS:
        envelope = {**make_envelope(1), member: value}
        answer = post(make_file(name="0.txt"), envelope=json.dumps(envelope))
        codes[json.dumps(value)] = answer.status_code
    assert set(codes.values()) <= {202, 400}, codes
    assert codes["5"] == 400


def test_a_trial_that_names_a_missing_file_is_refused(post):
    answer = post(make_file(name="other.txt"), envelope=json.dumps(make_envelope(1)))
    assert "0.txt" in problem(answer, 400)["detail"]


def test_an_unknown_tool_names_the_known_ones(post):
    assert "ab, artillery, autocannon" in problem(post(make_file(), tool="curl"), 400)["detail"]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_a_number_no_json_has_is_refused(post, number):
    body = json.dumps(make_envelope(1)).replace('"schema": 1', f'"schema": 1, "more": [{number}]')
    assert problem(post(make_file(name="0.txt"), envelope=body), 400)["hint"]
    assert Upload.objects.count() == 0


def test_the_document_names_every_answer(client):
    uploads = client.get("/api/v1/openapi.json").json()["paths"]["/api/v1/uploads"]["post"]
    refusals = [400, 401, 403, 404, 409, 413, 415, 422, 424, 425, 429, 503, 507]
    wanted = {"200", "202", *map(str, refusals)}
    assert set(uploads["responses"]) == wanted
