"""What must match between series, what may differ, and which differences are caveats."""

import pytest

from backend.analysis.compare.tests.ranked_series import FAST, ask
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db
OTHER = {**MACHINE, "name": "bench-2", "cpu_model": "EPYC"}


@pytest.fixture
def lab():
    return make_workspace("lab")


def test_other_hardware_and_other_server_cannot_be_told_apart(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("b"), host=OTHER)
    figures = ask(lab)
    assert figures["outcome"]["status"] == "not_comparable"
    assert "cpu" in figures["outcome"]["differing"]
    assert figures["ranking"] is None
    assert figures["finding"].startswith("These series cannot be ranked: processor")


def test_hardware_may_be_the_one_dimension(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("a", rates=FAST), host=OTHER)
    figures = ask(lab)
    assert figures["outcome"]["status"] == "caveats"
    assert figures["ranking"] is not None


def test_another_kernel_is_a_caveat(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("b"), host={**MACHINE, "kernel": "Linux 6.12"})
    outcome = ask(lab)["outcome"]
    assert outcome["status"] == "caveats"
    assert outcome["differing"] == ["server", "kernel", "client_kernel"]


@pytest.mark.parametrize(
    ("other", "factor"),
    [
        ({"workload": {**HELLO, "keepalive": False}}, "keepalive"),
        ({"workload": {**HELLO, "name": "json"}}, "workload"),
        ({"loop": "open"}, "loop"),
        ({"tool": "ab"}, "tool"),
    ],
)
def test_what_must_match(lab, other, factor):
    make_run(lab, CellSpec("a"), CellSpec("b", **other))
    outcome = ask(lab)["outcome"]
    assert outcome["status"] == "not_comparable"
    assert factor in outcome["differing"]


def test_the_tool_may_be_the_one_dimension(lab):
    make_run(lab, CellSpec(tool="wrk"), CellSpec(tool="ab"))
    assert ask(lab)["outcome"]["status"] == "caveats"


def test_an_unknown_host_beside_a_known_one_is_a_caveat(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("b"), host=None)
    outcome = ask(lab)["outcome"]
    assert outcome["status"] == "caveats"
    assert "processor of the server host is unknown for some series" in outcome["reasons"]
