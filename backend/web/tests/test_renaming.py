"""Renaming on the pages of servers, hosts and workloads, and where former names lead."""

import pytest
from django.test import Client

from backend.accounts.models import Role
from backend.runs.models import FormerName, Host, Server, Workload
from backend.testing.rows import CellSpec, make_run
from backend.web.tests.pages import html_of

KINDS = [
    (Server, "servers", "secret-server"),
    (Host, "hosts", "bench-1"),
    (Workload, "workloads", "hello"),
]


@pytest.fixture
def member(scene):
    scene.own.user.memberships.update(role=Role.MEMBER)
    client = Client()
    client.force_login(scene.own.user)
    return client


def page_of(model, path, name):
    return f"/w/own-lab/{path}/{model.objects.get(name=name).pk}"


@pytest.mark.parametrize(("model", "path", "name"), KINDS)
def test_a_member_renames_and_the_page_says_so(member, model, path, name):
    page = page_of(model, path, name)
    html = member.get(page).content.decode()
    assert f'action="{page}/rename"' in html
    assert "Former names" not in html
    answer = member.post(f"{page}/rename", {"name": "<b>new</b>"}, follow=True)
    assert answer.redirect_chain == [(page, 302)]
    html = html_of(answer)
    assert "&lt;b&gt;new&lt;/b&gt;" in html
    assert "<b>new" not in html
    assert "Former names: <bdi title=" in html
    assert f">{name}</bdi>" in html


def test_a_viewer_is_offered_no_form(scene):
    client = Client()
    client.force_login(scene.viewer)
    page = page_of(Server, "servers", "secret-server")
    assert "/rename" not in client.get(page).content.decode()


def test_what_is_refused_is_said(member):
    page = page_of(Server, "servers", "secret-server")
    answer = member.post(f"{page}/rename", {"name": "other-server"})
    assert answer.status_code == 400
    assert "Another server has the name “other-server”" in answer.content.decode()
    opened = member.get(f"{page}/rename")
    assert (opened.status_code, opened["Allow"]) == (405, "POST")
    assert "This address has no page" in opened.content.decode()
    posted = member.post("/docs/")
    assert (posted.status_code, posted["Allow"], posted.content) == (405, "GET, HEAD", b"")
    # The page is made without the request, so it does not know that the reader is signed in.
    assert "Sign in" not in opened.content.decode()
    assert "Back to the form" not in answer.content.decode()


def test_a_refusal_leads_back_to_the_form(member, settings):
    page = page_of(Server, "servers", "secret-server")
    name = {"name": "other-server"}
    sent = {"headers": {"referer": f"{settings.PUBLIC_URL}{page}"}}
    html = html_of(member.post(f"{page}/rename", name, **sent))
    assert f'<a class="button button-main" href="{page}">Back to the form</a>' in html
    for elsewhere in ("https://elsewhere.example/x", f"{settings.PUBLIC_URL}//elsewhere.example"):
        answer = member.post(f"{page}/rename", name, headers={"referer": elsewhere})
        assert "Back to the form" not in answer.content.decode()


def test_the_form_needs_its_token(scene):
    client = Client(enforce_csrf_checks=True)
    client.force_login(scene.own.user)
    page = page_of(Server, "servers", "secret-server")
    assert client.post(f"{page}/rename", {"name": "new"}).status_code == 403
    assert not FormerName.objects.exists()


def test_a_host_without_a_name_gets_none(member, scene):
    make_run(scene.own.workspace, CellSpec(), host={"cpu_model": "EPYC"})
    host = Host.objects.get(name=None)
    page = f"/w/own-lab/hosts/{host.pk}"
    assert "/rename" not in member.get(page).content.decode()
    assert member.post(f"{page}/rename", {"name": "new"}).status_code == 404


@pytest.fixture
def renamed(member):
    for model, path, name in KINDS:
        member.post(f"{page_of(model, path, name)}/rename", {"name": f"new {name}"})


@pytest.mark.parametrize(
    ("asked", "leads_to"),
    [
        ("compare?server=secret-server", "compare?server=new+secret-server"),
        (
            "compare?x=version&workload=hello&host=bench-1&metric=throughput&workspace=own-lab",
            "compare?host=new+bench-1&workload=new+hello&x=version",
        ),
        ("runs?server=secret-server", "runs?server=new+secret-server"),
        (
            "runs?workload=hello&host=bench-1&q=1",
            "runs?host=new+bench-1&q=1&workload=new+hello",
        ),
    ],
)
@pytest.mark.usefixtures("renamed")
def test_links_with_former_names_lead_on(member, asked, leads_to):
    answer = member.get(f"/w/own-lab/{asked}")
    assert (answer.status_code, answer["Location"]) == (302, f"/w/own-lab/{leads_to}")
    assert member.get(answer["Location"]).status_code == 200


@pytest.mark.usefixtures("renamed")
def test_the_api_answers_under_the_current_names(member, scene):
    figures = member.get("/api/v1/compare?server=secret-server").json()
    assert figures["query"] == "server=new+secret-server"
    assert {one["server"] for one in figures["series"]} == {"new secret-server"}
    runs = member.get("/api/v1/runs?server=secret-server&host=bench-1").json()["runs"]
    assert [one["id"] for one in runs] == [str(scene.run.pk)]
    assert member.get("/api/v1/runs?server=nobody").json()["runs"] == []
