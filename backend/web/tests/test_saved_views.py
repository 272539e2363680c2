"""Saved views on the pages: the menu of the comparison, the list, and what Compare opens."""

import re

import pytest
from django.test import Client

from backend.accounts.models import Role
from backend.alerts.models import AlertRule, RuleKind
from backend.sharing.models import SavedView
from backend.testing.scenes import make_measured_run, make_saved_view
from backend.web.tests.pages import html_of

COMPARE, VIEWS = "/w/own-lab/compare", "/w/own-lab/views"


@pytest.fixture
def member(scene):
    scene.own.user.memberships.update(role=Role.MEMBER)
    client = Client()
    client.force_login(scene.own.user)
    return client


def test_saving_leads_back_to_the_comparison_and_says_so(member):
    form = {"name": "<b>p99</b>", "query": "metric=p99", "is_default": "1"}
    answer = member.post(f"{VIEWS}/new", form, follow=True)
    assert answer.redirect_chain == [(f"{COMPARE}?metric=p99", 302)]
    html = html_of(answer)
    assert "Saved as “&lt;b&gt;p99&lt;/b&gt;”." in html
    assert "<b>p99" not in html
    assert SavedView.objects.get().is_default


def test_compare_opens_the_default_view_else_the_largest_group(member, scene):
    make_measured_run(scene.own.workspace)
    first = f"{COMPARE}/first"
    largest = member.get(first).url
    view = make_saved_view(scene.own.workspace, query="metric=p99")
    assert member.get(first).url == largest
    SavedView.objects.update(is_default=True)
    assert member.get(first).url == view.path == f"{COMPARE}?metric=p99"
    # Nothing has that name any more.
    SavedView.objects.update(query="server=gone")
    assert member.get(first).url == largest


def test_the_list_renames_sets_the_default_and_deletes(member, scene):
    view = make_saved_view(scene.own.workspace)
    edit, delete = f"{VIEWS}/{view.pk}/edit", f"{VIEWS}/{view.pk}/delete"
    html = html_of(member.post(edit, {"name": "nightly"}, follow=True))
    assert ">nightly</bdi>" in html
    member.post(edit, {"is_default": "1"})
    assert SavedView.objects.get().is_default
    assert "Remove as default" in html_of(member.get(VIEWS))
    member.post(edit, {"is_default": "0"})
    assert not SavedView.objects.get().is_default
    assert "No saved views yet" in html_of(member.post(delete, follow=True))


def test_a_view_is_deleted_after_a_question_and_the_deletion_can_be_undone(member, scene):
    view = make_saved_view(scene.own.workspace, query="metric=p99", is_default=True)
    assert "Alert rules of the view stop watching." in html_of(member.get(VIEWS))
    html = html_of(member.post(f"{VIEWS}/{view.pk}/delete", follow=True))
    assert "Deleted the view “<bdi>secret-view</bdi>”." in html
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', html))
    assert not SavedView.objects.exists()
    member.post(f"{VIEWS}/new", form)
    restored = SavedView.objects.get()
    assert (restored.name, restored.query, restored.is_default) == (
        "secret-view",
        "metric=p99",
        True,
    )
    # Only once: after that somebody may have saved another view of that name.
    assert "Undo" not in html_of(member.get(VIEWS))


@pytest.mark.parametrize("has_rule", [True, False])
def test_the_offer_to_undo_says_what_it_does_not_bring_back(member, scene, has_rule):
    view = make_saved_view(scene.own.workspace)
    if has_rule:
        kind = RuleKind.REGRESSION
        AlertRule.objects.create(
            workspace=scene.own.workspace, name="slower", kind=kind, view=view, threshold=5.0
        )
    html = html_of(member.post(f"{VIEWS}/{view.pk}/delete", follow=True))
    assert ("Undo does not start its alert rules again." in html) == has_rule


def test_a_viewer_opens_views_and_is_offered_no_form(scene):
    view = make_saved_view(scene.own.workspace, query="metric=p99")
    client = Client()
    client.force_login(scene.viewer)
    assert f'href="{view.path}"' in html_of(client.get(COMPARE))
    assert "Save view" not in html_of(client.get(COMPARE))
    assert "/edit" not in html_of(client.get(VIEWS))


def test_a_name_that_is_taken_is_refused(member, scene):
    make_saved_view(scene.own.workspace)
    answer = member.post(f"{VIEWS}/new", {"name": "secret-view", "query": ""})
    assert answer.status_code == 409
    assert "Choose another name" in html_of(answer)
