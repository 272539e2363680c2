"""A frozen result set is byte for byte the same whatever becomes of what it shows."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import Artefact, State, Upload
from backend.runs.amending.renaming import rename
from backend.runs.models import FormerName, Trial
from backend.runs.registry.identity import canonical_json
from backend.sharing.badge import badge_of
from backend.sharing.differences import differences_since
from backend.sharing.edits import edit, revoke, supersede
from backend.sharing.export import csv_of
from backend.sharing.freezing import Description, NothingToFreeze, freeze
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.reading import Reading, find_result_set
from backend.sharing.sources import sources_of
from backend.testing.rows import CellSpec, make_run, make_workspace


@pytest.fixture
def lab(db):
    return make_workspace("lab")


def frozen(lab, text="", **card):
    return freeze(
        CompareQuery.parse(text), workspace=lab, author=None, description=Description(**card)
    )


def json_of(result_set):
    """The bytes that a reader gets who asks now."""
    found = find_result_set(result_set.link, workspace_ids=[result_set.workspace_id])
    return Reading(found, "viewer").json


def test_renamed_reread_and_deleted(lab):
    run = make_run(lab, CellSpec("sync"), CellSpec("gthread"))
    made = frozen(lab, "metric=p99", title="T")
    before = json_of(made)
    Trial.objects.filter(run=run).update(throughput_rps=1.0, percentiles_us={"50": 9.0})
    assert json_of(made) == before
    for name in ("sync", "gthread"):
        rename(lab, FormerName.Kind.SERVER, name, f"renamed {name}", None)
    rename(lab, FormerName.Kind.HOST, "bench-1", "renamed", None)
    rename(lab, FormerName.Kind.WORKLOAD, "hello", "renamed", None)
    lab.slug, lab.name = "renamed", "Renamed"
    lab.save()
    assert json_of(made) == before
    make_run(lab, CellSpec("sync", rates=(5.0, 6.0, 7.0)))
    run.delete()
    assert json_of(made) == before


def test_what_is_said_beside_it_is_not_in_it(lab):
    make_run(lab, CellSpec())
    made, newer = frozen(lab, title="T", notes="first"), frozen(lab)
    before = json_of(made)
    edit(made, notes="second", visibility=Visibility.PUBLIC)
    supersede(made, newer)
    revoke(made)
    assert json_of(made) == before
    assert b"first" not in before


SINCE_THE_FIRST_VERSION = {
    "figures": ("schema", "links", "panels", "curves", "knees", "capacity", "ratios", "changes"),
    "outcome": ("intent", "confounded", "overridden"),
    "x": ("kind",),
    "series": ("server_slug", "workload_slug", "runtime", "configuration", "loop", "load", "facet"),
    "points": ("cells", "errors"),
    "checks": ("section", "cells", "trials", "dismissed"),
}


def as_first_written(value, name):
    """The JSON without the fields that later versions added."""
    if isinstance(value, list):
        return [as_first_written(part, name) for part in value]
    if not isinstance(value, dict):
        return value
    later = SINCE_THE_FIRST_VERSION.get(name, ())
    return {key: as_first_written(part, key) for key, part in value.items() if key not in later}


def test_what_the_first_version_froze_is_read(lab):
    make_run(lab, CellSpec("sync"), CellSpec("gthread"))
    made = frozen(lab)
    document = as_first_written(json.loads(bytes(made.snapshot)), "")
    made.snapshot = canonical_json(document)
    reading = Reading(made, "viewer")
    assert reading.json == canonical_json(document)
    assert reading.figures.series[0].points[0].cells == ()
    assert csv_of(reading.figures).count("\r\n") == 3
    assert badge_of("T", reading.figures).value.text.startswith(("sync", "gthread"))
    assert differences_since(made, viewer="viewer").is_empty


def test_what_a_version_froze_that_set_trials_aside_is_read(lab):
    make_run(lab, CellSpec("sync", rates=(1000.0, 1001.0, 999.0, 1002.0, 998.0, 1000.0, 500.0)))
    made = frozen(lab)
    document = json.loads(bytes(made.snapshot))
    measure = document["figures"]["series"][0]["points"][0]["metrics"]["throughput"]
    measure |= {"value": 1000.0, "low": 998.5, "high": 1001.5, "set_aside": [6]}
    made.snapshot = canonical_json(document)
    reading = Reading(made, "viewer")
    assert reading.json == canonical_json(document)
    assert reading.figures.series[0].points[0].metrics["throughput"].value == 1000.0
    assert ",1000.0,998.5,1001.5,95 % interval within this run," in csv_of(reading.figures)
    (change,) = differences_since(made, viewer="viewer").figures
    assert change.ratio.why == "no interval: a figure is not the mean of its trials"


def test_its_query_names_its_runs(lab):
    runs = [make_run(lab, CellSpec("sync")), make_run(lab, CellSpec("gthread"))]
    make_run(lab, CellSpec("other"))
    snapshot = json.loads(json_of(frozen(lab, "server=gthread&server=sync")))
    named = CompareQuery.parse(snapshot["query"])
    assert set(named.run_ids) == {run.pk for run in runs}
    assert snapshot["figures"]["query"] == snapshot["query"]
    assert {one["id"] for one in snapshot["runs"]} == {str(run.pk) for run in runs}


def test_nothing_is_not_frozen(lab):
    make_run(lab, CellSpec())
    with pytest.raises(NothingToFreeze):
        frozen(lab, "until=2001-01-01")
    assert not ResultSet.objects.exists()


def test_every_raw_file_of_a_run_that_came_trial_by_trial_is_named(lab):
    run = make_run(lab, CellSpec("sync"))
    trials = list(Trial.objects.filter(run=run).order_by("ordinal"))
    for trial in trials:
        early = Upload.objects.create(
            workspace=lab, content_sha256="0" * 64, state=State.PARSED, parser_version="3"
        )
        file = Artefact.objects.create(
            upload=early, position=0, name=f"{trial.ordinal}.txt", sha256="a" * 64, size_bytes=1
        )
        file.trials.add(trial)
    whole = Upload.objects.create(
        workspace=lab, run=run, content_sha256="1" * 64, state=State.PARSED, parser_version="3"
    )
    Artefact.objects.create(upload=whole, position=0, name="a.log", sha256="b" * 64, size_bytes=2)
    with CaptureQueriesContext(connection) as queries:
        (source,) = sources_of([str(run.pk)])
    # An envelope has up to 4 MiB, and would come once for each file.
    assert not any("envelope" in query["sql"] for query in queries.captured_queries)
    assert (source["upload"], source["parser_version"]) == (str(whole.pk), "3")
    names = [one["name"] for one in source["artefacts"]]
    assert names == [*(f"{trial.ordinal}.txt" for trial in trials), "a.log"]
    Upload.objects.filter(run=run).update(parser_version="4")
    assert sources_of([str(run.pk)])[0]["parser_version"] is None
