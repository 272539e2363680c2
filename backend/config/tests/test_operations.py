"""docs/operations.md lists every variable with the default the settings have, and no other."""

import re

import pytest
from django.conf import settings

from backend.config.environment.environment import VARIABLES

TEXT = (settings.BASE_DIR / "docs" / "operations.md").read_text()
ROW = re.compile(r"^\| `([A-Z][A-Z0-9_]+)` \| (.*?) \| (.*?) \|$", re.MULTILINE)
TABLE = {name: default for name, default, _ in ROW.findall(TEXT)}
# Read beside the settings: by the test runner, and by libraries of ours.
OUTSIDE_THE_SETTINGS = {"CHROMIUM", "AWS_DEFAULT_REGION"}
# Given by a script to the tests that it starts.
TO_TESTS = {"SIMULTANEOUS_ROUNDS"}
# The system's own; nobody sets them for Loadsheet.
OF_THE_SYSTEM = {"PATH", "PYTHONPATH", "DJANGO_SETTINGS_MODULE"}
# What a request brings, in the `environ` of WSGI.
OF_A_REQUEST = re.compile(r"HTTP_\w+|REQUEST_METHOD|PATH_INFO|QUERY_STRING|CONTENT_(TYPE|LENGTH)")


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_every_variable_is_listed_with_its_default(name):
    default = VARIABLES[name].default

    assert name in TABLE, f"docs/operations.md lists no {name}"
    expected = {None: "required", "": "empty"}.get(default, f"`{default}`")
    assert TABLE[name] == expected


def test_the_secrets_are_named():
    section = TEXT.split("### Secrets in files")[1].split("\n## ")[0].split("\n### ")[0]
    secrets = {name for name, variable in VARIABLES.items() if variable.is_secret}

    assert set(re.findall(r"`([A-Z_]+)`", section)) - {"NAME_FILE", "POSTGRES_PASSWORD"} == secrets


def test_no_variable_is_listed_that_nothing_reads():
    assert set(TABLE) - set(VARIABLES) == OUTSIDE_THE_SETTINGS


def test_no_variable_is_read_past_the_settings():
    read = set()
    for folder in ("backend", "scripts"):
        for file in (settings.BASE_DIR / folder).rglob("*"):
            ours = {"tests", "testing", "conftest.py"}.isdisjoint(file.parts)
            if ours and file.is_file() and file.suffix in ("", ".py"):
                text = file.read_text(errors="replace")
                read |= set(re.findall(r'environ(?:\.get\(|\[)"([A-Z_0-9]+)"', text))

    ours = {name for name in read - OF_THE_SYSTEM - TO_TESTS if not OF_A_REQUEST.fullmatch(name)}
    assert ours <= set(TABLE)


def test_a_promise_is_stated_once():
    promises = TEXT.split("## Promises, measured")[1].split("\n## ")[0]
    names = re.findall(r"^\| (.*?) \|", promises, re.MULTILINE)

    assert len(names) > 40
    assert [name for name in names if names.count(name) > 1] == []


def test_every_variable_compose_asks_for_is_explained():
    compose = (settings.BASE_DIR / "docker-compose.yml").read_text()

    for name in set(re.findall(r"\$\{(\w+)", compose)):
        assert f"`{name}`" in TEXT, name
