"""The files for builds at GitHub and GitLab, as a service offers them."""

from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["github/action.yml", "gitlab/loadsheet.yml"])
def test_a_build_gets_the_file_of_the_repository_without_signing_in(name):
    answer = Client().get(f"/integrations/{name}")
    assert answer.status_code == 200
    assert answer.content == (ROOT / "integrations" / name).read_bytes()


@pytest.mark.parametrize("name", ["gitlab", "gitlab/../../manage.py", "..%2Fmanage.py", ""])
def test_no_other_file_is_offered(client, db, name):
    assert client.get(f"/integrations/{name}").status_code == 404


def test_the_guide_leads_to_them(client, db):
    text = client.get("/docs/api").content.decode()
    for name in ("github/action.yml", "gitlab/loadsheet.yml"):
        assert f'href="/integrations/{name}"' in text
