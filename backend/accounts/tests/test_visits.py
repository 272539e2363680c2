"""How long sessions last, and that their rows go."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from backend.accounts.sign_in.browsers import VISIT_S
from backend.accounts.tasks import delete_ended_sessions
from backend.accounts.workspace.workspace_links import make_link
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db
PASSWORD = "a long right password"


def lasts_s(client):
    row = Session.objects.get(session_key=client.session.session_key)
    return (row.expire_date - timezone.now()).total_seconds()


def test_a_visit_ends_after_a_day_and_a_sign_in_lasts():
    tenant, client = make_tenant(), Client()
    tenant.user.set_password(PASSWORD)
    tenant.user.save()
    client.get(f"/shared/{make_link(tenant.user, tenant.workspace)}")
    assert lasts_s(client) == pytest.approx(VISIT_S, abs=60)
    form = {"login": tenant.user.username, "password": PASSWORD}
    assert client.post("/accounts/login/", form).status_code == 302
    assert lasts_s(client) == pytest.approx(settings.SESSION_COOKIE_AGE, abs=60)


def test_sessions_that_ended_are_deleted_with_the_address_of_their_browser():
    person = make_tenant().user
    kept, ended, begins = ("kept", "ended", "begins")
    for key, left in ((kept, timedelta(days=1)), (ended, -timedelta(seconds=1))):
        Session.objects.create(session_key=key, expire_date=timezone.now() + left)
    for key in (kept, ended, begins):
        UserSession.objects.create(user=person, session_key=key, ip="192.0.2.1", user_agent="x")
    old = UserSession.objects.exclude(session_key=begins)
    old.update(created_at=timezone.now() - timedelta(days=20))
    delete_ended_sessions()
    assert set(Session.objects.values_list("session_key", flat=True)) == {kept}
    assert set(UserSession.objects.values_list("session_key", flat=True)) == {kept, begins}


@pytest.mark.parametrize(
    "form",
    [
        *("totp/activate", "recovery-codes/generate", "webauthn/add"),
        *("webauthn/keys/1/remove", "webauthn/keys/1/edit"),
    ],
)
def test_a_form_of_a_stranger_that_asks_for_the_password_leaves_no_row(form):
    answer = Client().post(f"/accounts/2fa/{form}/", {"code": "x" * 60_000})
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=")
    assert not Session.objects.exists()
