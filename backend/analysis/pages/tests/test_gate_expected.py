"""A build is not comparable where a series that its caller expects was not judged."""

import pytest

from backend.analysis.pages.gate import describe
from backend.analysis.pages.gate.expected import MOST_EXPECTED, read_expected
from backend.analysis.pages.tests.test_gate import add_run, gate, of, spread
from backend.analysis.query.compare_query import QueryError
from backend.testing.rows import HELLO, CellSpec, make_workspace

PLAIN, JSON = (
    CellSpec(workload={**HELLO, "name": name}, rates=spread(1000)) for name in ("plain", "json")
)


@pytest.fixture
def workspace(db):
    return make_workspace()


@pytest.fixture
def candidate(workspace):
    """A build, and a history that lost its second workload, as the build did."""
    for day, specs in enumerate([[PLAIN, JSON]] * 3 + [[PLAIN]] * 2):
        add_run(workspace, day, specs=specs)
    return of(add_run(workspace, 20, branch="topic", specs=[PLAIN]))


def test_what_the_baseline_lost_too_is_missing_if_it_is_expected(workspace, candidate):
    assert gate(workspace, candidate).verdict == "unchanged"
    assert gate(workspace, candidate, expected=["sync:plain"]).verdict == "unchanged"
    answer = gate(workspace, candidate, expected=["sync:plain", "sync:json", "go:plain"])
    assert answer.verdict == "not_comparable"
    assert answer.finding == (
        "Not comparable: the candidate lacks what expect= names: sync:json, go:plain. Measure it, "
        "or leave it out."
    )
    assert [row.verdict for row in answer.rows] == ["unchanged"]


def test_what_has_no_baseline_is_not_judged(workspace, candidate):
    specs = [PLAIN, CellSpec("go", rates=PLAIN.rates)]
    both = of(add_run(workspace, 21, branch="topic", specs=specs))
    assert gate(workspace, both).verdict == "unchanged"
    answer = gate(workspace, both, expected=["go:hello"])
    assert answer.verdict == "not_comparable"
    assert "nothing was judged of what expect= names: go:hello." in answer.finding


def test_what_is_one_series_too_many_is_not_judged(workspace, candidate, monkeypatch):
    monkeypatch.setattr(describe, "MOST_SERIES", 0)
    finding = gate(workspace, candidate, expected=["sync:plain"]).finding
    assert "nothing was judged of what expect= names: sync:plain." in finding


def test_a_first_build_is_told_to_measure_its_baseline(workspace):
    first = of(add_run(workspace, 0, branch="topic", specs=[PLAIN]))
    assert "Measure the baseline first." in gate(workspace, first, expected=["sync:json"]).finding


def test_series_are_read_by_their_names():
    assert read_expected(["a:b", " a:b ", "", "x:y: z"]) == ("a:b", "x:y: z")


@pytest.mark.parametrize(
    "texts", [["json"], ["a:\0"], ["a:" + "b" * 500], [f"a:{n}" for n in range(MOST_EXPECTED + 1)]]
)
def test_what_is_no_series_is_refused(texts):
    with pytest.raises(QueryError, match=r"^expect: got "):
        read_expected(texts)
