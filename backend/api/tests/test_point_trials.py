"""The trials behind a point of a comparison."""

import re
import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from backend.runs.models import Trial


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def test_a_point_of_the_comparison_leads_to_its_trials(api, scene):
    figures = api.get("/api/v1/compare", {"run": str(scene.run.pk)}).json()
    point = figures["series"][0]["points"][0]
    answer = api.get("/api/v1/trials", {"cell": point["cells"] or [point["cell"]]}).json()
    trials = answer["trials"]
    assert len(trials) == point["trials"] == 3
    assert {trial["run"] for trial in trials} == {str(scene.run.pk)}
    assert [trial["throughput"] for trial in trials] == [6_000, 18_100 / 3, 18_200 / 3]
    assert trials[0]["p99_us"] == 10_020
    assert trials[0]["started_at"].startswith("2026-01-31T12:00")
    page = Client()
    page.force_login(scene.own.user)
    assert page.get(trials[0]["url"]).status_code == 200


def test_warm_ups_are_left_out(api, scene):
    Trial.objects.filter(pk=scene.trial.pk).update(warmup=True)
    trials = api.get("/api/v1/trials", {"cell": str(scene.trial.cell_id)}).json()["trials"]
    assert str(scene.trial.pk) not in [trial["id"] for trial in trials]
    assert len(trials) == 2


@pytest.mark.parametrize("cells", [[], ["64"], [str(uuid.uuid4())] * 101])
def test_what_is_no_cell_is_refused(api, cells):
    answer = api.get("/api/v1/trials", {"cell": cells})
    assert (answer.status_code, answer.json()["field"]) == (400, "cell")


def test_no_other_percentile_is_read(api, scene):
    with CaptureQueriesContext(connection) as asked:
        assert api.get("/api/v1/trials", {"cell": str(scene.trial.cell_id)}).status_code == 200
    read = [each["sql"] for each in asked if '"percentiles_us"' in each["sql"]]
    assert len(read) == 1
    assert re.findall(r'"percentiles_us"(?!, \'99\'\))', read[0]) == []
