"""What could not be read stays in the answer, with its reason."""

import pytest

from backend.ingest.queue.worker import process
from backend.runs.models import Run
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial, make_upload

pytestmark = pytest.mark.django_db

TEXTS = [WRK.replace("18000", str(18000 + number)) for number in range(3)]


@pytest.fixture
def tenant():
    return make_tenant()


def record(tenant, entries):
    """One run; each entry is a server, the text of its output, and more of its trial."""
    trials = [
        make_trial(index, server={"name": name, "version": "1"}, **more)
        for index, (name, _, more) in enumerate(entries)
    ]
    envelope = {**make_envelope(), "trials": trials}
    process(make_upload(tenant, *(text for _, text, _ in entries), envelope=envelope).pk)


def compare(client, tenant, query=""):
    return client.get(f"/api/v1/compare?workspace=lab&{query}", headers=tenant.headers).json()


def test_a_server_without_any_readable_output_is_told(client, tenant):
    good = [("nginx", text, {}) for text in TEXTS]
    record(tenant, [*good, ("Apache", "Segmentation fault\n", {}), ("Apache", "killed\n", {})])
    figures = compare(client, tenant)
    assert [series["server"] for series in figures["series"]] == ["nginx"]
    rows = figures["not_read"]
    assert {(row["label"], row["x"]) for row in rows} == {("Apache 1", 10)}
    assert sum(row["trials"] for row in rows) == 2
    assert all(row["reason"] for row in rows)
    (run,) = Run.objects.all()
    assert all(row["runs"] == [str(run.pk)] for row in rows)


def test_some_trials_of_a_server_are_told_beside_its_figures(client, tenant):
    failed = {"artefacts": [], "error": "wrk ended with status 1", "exit_code": 1}
    record(tenant, [*(("nginx", text, {}) for text in TEXTS), ("nginx", "unused", failed)])
    figures = compare(client, tenant)
    (series,) = figures["series"]
    assert series["points"][0]["trials"] == 3
    (row,) = figures["not_read"]
    assert (row["series"], row["trials"]) == (series["id"], 1)
    assert row["reason"] == "wrk ended with status 1"


def test_a_series_without_a_place_on_the_axis_is_told(client, tenant):
    good = [("nginx", text, {}) for text in TEXTS]
    nameless = {"workload": {"name": "hello", "path": "/"}, "server": {"name": "Apache"}}
    record(tenant, good)
    trial = make_trial(0, **nameless)
    envelope = {**make_envelope(), "trials": [trial]}
    process(make_upload(tenant, WRK.replace("18000", "17000"), envelope=envelope).pk)
    figures = compare(client, tenant, "x=version")
    (row,) = figures["not_read"]
    assert row["label"].startswith("Apache")
    assert (row["x"], row["trials"], row["reason"]) == (None, 1, "The version is unknown.")


def test_where_all_is_read_nothing_is_said(client, tenant):
    record(tenant, [("nginx", text, {}) for text in TEXTS])
    assert "not_read" not in compare(client, tenant)
