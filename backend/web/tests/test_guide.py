"""The documentation as pages."""

import re
from pathlib import Path

import pytest

from backend.runs.checks import CHECKS

DOCS = Path(__file__).parents[3] / "docs"
pytestmark = pytest.mark.django_db
NAMES = sorted(str(path.relative_to(DOCS).with_suffix("")) for path in DOCS.glob("**/*.md"))


@pytest.mark.parametrize("name", NAMES)
def test_every_document_is_a_page_whose_links_lead_somewhere(client, name):
    answer = client.get(f"/docs/{name}")
    assert answer.status_code == 200
    text = answer.content.decode()
    for path, place in re.findall(r'href="(/docs/[^"#]+)?(?:#([^"]+))?"', text):
        target = client.get(path) if path else answer
        assert target.status_code == 200, path
        assert not place or f'id="{place}"' in target.content.decode(), (path, place)
    assert not re.findall(r'href="[^"]*\.md[#"]', text)
    # A link that leads nowhere looks like one all the same.
    assert "<a rel=" not in text


def test_every_check_has_its_section(client):
    text = client.get("/docs/checks").content.decode()
    assert all(f'id="{id_}"' in text for id_ in CHECKS)


@pytest.mark.parametrize("name", ["nothing", "../README", "decisions/../../README", "x" * 200])
def test_what_is_no_document_is_not_found(client, name):
    assert client.get(f"/docs/{name}").status_code == 404


def test_a_long_document_lists_its_sections(client):
    text = client.get("/docs/glossary").content.decode()
    listed = text.partition("On this page</p>")[2].partition("</nav>")[0]
    assert '<a href="#what-is-measured">What is measured</a>' in listed
    assert "On this page" not in client.get("/docs/getting-started").content.decode()
