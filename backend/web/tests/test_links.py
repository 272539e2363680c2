"""Paths stand in the urls.py files alone; everything else names a route."""

import ast
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import NoReverseMatch, get_resolver

from backend.links import compare_link, link_to, own_path, route_at, session_link

ROOT = Path(settings.BASE_DIR)
TEMPLATES = sorted((ROOT / "frontend/templates").rglob("*.html"))
# Formats read foreign text, config starts the service from outside, testing is a client of it.
NOT_PAGES = {"formats", "stats", "config", "testing", "tests"}
MODULES = [
    path
    for path in sorted((ROOT / "backend").rglob("*.py"))
    if NOT_PAGES.isdisjoint(path.relative_to(ROOT).parts) and path.name != "urls.py"
]
FIRST_NAMES = {
    str(pattern.pattern).removeprefix("^").split("/")[0]
    for top in get_resolver().url_patterns
    for pattern in ([top] if str(top.pattern) else top.url_patterns)
}
_NAMES = "|".join(sorted(map(re.escape, FIRST_NAMES - {""})))
# "/s" alone is a unit.
PATH = re.compile(rf"/(?:{_NAMES})[/?]|/(?:{_NAMES})(?<=...)$")
AGENT = ROOT / "agents/src/loadsheet_agent"
# Its paths are those of the servers that are measured.
# Patterns of robots.txt, which are no routes.
OF_ROBOTS = ROOT / "backend/web/documents/site_files.py"
OF_MEASURED_SERVERS = AGENT / "run/checkout.py"
PATH_IN_SCRIPT = re.compile(rf"^(?! *//).*[\"'`]/(?:{_NAMES})/", re.MULTILINE)


def path_literals(source):
    """Texts of a module that begin with a path of the site, docstrings aside."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in docstrings and PATH.match(text):
            yield f"line {node.lineno}: {text}"


def template_literals(source):
    """Attributes of a template that hold a path, or append one to an address."""
    for number, line in enumerate(source.splitlines(), 1):
        if re.search(r'="/|\}\}/[a-z]', line):
            yield f"line {number}: {line.strip()}"


@pytest.mark.long
def test_no_module_writes_a_path_of_the_site():
    literals = {
        str(path.relative_to(ROOT)): list(path_literals(path.read_text()))
        for path in MODULES
        if path != OF_ROBOTS
    }
    assert {name: lines for name, lines in literals.items() if lines} == {}


def test_no_template_writes_a_path_of_the_site():
    literals = {path.name: list(template_literals(path.read_text())) for path in TEMPLATES}
    assert {name: lines for name, lines in literals.items() if lines} == {}


def files_with_paths():
    """Where routes have no name: the settings and the start, the agent, the scripts of pages."""
    for path in [*(ROOT / "backend/config").rglob("*.py"), *AGENT.rglob("*.py")]:
        is_source = path.name != "urls.py" and "tests" not in path.parts
        if is_source and path != OF_MEASURED_SERVERS and any(path_literals(path.read_text())):
            yield path.relative_to(AGENT if path.is_relative_to(AGENT) else ROOT)
    for path in (ROOT / "frontend/src").rglob("*.ts"):
        is_source = ".test." not in path.name and "testing" not in path.parts
        if is_source and PATH_IN_SCRIPT.search(path.read_text()):
            yield path.relative_to(ROOT)


def test_the_architecture_names_every_file_with_a_path():
    lines = (ROOT / "docs/architecture.md").read_text().splitlines()
    (row,) = (line for line in lines if line.startswith("| a different URL scheme |"))
    files = sorted(map(str, files_with_paths()))
    assert {"backend/config/site/demo.py", "frontend/src/api/progress.ts"} <= set(files)
    assert [name for name in files if f"`{name}`" not in row] == []


def test_a_new_path_literal_would_be_seen():
    assert list(path_literals('url = f"/w/{slug}/compare"'))
    assert list(path_literals('url = "/api/v1/runs"'))
    assert list(path_literals('url = "/oembed"'))
    assert not list(path_literals('"""Answers at /w/<slug>/."""\nunit = "req/s"'))
    assert list(template_literals('<a href="/w/{{ slug }}">'))
    assert list(template_literals("curl {{ base }}/api/v1/runs"))
    assert not list(template_literals("<a href=\"{% url 'home' %}\">"))


class TestLinks:
    def test_a_query_is_spelt_as_the_browser_spells_it(self):
        link = link_to("compare-page", "lab", query=[("server", "a b~*é")], fragment="checks")
        assert link == "/w/lab/compare?server=a+b%7E*%C3%A9#checks"

    def test_an_unknown_route_is_an_error(self):
        with pytest.raises(NoReverseMatch):
            link_to("no-such-page")

    def test_equal_comparisons_have_equal_links(self):
        link = compare_link("lab", server=["b", "a"], host=None, at_=8)
        assert link == "/w/lab/compare?at=8&server=a&server=b"

    def test_a_session_is_quoted_whole(self):
        assert session_link("lab", "a/b?") == "/w/lab/sessions/a%2Fb%3F"

    def test_only_paths_of_this_site_are_followed(self):
        assert own_path("/w/lab/", "/") == "/w/lab/"
        assert own_path("//elsewhere.example/", "/") == "/"
        assert own_path("https://elsewhere.example/", "/") == "/"

    def test_the_route_of_an_address(self, settings):
        settings.PUBLIC_URL = "https://loads.example/lab"
        assert route_at("https://loads.example/lab/docs/").url_name == "guide"
        assert route_at("https://loads.example/lab/none") is None
        assert route_at("https://elsewhere.example/docs/") is None
