"""The page of a session: whatever it is called, for its members alone."""

from urllib.parse import quote

import pytest
from django.test import Client

from backend.runs.models import Run
from backend.testing.uploads import make_tenant

NAMES = ["night", "a/b", "<script>alert(1)</script>", "\"'&\u202e 😀", "x" * 100, "..", "?a=1#b"]


@pytest.mark.parametrize("name", NAMES)
def test_a_session_is_found_by_its_name_and_stays_text(scene, name):
    Run.objects.filter(pk=scene.run.pk).update(session={"name": name, "parts": 2})
    client = Client()
    client.force_login(scene.own.user)
    run_page = client.get(f"/r/{scene.run.pk}").content.decode()
    address = f"/w/own-lab/sessions/{quote(name, safe='')}"
    assert f'href="{address}"' in run_page
    page = client.get(address)
    assert page.status_code == 200
    assert "1 of 2" in page.content.decode()
    assert "<script>alert" not in page.content.decode()
    client.force_login(make_tenant("others").user)
    assert client.get(address).status_code == 404
    assert Client().get(address).status_code == 404


@pytest.mark.parametrize("address", ["%00", "night%00", "a/%00/b"])
def test_no_session_has_a_name_with_nul(scene, address):
    client = Client()
    client.force_login(scene.own.user)
    assert client.get(f"/w/own-lab/sessions/{address}").status_code == 404
