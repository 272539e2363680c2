"""Who loses the right to write while a result set is computed publishes nothing, by page or API."""

from threading import Thread

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Membership, Role, Token, User
from backend.accounts.workspace import members
from backend.api.models import CreationKey
from backend.sharing import freezing
from backend.sharing.models import Kind, ResultSet
from backend.sharing.tests.test_freezing_and_removal import standing_still
from backend.testing.scenes import make_scene

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def scene():
    return make_scene()


@pytest.fixture
def member(scene):
    user = User.objects.create_user("mallory")
    Membership.objects.create(user=user, workspace=scene.own.workspace, role=Role.MEMBER)
    return user


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def save(client, scene, kind=Kind.FROZEN, key=None):
    body = {"query": f"run={scene.run.pk}", "kind": kind, "visibility": "public"}
    headers = {} if key is None else {"idempotency-key": key}
    asked = {**body, "workspace": scene.own.workspace.slug}
    return client.post(
        "/api/v1/result-sets", asked, content_type="application/json", headers=headers
    )


def save_by_page(client, scene, kind=Kind.FROZEN):
    form = {"query": f"run={scene.run.pk}", "kind": kind, "visibility": "public"}
    return client.post(f"/w/{scene.own.workspace.slug}/result-sets/new", form)


def saved_while(monkeypatch, work, lose):
    """The status of what `work` sends, where `lose` happens while it is computed."""
    answers = []
    with standing_still(monkeypatch, freezing, "_save", lambda: answers.append(work())) as go_on:
        lose()
        go_on()
    return answers[0].status_code


@pytest.mark.parametrize("kind", [Kind.FROZEN, Kind.LIVE])
@pytest.mark.parametrize("key", [None, "a-key"])
def test_a_removed_member_publishes_nothing(scene, member, monkeypatch, kind, key):
    status = saved_while(
        monkeypatch,
        lambda: save(signed_in(member), scene, kind, key),
        lambda: members.remove(scene.own.user, scene.own.workspace, member.pk),
    )
    assert (status, ResultSet.objects.count()) == (404, 0)


def test_a_member_who_may_only_read_now_publishes_nothing_by_page(scene, member, monkeypatch):
    mine = Membership.objects.filter(user=member)
    status = saved_while(
        monkeypatch,
        lambda: save_by_page(signed_in(member), scene),
        lambda: mine.update(role=Role.VIEWER),
    )
    assert (status, ResultSet.objects.count()) == (404, 0)


def test_a_revoked_token_publishes_nothing(scene, monkeypatch):
    status = saved_while(
        monkeypatch,
        lambda: save(Client(headers=scene.own.headers), scene),
        lambda: Token.objects.update(revoked_at=timezone.now()),
    )
    assert (status, ResultSet.objects.count()) == (404, 0)


@pytest.mark.parametrize("key", [None, "a-key"])
def test_everything_that_is_frozen_is_of_one_state(scene, monkeypatch, key):
    levels, real = [], freezing.compare

    def compare(*given, **options):
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_isolation")
            levels.append(cursor.fetchone()[0])
        return real(*given, **options)

    monkeypatch.setattr(freezing, "compare", compare)
    assert save(Client(headers=scene.own.headers), scene, key=key).status_code == 201
    assert set(levels) == {"repeatable read"}


@pytest.mark.parametrize("is_failed_before", [False, True])
def test_two_saves_with_one_key_at_the_same_time_are_one(scene, is_failed_before):
    if is_failed_before:
        assert save(Client(headers=scene.own.headers), scene, "no kind", "a-key").status_code == 400
        assert CreationKey.objects.get().status == 0
    answers = []

    def send():
        try:
            answers.append(save(Client(headers=scene.own.headers), scene, key="a-key"))
        finally:
            connection.close()

    senders = [Thread(target=send) for _ in range(2)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert ResultSet.objects.count() == 1
