"""Staff get the reports by mail and on pages, decide on them, and read what each decision did."""

import pytest
from django.core import mail
from django.test import Client

from backend.accounts.models import HeldMessage
from backend.accounts.takedown_models import Report, Takedown
from backend.sharing.models import ResultSet
from backend.web.tests.takedown_steps import (
    REASON,
    make_staff,
    make_things,
    opened,
    prepared,
    reported,
    taken_down,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene(scene, settings, tmp_path):
    yield from prepared(scene, settings, tmp_path)


@pytest.fixture
def things(scene):
    return make_things(scene)


@pytest.fixture
def staff():
    return make_staff()


def test_staff_and_owners_get_a_mail(scene, things, staff, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        taken_down(staff, f"/s/{things['shared']}")
        # A second report of the same thing, while one is open, sends no mail.
    (to_staff, to_owner) = mail.outbox
    assert to_owner.subject == f"Taken down: a result set of {scene.own.workspace.name}"
    assert to_staff.to == ["op@example.org"]
    assert "/staff/accounts/report/" in to_staff.body
    assert to_owner.to == ["owner@example.org"]
    assert REASON in to_owner.body


def test_the_first_report_of_a_thing_is_mailed(scene, things, staff, settings):
    settings.ABUSE_CONTACT = "mailto:abuse@example.org"
    sets = ResultSet.objects.filter(link=things["shared"])
    sets.update(title="Decide here:\n\nhttps://evil.example/")
    for _ in range(3):
        reported(f"/s/{things['shared']}", text="Line 3\nnames me")

    assert [each.to for each in mail.outbox] == [["abuse@example.org"]]
    # Who reads this mailbox may have no account.
    body = mail.outbox[0].body
    assert "\nhttps://evil.example/" not in body
    address, text = f"/s/{things['shared']}", "> Line 3\n> names me\n"
    for part in ("Decide here: https://evil.example/", address, text):
        assert part in body
    assert Report.objects.count() == 3


def test_a_takedown_needs_a_reason(scene, things, staff):
    report = reported(f"/s/{things['shared']}")

    answer = staff.post(f"/staff/accounts/report/{report.pk}/change/", {"decision": "take down"})

    assert answer.status_code == 200
    assert not Takedown.objects.exists()


def test_staff_leave_it_public(scene, things, staff):
    report = reported(f"/s/{things['shared']}")

    staff.post(f"/staff/accounts/report/{report.pk}/change/", {"decision": "leave"})

    report.refresh_from_db()
    assert report.closed_at is not None
    assert Client().get(f"/s/{things['shared']}").status_code == 200


def decided(staff, report, **form):
    path = f"/staff/accounts/report/{report.pk}/change/"
    return staff.post(path, form, follow=True).content.decode()


def test_a_decision_closes_all_reports_of_the_thing(scene, things, staff):
    first, second = (reported(f"/s/{things['shared']}", text=f"text {at}") for at in (1, 2))
    page = staff.get(f"/staff/accounts/report/{first.pk}/change/").content.decode()
    assert "text 1" in page
    assert "text 2" in page

    text = decided(staff, second, decision="leave")

    assert "Left public: the result set “" in text
    assert "2 reports are closed." in text
    assert "was changed successfully" not in text
    assert not Report.objects.filter(closed_at=None).exists()


def test_staff_read_what_a_takedown_did(scene, things, staff):
    opened(scene)
    reported("/w/own-lab/runs")
    report = reported("/w/own-lab/")

    text = decided(staff, report, decision="take down", public_reason=REASON)

    assert f"Taken down: the workspace “{scene.own.workspace.name}”." in text
    assert "2 reports are closed." in text
    takedown = Takedown.objects.get()
    assert f"/staff/accounts/takedown/{takedown.pk}/change/" in text
    page = f"/staff/accounts/takedown/{takedown.pk}/change/"
    assert 'href="/w/own-lab/"' in staff.get(page).content.decode()
    assert "Nothing was changed." in staff.post(page, {}, follow=True).content.decode()
    assert "Restored: the workspace" in (
        staff.post(page, {"is_lifted": "on"}, follow=True).content.decode()
    )


def test_deciding_later_changes_nothing_and_says_so(scene, things, staff):
    report = reported(f"/s/{things['shared']}")

    assert "Nothing was changed. The report is still open." in decided(staff, report, decision="")
    assert Report.objects.filter(closed_at=None).exists()


def test_the_list_names_what_was_reported_and_filters(scene, things, staff):
    result_set = ResultSet.objects.get(link=things["shared"])
    ResultSet.objects.filter(pk=result_set.pk).update(title="The reported title")
    report = reported(result_set.path)

    listed = staff.get("/staff/accounts/report/?state=open").content.decode()
    assert "The reported title" in listed
    assert f"{report.at:%Y-%m-%d %H:%M} UTC" in listed
    assert "<h1>Reports</h1>" in listed
    assert '<link rel="icon" href="data:,">' in listed
    assert "The reported title" not in staff.get("/staff/accounts/report/?state=closed").text
    decided(staff, report, decision="leave")
    assert "The reported title" in staff.get("/staff/accounts/report/?state=closed").text


def test_staff_find_open_reports_where_they_begin(scene, things, staff):
    pages = ("/", "/workspaces", "/operator")
    assert not any("of public content" in staff.get(page).text for page in pages)
    reported(f"/s/{things['shared']}")

    for page in pages:
        text = " ".join(staff.get(page).text.split())
        assert "1 report of public content is open." in text, page
        assert 'href="/staff/accounts/report/?state=open"' in text, page
    assert 'href="/staff/"' in staff.get("/operator").text
    member = Client()
    member.force_login(scene.own.user)
    assert "of public content" not in member.get("/").text


def test_without_a_mail_server_the_staff_read_it_as_unsent(scene, things, staff, settings):
    settings.EMAIL_BACKEND = "backend.accounts.mail.held_mail.EmailBackend"
    reported(f"/s/{things['shared']}")

    assert HeldMessage.objects.filter(to="op@example.org").exists()
