"""A build is told what its intervals do not allow for, in the words of a comparison."""

import pytest

from backend.analysis.pages.tests.test_gate import add_history, add_run, gate, of, spread
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

FEW = "A server was measured at fewer than 3 starts, and other starts may give other figures. "


@pytest.fixture
def workspace():
    return make_workspace()


def two_versions(workspace, **how):
    """The notes about the newer of two versions, which one run has measured."""
    more = {"starts": how.pop("starts")} if "starts" in how else {}
    cells = [
        CellSpec(version=version, rates=spread(rate), **more)
        for version, rate in (("1.28", 1000), ("1.29", 1300))
    ]
    make_run(workspace, *cells, **how)
    answer = gate(workspace, "version=1.29", baseline="version=1.28")
    assert answer.verdict == "improved"
    return answer.notes


def test_two_versions_that_were_measured_in_turn_have_no_note(workspace):
    assert two_versions(workspace) == []


def test_two_versions_one_after_the_other_have_one(workspace):
    (note,) = two_versions(workspace, in_turn=False)
    assert note == (
        "The candidate and the baseline were measured one after the other, so a change of the "
        "machine looks like a difference between them. Measure the servers in turn and in a "
        "changing order, as the agent does."
    )


def test_two_versions_of_one_start_have_one(workspace):
    (note,) = two_versions(workspace, starts=(1, 1, 1))
    assert note.startswith(FEW)


def test_a_single_run_days_after_the_baseline_has_one(workspace):
    """Whatever the requirement makes of the ratio: three runs of each have none."""
    add_history(workspace, noise=0.005)
    candidate = add_run(workspace, 20, 1002, branch="topic")
    answer = gate(workspace, of(candidate), "throughput > -5%", "p99 < +5%")
    assert answer.verdict == "unchanged"
    assert answer.notes == [
        "The trials of the candidate and the baseline are 13 days apart, and the machine may have "
        "changed. Measure both in one run, in turn, or each in 3 runs."
    ]


def test_a_limit_that_one_start_keeps_has_one(workspace):
    add_history(workspace)
    specs = [CellSpec(version="new", rates=spread(1000), starts=(1, 1, 1))]
    candidate = of(add_run(workspace, 20, branch="topic", specs=specs))
    (note,) = gate(workspace, candidate, "p99 < 20ms").notes
    assert note.startswith(FEW)
    assert gate(workspace, candidate, "error_rate < 1%").notes == []


def test_what_noise_hides_has_none(workspace):
    add_history(workspace, noise=0.05)
    candidate = of(add_run(workspace, 20, 995, branch="topic"))
    answer = gate(workspace, candidate, "throughput > -1%")
    assert (answer.verdict, answer.notes) == ("too_noisy", [])
