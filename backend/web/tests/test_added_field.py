"""A field is one entry of one table, and so is a text that tells servers apart.

Everything that offers fields, or receives and stores what a server is, has a new one, too.
"""

import json
import os
import re
import subprocess
import sys

import pytest
from django.conf import settings as configured
from django.db import connection

from backend.runs.models import Server
from backend.runs.registry.registry import register_servers
from backend.testing.rows import CellSpec, make_run
from backend.testing.uploads import make_envelope, make_tenant

COMPARE, FACETS = "/api/v1/compare?workspace=lab", "/api/v1/facets?workspace=lab"
SCHEMA, PAGE = "/api/v1/openapi.json", "/w/lab/compare"
AXIS = "x=workers&series=server&connections=64"
ASKED = ("workers=4", AXIS, "series=workers", "facet=workers", "workers=9", "colour=red")
PATHS = [*(f"{COMPARE}&{question}" for question in ASKED), FACETS, SCHEMA, PAGE]
FILTER = "Only servers with these numbers of workers"


def ask_site_with_field(user, paths, envelopes=()):
    """The answers of a site with the field `workers` and the text `compiler`, by path.

    Each envelope is uploaded to it first.
    """
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"
    asked = subprocess.run(
        [sys.executable, "-m", "backend.testing.added_field", str(user.pk)],
        input=json.dumps({"envelopes": list(envelopes), "paths": paths}),
        cwd=configured.BASE_DIR,
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    return Answers(json.loads(asked.stdout))


class Answers:
    def __init__(self, by_path):
        self.by_path = by_path

    def text(self, path, status=200):
        got, text = self.by_path[path]
        assert got == status, text
        return text

    def figures(self, question, status=200):
        return json.loads(self.text(f"{COMPARE}&{question}", status))


@pytest.mark.django_db(transaction=True)
def test_a_field_of_the_table_is_offered_everywhere():
    tenant = make_tenant("lab")
    cells = [
        CellSpec("sync", connections=load, configuration={"workers": workers}, rates=(rate,) * 3)
        for workers, rate in ((2, 100.0), (4, 180.0))
        for load in (8, 64)
    ]
    make_run(tenant.workspace, *cells)
    answers = ask_site_with_field(tenant.user, PATHS)
    check_filter(answers)
    check_axis(answers)
    check_series(answers)
    check_counts(answers)
    check_schema(answers)
    check_page(answers)


def check_filter(answers):
    (series,) = answers.figures("workers=4")["series"]
    assert series["configuration"] == "workers=4"
    assert answers.figures("workers=4")["query"] == "workers=4&workspace=lab"
    assert answers.figures("workers=9", 400)["allowed"] == "2, 4"
    assert " workers," in answers.figures("colour=red", 400)["allowed"]


def check_axis(answers):
    figures = answers.figures(AXIS)
    assert figures["x"]["field"] == "workers"
    assert figures["x"]["label"] == "Worker processes"
    assert figures["x"]["values"] == [2, 4]
    (series,) = figures["series"]
    values = [point["metrics"]["throughput"]["value"] for point in series["points"]]
    assert values == pytest.approx([100.0, 180.0])


def check_series(answers):
    figures = answers.figures("series=workers")
    assert {series["label"] for series in figures["series"]} == {"sync 2", "sync 4"}
    assert (
        figures["finding"]
        == "sync 4 serves 1.800× [1.798, 1.802] the requests of sync 2 at 64 connections, "
        "in this run"
    )
    # The setting behind the field differs as well: a comparison of both is about both.
    assert figures["outcome"]["confounded"] == ["configuration", "number of workers"]
    panels = answers.figures("facet=workers")["panels"]
    assert [panel["value"] for panel in panels] == ["2", "4"]


def check_counts(answers):
    counted = {field["id"]: field for field in json.loads(answers.text(FACETS))["fields"]}
    assert counted["workers"]["label"] == "Worker processes"
    counts = {value["value"]: value["count"] for value in counted["workers"]["values"]}
    assert counts == {"2": 6, "4": 6}


def check_schema(answers):
    paths = json.loads(answers.text(SCHEMA))["paths"]
    for path in ("/api/v1/compare", "/api/v1/compare.csv", "/api/v1/facets"):
        parameters = {item["name"]: item for item in paths[path]["get"]["parameters"]}
        assert parameters["workers"]["description"] == FILTER
        assert "workers" in parameters["x"]["schema"]["enum"]
        assert "workers" in parameters["facet"]["schema"]["enum"]
    assert "workers" in parameters["field"]["schema"]["items"]["enum"]


def check_page(answers):
    """The browser keeps no list of fields: what the page delivers is what it offers."""
    table = re.search(r'<script id="query-fields"[^>]*>(.*?)</script>', answers.text(PAGE))
    delivered = json.loads(table.group(1))
    for use in ("filters", "axes", "grouping"):
        assert ["workers", "worker processes"] in delivered[use], use


SERVERS, TRIALS = "/api/v1/servers?workspace=lab", "/api/v1/trials.csv?workspace=lab"


@pytest.mark.django_db(transaction=True)
def test_a_text_of_servers_is_received_stored_and_compared():
    tenant = make_tenant("lab")
    envelopes = [make_envelope(1), make_envelope(1)]
    for envelope, compiler in zip(envelopes, ("gcc 14", "clang 19"), strict=True):
        envelope["trials"][0]["server"]["compiler"] = compiler
    unchanged = make_envelope(1)
    questions = ("compiler=gcc 14", "series=compiler", "compiler=icc")
    paths = [*(f"{COMPARE}&{question}" for question in questions), FACETS, SCHEMA, PAGE, SERVERS]
    answers = ask_site_with_field(tenant.user, [*paths, TRIALS], [*envelopes, unchanged])

    (series,) = answers.figures("compiler=gcc 14")["series"]
    assert series["label"] == "hello 1.0"
    labels = {series["label"] for series in answers.figures("series=compiler")["series"]}
    assert labels == {"hello", "hello gcc 14", "hello clang 19"}
    assert answers.figures("compiler=icc", 400)["allowed"] == "clang 19, gcc 14"
    counted = {field["id"]: field for field in json.loads(answers.text(FACETS))["fields"]}
    assert {value["value"] for value in counted["compiler"]["values"]} >= {"gcc 14", "clang 19"}
    parameters = json.loads(answers.text(SCHEMA))["paths"]["/api/v1/compare"]["get"]["parameters"]
    described = {each["name"]: each.get("description") for each in parameters}
    assert described["compiler"] == "Only these compilers"
    assert '["compiler", "compiler"]' in answers.text(PAGE)
    (server,) = json.loads(answers.text(SERVERS))["servers"]
    assert {variant["compiler"] for variant in server["variants"]} == {"gcc 14", "clang 19", None}
    assert "compiler" in answers.text(TRIALS).partition("\n")[0].split(",")
    # A server without the text is the server that it was before the text came.
    register_servers(tenant.workspace, [unchanged["trials"][0]["server"]])
    assert Server.objects.count() == 3
