"""The table of all trials comes whole as CSV and as Parquet."""

import io
import re

import polars
import pytest
from django.test import Client

from backend.runs.catalogue import trial_table
from backend.runs.catalogue.trial_table import COLUMNS
from backend.runs.models import Run, Trial, Workload
from backend.testing.rows import CellSpec, let_a_minute_pass, make_run
from backend.testing.scenes import make_measured_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def pull(api, suffix, **query):
    """The bodies of all parts."""
    address, bodies = f"/api/v1/trials.{suffix}", []
    while address:
        answer = api.get(address, query)
        assert answer.status_code == 200
        bodies.append(answer.content)
        link = answer.headers.get("Link", "")
        address, query = link.partition(">")[0].removeprefix("<http://testserver"), {}
        address = address[address.find("/api") :] if address else ""
    return bodies


@pytest.fixture
def lab(scene):
    """Three runs beside that of the scene: 12 + 3 × (1 warm-up and 2 trials)."""
    for _ in range(3):
        make_run(scene.own.workspace, CellSpec(server="=nginx", rates=(1000.0, None)))
    let_a_minute_pass()
    return scene


def test_trials_as_parquet_come_whole_in_parts_with_types(api, lab):
    parts = [polars.read_parquet(io.BytesIO(body)) for body in pull(api, "parquet", limit=6)]
    table = polars.concat(parts)
    assert table.height == Trial.objects.count()
    assert table["trial_id"].n_unique() == table.height
    assert [part.height for part in parts] == [12, 6, 3]
    assert table.columns == [column.name for column in COLUMNS]
    assert table.schema["run_recorded_at"] == polars.Datetime("us", "UTC")
    assert table["throughput_rps"].null_count() == 3
    recorded = table["run_recorded_at"].to_list()
    assert recorded == sorted(recorded)


def test_trials_as_csv_are_harmless_in_a_spreadsheet_and_unknown_is_empty(api, lab):
    text = b"".join(pull(api, "csv")).decode()
    lines = text.split("\r\n")
    assert lines[0].startswith("workspace,run_id,")
    assert "'=nginx" in text
    assert "None" not in text


def test_only_what_is_new_comes_after_the_cursor(api, lab):
    cursor = api.get("/api/v1/trials.csv")["Loadsheet-Next"]
    assert api.get(f"/api/v1/trials.csv?after={cursor}").content.count(b"\r\n") == 1
    make_measured_run(lab.own.workspace)
    let_a_minute_pass()
    assert api.get(f"/api/v1/trials.csv?after={cursor}").content.count(b"\r\n") == 13


def test_trials_of_other_workspaces_and_of_open_runs_are_left_out(api, lab):
    foreign = Client(headers=lab.foreign.headers)
    assert foreign.get("/api/v1/trials.csv").content.count(b"\r\n") == 1
    Run.objects.update(is_open=True)
    assert api.get("/api/v1/trials.csv").content.count(b"\r\n") == 1


@pytest.mark.parametrize("query", ["limit=0", "limit=20001", "after=x", "colour=red", "since=2"])
def test_a_bad_question_for_trials_is_refused(api, query):
    assert api.get(f"/api/v1/trials.parquet?{query}").status_code == 400


def test_texts_that_every_row_repeats_end_a_part(api, lab, monkeypatch):
    """Labels of 200 KB made a table of 1 GB of the 5,000 trials of one run."""
    # The run of the scene has twelve trials.
    Run.objects.update(labels={"commit": "a" * 100})
    monkeypatch.setattr(trial_table, "MOST_TEXT_BYTES", 2_000)
    bodies = pull(api, "csv")
    assert len(bodies) > 1
    whole = b"".join(bodies).count(b"\r\n") - len(bodies)
    assert whole == Trial.objects.count()
    monkeypatch.setattr(trial_table, "MOST_TEXT_BYTES", 1_000)
    refused = api.get("/api/v1/trials.csv").json()
    assert (refused["status"], refused["code"]) == (413, "too-large")
    (after,) = re.findall(r"after=(\S+)", refused["hint"])
    assert b"".join(pull(api, "csv", after=after)).count(b"hello") == 9


@pytest.mark.parametrize("column", ["error", "path"])
def test_long_errors_and_paths_end_a_part_too(api, lab, monkeypatch, column):
    if column == "error":
        Trial.objects.update(error="x" * 100)
    else:
        Workload.objects.update(path="/" + "x" * 100)
    monkeypatch.setattr(trial_table, "MOST_TEXT_BYTES", 1_000)
    assert api.get("/api/v1/trials.csv").status_code == 413
