"""Idempotency keys: a creation that is sent again creates nothing."""

import re
from datetime import timedelta
from pathlib import Path
from threading import Thread
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.test import Client

from backend.accounts.models import TokenKind
from backend.accounts.tokens.tokens import AGENT_LIFETIME, issue
from backend.api.models import CreationKey
from backend.api.protocol.idempotency import HEADER
from backend.sharing.models import SavedView
from backend.testing.openapi import list_operations
from backend.testing.rows import STARTED

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
