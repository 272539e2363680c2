"""Rows that are looked up in others are read in one state, whatever others commit meanwhile."""

import pytest
from django.test import Client

from backend.accounts.models import Workspace
from backend.analysis.loading import series_cache
from backend.analysis.loading.selection import select
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import Upload
from backend.runs.amending.merging import Kind, merge
from backend.runs.models import Run, Server
from backend.sharing.sources import sources_of
from backend.testing.meanwhile import work_of_others_after
from backend.testing.rows import CellSpec, make_run, make_workspace
from backend.testing.scenes import make_measured_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lab():
    workspace = make_workspace("lab")
    Workspace.objects.filter(pk=workspace.pk).update(is_public=True)
    make_run(workspace, CellSpec(server="caddy"), CellSpec(server="nginx"))
    series_cache.forget()
    yield workspace
    series_cache.forget()


def test_a_server_that_comes_while_the_series_are_loaded(lab):
    def record():
        make_run(lab, CellSpec(server="haproxy"))

    with work_of_others_after('FROM "runs_server"', record):
        select(CompareQuery(), [lab.pk])
    series = select(CompareQuery(), [lab.pk]).series.values()
    assert {each.server.name for each in series} == {"caddy", "nginx", "haproxy"}


def test_a_server_that_goes_while_its_page_is_made(lab):
    host = Run.objects.filter(workspace=lab).values_list("server_host", flat=True).get()

    def merge_both():
        merge(lab, Kind.SERVER, "caddy", "nginx", None)

    with work_of_others_after('COUNT("runs_cell"."id")', merge_both):
        answer = Client().get(f"/w/lab/hosts/{host}")
    assert answer.status_code == 200
    assert not Server.objects.filter(name="caddy").exists()


def test_an_upload_that_goes_while_the_sources_are_read(lab):
    upload = make_measured_run(lab)

    with work_of_others_after("ingest_artefact_trials", Upload.objects.all().delete):
        (source,) = sources_of([str(upload.run_id)])
    assert source["artefacts"]
