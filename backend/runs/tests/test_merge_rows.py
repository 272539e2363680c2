"""The rows that a merge replaced: how many it keeps, and who reads them."""

from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.runs.amending import merging
from backend.runs.amending.merging import MergeRefused, merge, merges_into, successor_of
from backend.runs.models import FormerName
from backend.runs.tests.test_merging import read
from backend.testing.uploads import WRK, make_tenant

pytestmark = pytest.mark.django_db
Kind = FormerName.Kind


@pytest.fixture
def lab():
    return make_tenant("lab")


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("MAX_ROWS", "1 configurations"),
        ("MAX_ROW_BYTES", r"\d+ bytes of configurations"),
        # A merge of a workload read the configurations of all servers measured with it.
        ("MAX_RELATED_BYTES", r"\d+ bytes of configurations and headers measured with it"),
    ],
)
def test_more_rows_than_a_merge_keeps_are_not_merged(lab, monkeypatch, kind, limit, words):
    """A merge of 94 MB of them was read whole by each page that leads on from a merged row."""
    read(lab, servers=["a"], workload="a", host="a")
    read(lab, servers=["b"], workload="b", host="b", text=WRK + "x")
    monkeypatch.setattr(merging, limit, 0)
    with pytest.raises(MergeRefused, match=f"“a” has {words}; at most 0 can be merged"):
        merge(lab.workspace, kind, "a", "b", lab.user)


@pytest.mark.parametrize("kind", Kind)
def test_who_shows_merges_reads_no_rows_of_them(lab, kind):
    read(lab, servers=["a"], workload="a", host="a")
    read(lab, servers=["b"], workload="b", host="b", text=WRK + "x")
    merged = merge(lab.workspace, kind, "a", "b", lab.user)
    (entry,) = merged.rows
    with CaptureQueriesContext(connection) as statements:
        (shown,) = merges_into(lab.workspace, kind, "b")
        assert str(successor_of(lab.workspace, kind, UUID(entry["id"]))) == entry["into"]
        assert successor_of(lab.workspace, kind, UUID(entry["into"])) is None
    assert shown.author == lab.user
    assert not [each for each in statements if '"runs_merge"."rows",' in each["sql"]]
