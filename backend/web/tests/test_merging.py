"""Merging two names by page and by the API."""

import pytest
from django.test import Client

from backend.noise.models import HostNoise
from backend.runs.models import Merge, Server
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
JSON = "application/json"


def page_of(name):
    return f"/w/own-lab/servers/{Server.objects.get(name=name).pk}"


def test_a_member_merges_two_servers_and_undoes_it(owner, scene):
    old, new = page_of("other-server"), page_of("secret-server")
    html = html_of(owner.get(old))
    assert f'action="{old}/merge"' in html
    assert '<option value="secret-server">' in html
    html = html_of(owner.post(f"{old}/merge", {"into": "secret-server"}, follow=True))
    assert "was merged into “secret-server”" in html
    assert "Merged with <bdi>other-server</bdi> by own-lab" in html
    assert owner.get(old)["Location"] == new
    assert html_of(owner.get("/w/own-lab/servers")).count(f'href="{new}"') >= 1
    undo = f"/w/own-lab/merges/{Merge.objects.get().pk}/undo"
    assert f'action="{undo}"' in html
    html = html_of(owner.post(undo, follow=True))
    assert "“other-server” is a server of its own again." in html
    assert owner.get(old).status_code == 200


@pytest.mark.parametrize("into", ["nothing", "noth\0ing"])
def test_a_refused_merge_says_what_to_do(owner, scene, into):
    response = owner.post(f"{page_of('other-server')}/merge", {"into": into})
    assert response.status_code == 400
    assert "There is no server named “nothing”. Choose one from the list." in html_of(response)


def test_a_viewer_cannot_merge(scene):
    viewer = Client()
    viewer.force_login(scene.viewer)
    assert "Merge" not in html_of(viewer.get(page_of("other-server")))


def test_a_program_merges_and_undoes(scene):
    client = Client(headers=scene.own.headers)
    body = {"kind": "server", "source": "other-server", "target": "secret-server"}
    answer = client.post("/api/v1/merges", body, JSON)
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert {name: made[name] for name in body} == body
    assert made["author"] == "own-lab"
    (row,) = client.get("/api/v1/servers").json()["servers"]
    assert row["name"] == "secret-server"
    assert client.delete(f"/api/v1/merges/{made['id']}").status_code == 204
    assert client.delete(f"/api/v1/merges/{made['id']}").status_code == 404
    assert len(client.get("/api/v1/servers").json()["servers"]) == 2
    (listed,) = client.get("/api/v1/merges").json()["merges"]
    assert listed["undone_by"] == "own-lab"
    assert client.post("/api/v1/merges", {**body, "source": "x"}, JSON).status_code == 400


def test_the_noise_of_the_host_follows(owner, scene):
    assert not HostNoise.objects.exists()
    owner.post(f"{page_of('other-server')}/merge", {"into": "secret-server"})
    assert HostNoise.objects.exists()
