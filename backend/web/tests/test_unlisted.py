"""Unlisted result sets and runs: nothing that others may read names one of their links."""

import re
import uuid

import pytest
from django.test import Client

from backend.alerts.announcing import announce_run
from backend.deliveries import payloads
from backend.deliveries.models import Delivery
from backend.runs.models import Run
from backend.sharing import drawing
from backend.sharing.edits import supersede
from backend.sharing.models import ResultSet, SharedRun, Visibility
from backend.testing.rows import STARTED
from backend.testing.scenes import make_alerts, make_result_set, make_saved_view
from backend.web.tests.access_rows import ROWS
from backend.web.tests.shared_rows import SHARED
from backend.web.tests.test_access import body_of, ids_of

TOKENS = 200
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# What else others may search and list, and their own comparisons that name the workspace.
SEARCHES = [
    *(f"/explore?kind={kind}{q}" for kind in ("result-sets", "runs", "workspaces")
      for q in ("", "&q=secret", "&q=own")),
    *(f"/api/v1/explore?kind={kind}" for kind in ("result-sets", "runs", "workspaces")),
    *("/search?q=secret", "/search?q=own", "/w/own-lab/search?q=secret"),
    *("/w/own-lab/result-sets?page=2", "/w/own-lab/compare?view=trend", "/w/own-lab/runs?q=s"),
    *(f"/api/v1/{name}?workspace=own-lab" for name in ("compare", "compare.csv", "facets",
      "runs", "result-sets", "servers", "hosts", "workloads", "views", "trials.csv")),
    *("/robots.txt", "/sitemap.xml", "/feed.atom", "/.well-known/security.txt"),
]  # fmt: skip


@pytest.fixture
def planted(scene):
    """A public workspace with unlisted links beside public ones; gives the secret links."""
    workspace = scene.own.workspace
    workspace.is_public = True
    workspace.save()
    half = TOKENS // 2
    sets = [make_result_set(workspace, Visibility.UNLISTED) for _ in range(half)]
    moments = {"started_at": STARTED, "finished_at": STARTED}
    runs = [Run(id=uuid.uuid4(), workspace=workspace, **moments) for _ in range(half - 1)]
    Run.objects.bulk_create(runs)
    shared = SharedRun.objects.bulk_create(
        [SharedRun(run=run, visibility=Visibility.UNLISTED) for run in [scene.run, *runs]]
    )
    public = make_result_set(workspace, Visibility.PUBLIC)
    supersede(sets[0], public)
    older = make_result_set(workspace, Visibility.PUBLIC)
    supersede(older, sets[1])
    return {str(each.link) for each in [*sets, *shared]}, public, older


def readers(scene):
    stranger, token = Client(), Client(headers=scene.foreign.headers)
    stranger.force_login(scene.foreign.user)
    return {"nobody": Client(), "stranger": stranger, "token": token}


def links_in(answer):
    """The links that an answer holds, also in its headers, whatever case or escape it has."""
    text = body_of(answer).decode(errors="replace") + str(dict(answer.items()))
    return set(UUID.findall(text.replace("%2D", "-").lower()))


@pytest.fixture(autouse=True)
def _plain_service(monkeypatch, settings, tmp_path):
    """Without limits that would hide an answer, the agent's files, and real drawing."""
    settings.AGENT_FILES = tmp_path
    settings.REQUESTS_PER_MINUTE = 10**9
    monkeypatch.setattr(drawing, "draw", lambda drawn: drawn)


def test_no_page_feed_search_or_comparison_of_others_names_one(planted, scene):
    links, public, older = planted
    assert len(links) == TOKENS
    ids = ids_of(scene)
    rows = {name: row for name, row in ROWS.items() if row.method == "get"}
    pages = [row.path.format(**ids) for row in rows.values()]
    for result_set in (public, older):
        shared = [row for row in SHARED.values() if row.method == "get"]
        pages += [row.path.format(shared=result_set.link) for row in shared]
    answered = 0
    for reader, client in readers(scene).items():
        # On a page, a token is nobody.
        begin = "/api/" if reader == "token" else "/"
        for page in filter(lambda page: page.startswith(begin), [*pages, *SEARCHES]):
            answer = client.get(page)
            assert links & links_in(answer) == set(), (reader, page)
            answered += answer.status_code == 200
    assert answered > 150


def test_the_planted_links_work_and_members_see_them(planted, scene):
    """Else the test above would say nothing."""
    links, _, _ = planted
    member = Client()
    member.force_login(scene.own.user)
    listed = links_in(member.get("/w/own-lab/result-sets"))
    assert len(links & listed) >= 20
    for model in (ResultSet, SharedRun):
        path = model.objects.filter(visibility=Visibility.UNLISTED).first().path
        assert Client().get(path).status_code == 200


def test_no_message_to_a_channel_names_one(planted, scene):
    links, _, _ = planted
    make_saved_view(scene.own.workspace)
    make_alerts(scene.own, scene.run)
    scene.own.workspace.channels.update(topics=["alerts", "runs"])
    announce_run(scene.run)
    delivery = Delivery.objects.get()
    bodies = [payloads.webhook_body(delivery), payloads.slack_body(delivery)]
    bodies.append(payloads.mail_body(delivery).encode())
    for body in bodies:
        assert str(scene.run.pk).encode() in body
        assert links & set(UUID.findall(body.decode())) == set()
