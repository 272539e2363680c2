"""Frozen result sets: the bytes, the hash, who may read them, and the table."""

import csv
import hashlib
import io
import json
from statistics import geometric_mean

import pytest

import backend
from backend.analysis.kept_figures import read_figures
from backend.analysis.loading.selection import NotVisible
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.view_ids import VIEWS
from backend.ingest.models import Artefact, Upload
from backend.runs.models import Trial
from backend.sharing.edits import edit
from backend.sharing.export import csv_of, harmless
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.reading import find_result_set
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace


@pytest.fixture
def lab(db):
    return make_workspace("lab")


def frozen(workspace, text="", **options):
    description = Description(**{"title": "Sync against gthread", **options})
    return freeze(
        CompareQuery.parse(text), workspace=workspace, author=None, description=description
    )


def test_the_hash_is_over_the_stored_bytes(lab):
    make_run(lab, CellSpec("café"))
    made = ResultSet.objects.get(pk=frozen(lab).pk)
    stored = bytes(made.snapshot)
    assert hashlib.sha256(stored).hexdigest() == made.sha256
    snapshot = json.loads(stored)
    again = json.dumps(snapshot, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert again.encode() == stored
    assert "café" in stored.decode()


def test_the_snapshot_says_what_it_was_made_from(lab):
    run = make_run(lab, CellSpec())
    upload = Upload.objects.create(
        workspace=lab, run=run, content_sha256="0" * 64, parser_version="3"
    )
    Artefact.objects.create(
        upload=upload, position=0, name="wrk.txt", sha256="a" * 64, size_bytes=7
    )
    snapshot = json.loads(bytes(frozen(lab, f"run={run.pk}").snapshot))
    assert snapshot["runs"] == [
        {
            "id": str(run.pk),
            "upload": str(upload.pk),
            "parser_version": "3",
            "artefacts": [{"name": "wrk.txt", "sha256": "a" * 64, "size": 7}],
        }
    ]
    assert snapshot["query"] == f"run={run.pk}"
    assert snapshot["software"]["version"] == backend.__version__
    assert snapshot["figures"]["series"]


def test_it_never_changes(lab):
    run = make_run(lab, CellSpec())
    made = frozen(lab)
    before = bytes(made.snapshot)
    Trial.objects.update(throughput_rps=1.0)
    run.delete()
    edit(made, visibility=Visibility.PUBLIC)
    assert bytes(ResultSet.objects.get(pk=made.pk).snapshot) == before


@pytest.mark.parametrize(
    ("servers", "title"),
    [
        ([("sync", "23.0")], "hello · wrk · sync 23.0"),
        ([("sync", "23.0"), ("sync", "24.0")], "hello · wrk · sync 23.0, sync 24.0"),
        ([("nginx", "1"), ("caddy", "2")], "hello · wrk · caddy, nginx"),
        ([(name, "1") for name in "fedcba"], "hello · wrk · a, b, c, d, 2 more"),
    ],
)
def test_a_short_title_is_made_where_none_is_given(lab, servers, title):
    make_run(lab, *(CellSpec(name, version=version) for name, version in servers))
    assert frozen(lab, title="").title == title


def test_nothing_of_another_workspace_is_frozen(lab):
    run = make_run(make_workspace("theirs"), CellSpec())
    with pytest.raises(NotVisible):
        frozen(lab, f"run={run.pk}")
    assert not ResultSet.objects.exists()


@pytest.mark.parametrize(
    ("visibility", "stranger_sees"),
    [("private", False), ("unlisted", True), ("public", True)],
)
def test_who_may_read_it(lab, visibility, stranger_sees):
    make_run(lab, CellSpec())
    made = frozen(lab)
    assert find_result_set(made.pk, workspace_ids=[]) is None
    edit(made, visibility=Visibility(visibility))
    assert (find_result_set(made.pk, workspace_ids=[]) == made) is stranger_sees
    assert find_result_set(made.pk, workspace_ids=[lab.pk]) == made
    edit(made, visibility=Visibility.PRIVATE)
    assert find_result_set(made.pk, workspace_ids=[make_workspace("theirs").pk]) is None


def test_the_table_reads_back(lab):
    make_run(lab, CellSpec('=HYPERLINK("x")', p50_us=None), CellSpec("b, c"))
    figures = json.loads(bytes(frozen(lab).snapshot))["figures"]
    rows = list(csv.DictReader(io.StringIO(csv_of(read_figures(figures)), newline="")))
    assert {row["server"] for row in rows} == {'\'=HYPERLINK("x")', "b, c"}
    unknown = next(row for row in rows if row["server"].startswith("'"))
    assert unknown["p99_us"] == ""
    assert float(unknown["throughput_rps"]) == pytest.approx(geometric_mean((1000, 1010, 990)))


def test_every_view_is_safe_to_open(lab):
    for workload in (HELLO, {**HELLO, "name": "@json"}):
        make_run(lab, CellSpec("=1+1", workload=workload), CellSpec("+b", workload=workload))
    for view in VIEWS:
        figures = json.loads(bytes(frozen(lab, f"view={view}&limit=1000").snapshot))["figures"]
        cells = [
            cell for row in csv.reader(io.StringIO(csv_of(read_figures(figures)))) for cell in row
        ]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
        assert any(cell.startswith("'=1+1") for cell in cells)


@pytest.mark.parametrize(
    "text", ["\t=1", "\r=1", "\n=1", "\0=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201"]
)
def test_what_a_spreadsheet_may_take_for_a_formula_is_quoted(text):
    assert harmless(text).startswith("'")
    assert "\0" not in harmless(text)


@pytest.mark.parametrize("value", [-1.5, 0, None, "plain", "a=b", "a\tb"])
def test_the_rest_stays_as_it_is(value):
    assert harmless(value) == value
