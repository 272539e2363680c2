"""What differs between two runs costs what they recorded, whatever their keys are called."""

import tracemalloc

import pytest

from backend.analysis.pages.pair import differences
from backend.analysis.pages.tests.test_pair import pair_of
from backend.runs.models import Run
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace():
    return make_workspace()


def nested(leaves, *names):
    """A table of `leaves` below these names."""
    for name in reversed(names):
        leaves = {name: leaves}
    return leaves


def two_runs_with(workspace, facts_a, facts_b):
    a, b = (make_run(workspace, CellSpec()) for _ in range(2))
    for run, facts in ((a, facts_a), (b, facts_b)):
        Run.objects.filter(pk=run.pk).update(facts={"server": facts})
    return a, b


def test_facts_below_long_keys_cost_their_own_size(workspace):
    """Each of 2,000 differences has a path of 350 KB: all of them together would be 700 MB."""
    names = [chr(ord("a") + level) * 50_000 for level in range(7)]
    sides = ({str(leaf): side for leaf in range(2_000)} for side in "ab")
    a, b = two_runs_with(workspace, *(nested(leaves, *names) for leaves in sides))
    tracemalloc.start()
    try:
        pair = pair_of(a, b)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 50 << 20
    assert len(pair.differences) == differences.MAX_ROWS
    assert {len(row.name) for row in pair.differences} == {differences.MAX_TEXT}


def test_further_differences_are_counted(workspace, monkeypatch):
    monkeypatch.setattr(differences, "MAX_ROWS", 3)
    a, b = two_runs_with(workspace, dict.fromkeys("abcde", 1), dict.fromkeys("abcdef", 2))
    pair = pair_of(a, b)
    assert [row.name for row in pair.differences] == ["a", "b", "c"]
    # What one side does not tell is not known to differ.
    assert pair.differences_left_out == 2


def test_a_table_on_one_side_differs_from_a_value_on_the_other(workspace):
    a, b = (make_run(workspace, CellSpec()) for _ in range(2))
    Run.objects.filter(pk=a.pk).update(plan='load = "wrk"\n[[servers]]\nname = "x"\nport = 1')
    Run.objects.filter(pk=b.pk).update(plan='[load]\ntool = "wrk"\n[[servers]]\nname = "x"')
    rows = {row.name: (row.a, row.b) for row in pair_of(a, b).differences if row.topic == "plan"}
    assert rows == {
        "load": ("wrk", None),
        "load.tool": (None, "wrk"),
        "servers.x.port": ("1", None),
    }
