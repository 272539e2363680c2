"""Erasing an account leaves nothing of the person; exporting it first gives all of it.

Rows of every model that can refer to a person are made, and given to one person.
"""

import json

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.models import Session
from django.db import ProgrammingError, connection, transaction
from django.db.models import JSONField, UUIDField
from django.test import Client

from backend.accounts.models import (
    Act,
    AuditEvent,
    HeldMessage,
    Invitation,
    Membership,
    Role,
    Token,
    User,
    Workspace,
)
from backend.accounts.own_data.personal_data import RELATIONS, exported_keys
from backend.accounts.takedown_models import Report
from backend.accounts.workspace import invitations
from backend.alerts.models import AlertChange
from backend.deliveries.models import Channel, ChannelKind
from backend.sharing.workspace_deletion import delete_workspace
from backend.storage import storage
from backend.testing.every_text import make_every_row
from backend.testing.scenes import make_scene

pytestmark = pytest.mark.django_db

# The name of the person: no word of ours, too long for chance.
NAME = "qzvxwjk"
EMAIL = f"{NAME}@example.org"
PASSWORD = "correct horse battery staple"


@pytest.fixture
def scene(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    settings.EMAIL_BACKEND = "backend.accounts.mail.held_mail.EmailBackend"
    storage.cache_clear()
    yield make_scene()
    storage.cache_clear()


@pytest.fixture
def person(scene):
    user = User.objects.create_user(NAME, EMAIL, PASSWORD, first_name=NAME, last_name=NAME)
    Membership.objects.create(user=user, workspace=scene.own.workspace, role=Role.OWNER)
    return user


@pytest.fixture
def client(person):
    client = Client()
    client.force_login(person)
    return client


def test_nothing_of_an_erased_person_is_left(scene, person, client):
    _plant(scene, person, client)
    assert _tables_with(NAME) >= {"accounts_user", "accounts_auditevent", "accounts_heldmessage"}
    kept = {relation.column: relation.rows_of(person).count() for relation in RELATIONS}
    assert [column for column, rows in kept.items() if not rows] == []

    answer = client.post("/account/erase", {"confirm": NAME})

    assert answer.status_code == 200, answer.content.decode()
    assert _tables_with(NAME) == set()
    # The id of nobody: which events were of one person.
    assert _tables_with(str(person.pk)) == {"accounts_auditevent"}
    assert client.get("/account/data").status_code == 302
    assert not Session.objects.filter(pk="a-session").exists()
    event = AuditEvent.objects.get(act=Act.ACCOUNT_ERASED)
    assert (event.subject_id, event.actor_name, event.address) == (
        person.pk,
        "deleted account",
        None,
    )
    # What belongs to the workspace stays.
    assert scene.run.__class__.objects.filter(pk=scene.run.pk, author=None).exists()
    assert AlertChange.objects.filter(by=None, by_name="deleted account").exists()


def test_the_export_has_every_row_of_the_person_and_no_secret(scene, person, client):
    _plant(scene, person, client)

    answer = client.post("/account/data/export")
    document = json.loads(b"".join(answer.streaming_content))

    assert answer["Content-Disposition"].startswith("attachment")
    assert list(document) == exported_keys()
    assert document["account"]["username"] == NAME
    for relation in RELATIONS:
        if relation.key:
            assert len(document[relation.key]) == relation.rows_of(person).count(), relation.key
    assert document["memberships"] == [
        {"workspace_id": str(scene.own.workspace.pk), "workspace": "own-lab", "role": "owner"}
    ]
    assert any(event["act"] == Act.ACCOUNT_EXPORTED for event in document["audit_events"])
    assert person.password not in json.dumps(document)


# What a colleague writes; no word of ours.
SINCE = "kqzwvjx"


def _write_into_every_text(person, workspace):
    """As a colleague may, into the rows that refer to the person."""
    for relation in RELATIONS:
        for column in relation.texts:
            kind = relation.model._meta.get_field(column)
            if not isinstance(kind, UUIDField):
                text = {"k": SINCE} if isinstance(kind, JSONField) else SINCE
                # Two rows may have to have two names.
                row = relation.rows_of(person).first()
                relation.model._base_manager.filter(pk=row.pk).update(**{column: text})
    Workspace.objects.filter(pk=workspace.pk).update(slug=f"lab-{SINCE}")


def _leave(person, workspace):
    Membership.objects.filter(user=person, workspace=workspace).delete()


def _delete(person, workspace):
    delete_workspace(workspace)


@pytest.mark.parametrize("end", [_leave, _delete])
def test_of_a_workspace_that_the_person_left_no_text_is_exported(end, scene, person, client):
    _plant(scene, person, client)
    workspace = scene.own.workspace
    _write_into_every_text(person, workspace)
    read = json.loads(b"".join(client.post("/account/data/export").streaming_content))
    for relation in RELATIONS:
        for column in relation.texts:
            assert any(row[column] for row in read[relation.key]), (relation.key, column)
    assert read["runs"][0]["notes"] == SINCE

    end(person, Workspace.objects.get(pk=workspace.pk))

    text = b"".join(client.post("/account/data/export").streaming_content)
    document = json.loads(text)
    assert SINCE not in text.decode()
    for relation in RELATIONS:
        for row in document[relation.key] if relation.texts else ():
            assert {row[column] for column in relation.texts} == {None}, relation.key
    run = document["runs"][0]
    assert (run["id"], run["workspace_id"]) == (read["runs"][0]["id"], str(workspace.pk))
    assert run["recorded_at"] == read["runs"][0]["recorded_at"]
    of_workspace = [
        event for event in document["audit_events"] if event["workspace_id"] == str(workspace.pk)
    ]
    assert {(event["subject"], event["detail"]) for event in of_workspace} == {(None, None)}


def test_a_list_of_many_rows_is_whole(scene, person, client, monkeypatch):
    monkeypatch.setattr("backend.accounts.own_data.personal_data.CHUNK", 2)
    for number in range(5):
        AuditEvent.objects.create(act=Act.VIEW_DELETED, actor_id=person.pk, subject=str(number))

    answer = client.post("/account/data/export")
    events = json.loads(b"".join(answer.streaming_content))["audit_events"]

    assert {event["subject"] for event in events} >= {"0", "1", "2", "3", "4"}
    assert len(events) == AuditEvent.objects.filter(actor_id=person.pk).count()


def test_the_export_is_limited(person, client, monkeypatch):
    monkeypatch.setattr("backend.accounts.limits.limiters.OWN_DATA_PER_HOUR", 1)

    first, second = (client.post("/account/data/export") for _ in range(2))

    assert (first.status_code, second.status_code) == (200, 429)
    assert int(second["Retry-After"]) > 0


# Who else has an address that has the person's within, or is like it where a dot is any letter.
OTHERS = (
    f"jo{EMAIL}",
    f"{EMAIL}.au",
    f"jo.{EMAIL}",
    f"jo+{EMAIL}",
    EMAIL.replace(".", "-"),
)


def test_the_mails_of_others_stay(scene, person, client):
    for other in OTHERS:
        HeldMessage.objects.create(to=other, subject="s", body="b")
        HeldMessage.objects.create(to=f"x@example.org, {other}", subject="s", body="b")
        Report.objects.create(
            workspace=scene.own.workspace, kind="run", thing_id=scene.run.pk, page="/", email=other
        )
        AuditEvent.objects.create(act=Act.VIEW_DELETED, subject=other)
    for own in (EMAIL, EMAIL.upper(), f"x@example.org, {EMAIL}", f"{EMAIL}, x@example.org"):
        HeldMessage.objects.create(to=own, subject="s", body="b")
    HeldMessage.objects.create(to=f"Ann <{EMAIL}>", subject="s", body="b")

    assert client.post("/account/erase", {"confirm": NAME}).status_code == 200

    held = set(HeldMessage.objects.filter(subject="s").values_list("to", flat=True))
    assert held == {*OTHERS, *(f"x@example.org, {other}" for other in OTHERS)}
    assert set(Report.objects.values_list("email", flat=True)) == set(OTHERS)
    assert AuditEvent.objects.filter(subject__in=OTHERS).count() == len(OTHERS)


@pytest.mark.parametrize("path", ["/account/data/export", "/account/erase"])
def test_an_old_session_gives_its_password_again(path, scene, person, client):
    session = client.session
    session["signed_in_at"] = 0.0
    session["account_authentication_methods"] = []
    session.save()

    answer = client.post(path, {"confirm": NAME})

    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/reauthenticate/")
    assert User.objects.filter(pk=person.pk).exists()


def test_another_name_erases_nothing(person, client):
    answer = client.post("/account/erase", {"confirm": "somebody"})

    assert answer.status_code == 400
    assert User.objects.filter(pk=person.pk).exists()


def test_the_only_owner_hands_over_first(scene, person, client):
    Membership.objects.filter(workspace=scene.own.workspace).exclude(user=person).delete()
    assert "own-lab" in client.get("/account/erase").content.decode()

    answer = client.post("/account/erase", {"confirm": NAME})

    assert answer.status_code == 409
    assert "/w/own-lab/members" in answer.content.decode()
    assert User.objects.filter(pk=person.pk).exists()
    assert Membership.objects.filter(user=person).exists()


def test_the_audit_log_still_refuses_every_other_change(person):
    event = AuditEvent.objects.create(act=Act.VIEW_DELETED, actor_name="x")
    for change in ({"actor_name": "y"}, {"act": "z"}):
        with pytest.raises(ProgrammingError), transaction.atomic():
            AuditEvent.objects.filter(pk=event.pk).update(**change)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL loadsheet.erases_account = 'on'")
    with pytest.raises(ProgrammingError), transaction.atomic():
        AuditEvent.objects.filter(pk=event.pk).update(act="z")


def _plant(scene, person, client):
    """A row for each relation to the person, and the name and the address in every text of it."""
    workspace = scene.own.workspace
    make_every_row(scene, "abcd")
    User.objects.filter(pk=person.pk).update(email=EMAIL)
    EmailAddress.objects.create(user=person, email=EMAIL, verified=True, primary=True)
    invited = User.objects.create_user("invited")
    invitations.accept(invitations.invite(person, workspace, Role.VIEWER), invited)
    Authenticator.objects.create(user=person, type="totp", data={"secret": "x"})
    Session.objects.create(pk="a-session", session_data="x", expire_date="2099-01-01T00:00Z")
    UserSession.objects.create(
        user=person, ip="192.0.2.9", session_key="a-session", user_agent=NAME
    )
    LogEntry.objects.create(user=person, action_flag=1, object_repr=NAME)
    person.groups.add(Group.objects.create(name="group"))
    person.user_permissions.add(Permission.objects.first())
    Invitation.objects.create(
        workspace=workspace, role=Role.VIEWER, email=EMAIL, made_by=scene.own.user,
        expires_at="2099-01-01T00:00Z", lookup="lookup-1", digest=b"1", pepper_id="1",
    )  # fmt: skip
    HeldMessage.objects.create(to=EMAIL, subject="s", body="b")
    HeldMessage.objects.create(to="x@example.org", subject=f"{NAME} invites you to x", body=NAME)
    Report.objects.update(email=EMAIL)
    Channel.objects.create(
        workspace=workspace, kind=ChannelKind.MAIL, name="mail", address=EMAIL, topics=[]
    )
    AlertChange.objects.update(by_name=NAME)
    # An act of each kind, by the pages.
    answer = client.post(f"/w/{workspace.slug}/feed-tokens", {"name": "reader"})
    assert answer.status_code == 200
    for relation in RELATIONS:
        if relation.column not in NOT_GIVEN:
            relation.model._base_manager.update(**{relation.field: person})
    Token.objects.filter(user=person).update(name="token")


# One row of each person, made above.
NOT_GIVEN = {
    "accounts.Membership.user",
    "accounts.User_groups.user",
    "accounts.User_user_permissions.user",
    "account.EmailAddress.user",
    "mfa.Authenticator.user",
}


def _tables_with(text):
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        found = set()
        for table in tables:
            query = f'SELECT 1 FROM "{table}" t WHERE t::text LIKE %s OR t::text LIKE %s LIMIT 1'
            cursor.execute(query, [f"%{text}%", f"%{text.encode().hex()}%"])
            found |= {table} if cursor.fetchone() else set()
    return found
