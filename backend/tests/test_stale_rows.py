"""Who changes one thing stores nothing else that they read before: others changed it since."""

import pytest
from django.core.management import call_command
from django.test import Client

from backend.accounts.credentials.token_format import new_token
from backend.accounts.models import User, Workspace
from backend.accounts.workspace import workspaces
from backend.alerts.models import AlertRule, RuleKind
from backend.alerts.rules import change_rule, delete_rule
from backend.errors import NotFound
from backend.sharing.edits import edit
from backend.sharing.models import ResultSet, SavedView, Visibility
from backend.sharing.saved_views import change_view, delete_view
from backend.sharing.secret_check import SecretShared
from backend.testing.rows import make_workspace
from backend.testing.scenes import make_result_set, make_saved_view

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


def test_renaming_keeps_the_settings_of_others(lab):
    workspaces.change_settings(lab, {"is_public": True})
    stale = Workspace.objects.get(pk=lab.pk)
    workspaces.change_settings(lab, {"is_public": False, "min_trials": 7})
    workspaces.rename(stale, name="Bench", slug="bench")
    stored = Workspace.objects.get(pk=lab.pk)
    assert (stored.name, stored.slug) == (stale.name, stale.slug) == ("Bench", "bench")
    assert (stored.is_public, stored.min_trials) == (False, 7)


def test_changing_a_view_keeps_what_others_changed(lab):
    view = make_saved_view(lab)
    change_view(SavedView.objects.get(pk=view.pk), query="server=caddy")
    change_view(view, name="Mine")
    stored = SavedView.objects.get(pk=view.pk)
    assert (stored.name, stored.query) == ("Mine", "server=caddy")


def test_what_others_wrote_is_judged_before_it_is_published(lab):
    result_set = make_result_set(lab, Visibility.PRIVATE)
    edit(ResultSet.objects.get(pk=result_set.pk), notes=f"run with {new_token('api')}")
    with pytest.raises(SecretShared):
        edit(result_set, visibility=Visibility.PUBLIC)
    assert ResultSet.objects.get(pk=result_set.pk).visibility == Visibility.PRIVATE


def test_changing_a_rule_keeps_what_others_changed(lab):
    rule = AlertRule.objects.create(
        workspace=lab, name="Noise", kind=RuleKind.NOISY_HOST, threshold=0.05
    )
    change_rule(AlertRule.objects.get(pk=rule.pk), threshold=0.5)
    change_rule(rule, is_enabled=False)
    stored = AlertRule.objects.get(pk=rule.pk)
    assert (stored.threshold, stored.is_enabled) == (0.5, False)


def test_changing_what_others_deleted_does_not_bring_it_back(lab):
    view = make_saved_view(lab)
    rule = AlertRule.objects.create(
        workspace=lab, name="Noise", kind=RuleKind.NOISY_HOST, threshold=0.05
    )
    delete_view(SavedView.objects.get(pk=view.pk))
    delete_rule(AlertRule.objects.get(pk=rule.pk))
    with pytest.raises(NotFound):
        change_view(view, name="Mine")
    with pytest.raises(NotFound):
        change_rule(rule, is_enabled=False)
    assert not SavedView.objects.exists()
    assert not AlertRule.objects.exists()


def test_closing_an_account_keeps_a_password_that_was_changed_meanwhile(monkeypatch):
    staff = User.objects.create_user("boss", is_staff=True)
    person = User.objects.create_user("eve", password="the first password")
    original = User.full_clean

    def full_clean(account, *arguments, **options):
        changed = User.objects.get(pk=person.pk)
        changed.set_password("the second password")
        changed.save()
        original(account, *arguments, **options)

    monkeypatch.setattr(User, "full_clean", full_clean)
    client = Client()
    client.force_login(staff)
    client.post(f"/staff/accounts/user/{person.pk}/change/", {})
    person.refresh_from_db()
    assert not person.is_active
    assert person.check_password("the second password")


def test_a_new_password_by_the_command_keeps_an_account_closed(monkeypatch):
    person = User.objects.create_user("eve", password="the first password")

    def typed(_user):
        User.objects.filter(pk=person.pk).update(is_active=False)
        return "the second password"

    monkeypatch.setattr("backend.accounts.management.commands.make_user._password", typed)
    call_command("make_user", "eve", "--new-password")
    person.refresh_from_db()
    assert not person.is_active
    assert person.check_password("the second password")
