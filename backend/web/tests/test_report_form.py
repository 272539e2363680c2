"""The form that reports what is public: what it takes, and what it says."""

import re

import pytest
from django.test import Client

from backend.accounts.takedown_models import Report
from backend.web.tests.takedown_steps import make_things, opened, reported

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _many_reports(settings):
    settings.REPORTS_PER_HOUR = 1_000_000


@pytest.fixture
def things(scene):
    return make_things(scene)


def test_a_report_is_limited_by_address_alone(scene, things, settings):
    settings.REPORTS_PER_HOUR = 2
    form = {"page": f"/s/{things['shared']}", "reason": "spam"}
    client = Client()

    statuses = [client.post("/report", form).status_code for _ in range(3)]

    assert statuses == [302, 302, 429]
    assert Client(REMOTE_ADDR="198.51.100.7").post("/report", form).status_code == 302
    # Reading goes on.
    assert client.get(f"/s/{things['shared']}").status_code == 200


@pytest.mark.parametrize(
    "page",
    ["", "/", "/s/{private}", "/w/own-lab/", "/r/{run}", "https://example.org/", "/w/none/"],
)
def test_what_is_not_public_cannot_be_reported(page, scene, things):
    form = {"page": page.format(**things), "reason": "spam"}

    assert Client().get("/report", form).status_code == 404
    assert Client().post("/report", form).status_code == 404
    assert not Report.objects.exists()


def test_the_thanks_have_an_address_of_their_own(scene, things):
    form = {"page": f"/s/{things['shared']}", "reason": "spam"}

    answer = Client().post("/report", form)

    assert answer["Location"] == f"/report/{Report.objects.get().pk}/sent"
    for _ in range(2):
        text = Client().get(answer["Location"]).text
        assert "The operator of this service will read it." in text
        assert f'href="/s/{things["shared"]}"' in text
    assert Report.objects.count() == 1


def test_a_form_that_must_wait_keeps_what_was_typed(scene, things, settings):
    settings.REPORTS_PER_HOUR = 1
    settings.ABUSE_CONTACT = "mailto:abuse@example.org"
    form = {"page": f"/s/{things['shared']}", "reason": "spam", "text": "My words"}
    client = Client()
    client.post("/report", form)

    answer = client.post("/report", form)

    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    for words in ("Nothing was sent. Try again in", "abuse@example.org", ">My words</textarea>"):
        assert words in answer.text
    assert Report.objects.count() == 1


def test_the_form_says_that_a_page_stands_for_its_workspace(scene, things):
    opened(scene)

    for page in ("/w/own-lab/runs", f"/r/{things['run']}"):
        text = " ".join(Client().get("/report", {"page": page}).text.split())
        assert f"about the whole workspace <bdi>{scene.own.workspace.name}</bdi>" in text
    text = Client().get("/report", {"page": f"/s/{things['shared']}"}).text
    assert "whole workspace" not in text


@pytest.mark.parametrize(
    "form",
    [{"reason": ""}, {"reason": "x"}, {"text": "x" * 2001}, {"email": "nobody"}],
)
def test_a_wrong_field_stores_nothing(form, scene, things):
    sent = {"page": f"/s/{things['shared']}", "reason": "spam", **form}

    answer = Client().post("/report", sent)

    assert answer.status_code == 400
    assert not Report.objects.exists()
    (marked,) = re.findall(r"<[^>]*autofocus[^>]*>", answer.text)
    (name,) = form
    assert f'id="{name}"' in marked
    assert 'aria-invalid="true"' in marked
    assert "refused" in re.search('aria-describedby="([^"]*)"', marked)[1].split()


def test_a_long_text_is_refused_and_not_cut(scene, things):
    text = Client().get("/report", {"page": f"/s/{things['shared']}"}).text

    assert "maxlength" not in text.partition("<textarea")[2].partition("</textarea>")[0]
    assert "At most 2,000 characters." in " ".join(text.split())


def test_nul_in_the_address_of_the_page_is_left_out(scene, things):
    report = reported(f"/s/{things['shared']}?a=\0")

    assert report.page == f"/s/{things['shared']}?a="


def test_the_form_needs_its_csrf_token(scene, things):
    form = {"page": f"/s/{things['shared']}", "reason": "spam"}

    assert Client(enforce_csrf_checks=True).post("/report", form).status_code == 403


@pytest.mark.parametrize(
    "page",
    ["/s/{shared}", "/shared/runs/{shared_link}", "/w/own-lab/", "/w/own-lab/compare", "/r/{run}"],
)
def test_public_pages_lead_to_the_form(page, scene, things):
    opened(scene)
    text = Client().get(page.format(**things)).content.decode()

    assert f'href="/report?page={page.format(**things).replace("/", "%2F")}"' in text
    assert Client().get("/report", {"page": page.format(**things)}).status_code == 200


def test_private_pages_do_not(scene, things):
    member = Client()
    member.force_login(scene.own.user)

    assert "/report?" not in member.get("/w/own-lab/").content.decode()
