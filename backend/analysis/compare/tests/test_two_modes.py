"""Where trials fall into two groups, no sentence asks for more of them."""

import json
import re

import msgspec
import pytest

from backend.analysis.compare.advice import PART_THE_MODES, as_sentence
from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.judge.requirements import read_requirements
from backend.analysis.pages.gate.describe import GateQuery, judge_build
from backend.analysis.pages.gate.sides import read_side
from backend.analysis.pages.pair.describe import compare_pair
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.amending.dismissals import dismiss
from backend.runs.checks import TWO_MODES
from backend.runs.models import Run
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

MODES = (0.8, 1.05) * 5
STEADY = (1.0, 1.004) * 5
JSON = {**HELLO, "name": "json", "path": "/json"}
# In any text that a reader sees: a number of trials or runs to add, or the wish for more.
ASKS_FOR_TRIALS = re.compile(
    r"\d+ (more )?(trial|run)s? (to|of) (each|the)|[Mm]ore trials (at|to|w)"
)


@pytest.fixture
def lab():
    return make_workspace("lab")


def two_modes(name="alpha", rate=1000.0, **more):
    return server(name, rate, MODES, checks=[TWO_MODES], **more)


def server(name, rate=1000.0, shares=STEADY, **more):
    return CellSpec(name, rates=tuple(rate * share for share in shares), **more)


def ask(lab, text=""):
    query = CompareQuery.parse(text)
    return plain_figures(compare(query, workspace_ids=[lab.pk]))


def says_it_once_and_asks_for_none(figures):
    answer = figures["answer"]
    remedies = [reason["remedy"] for reason in answer["trust"]["reasons"]]
    assert f"{PART_THE_MODES[0].upper()}{PART_THE_MODES[1:]}." in remedies
    assert not ASKS_FOR_TRIALS.search(json.dumps(figures))


@pytest.mark.parametrize("rate", [930, 995])
@pytest.mark.parametrize("metric", ["throughput", "p99"])
def test_a_comparison_says_what_helps_in_sentence_and_reasons(lab, rate, metric):
    make_run(lab, two_modes(), server("beta", rate))
    figures = ask(lab, f"metric={metric}")
    says_it_once_and_asks_for_none(figures)
    assert figures["finding"].endswith(f"; {PART_THE_MODES}")


def test_a_lead_of_uncertain_size_asks_for_no_trials(lab):
    make_run(lab, two_modes(), server("beta", 820))
    figures = ask(lab)
    assert figures["ranking"]["rows"][1]["ratio"]["verdict"] == "size_uncertain"
    says_it_once_and_asks_for_none(figures)


def test_another_pair_that_needs_trials_takes_nothing_from_the_advice(lab):
    noisy = (1.0, 1.01, 0.99)
    for workload in (HELLO, JSON):
        cells = [server(name, 1000, noisy, workload=workload) for name in ("beta", "gamma")]
        make_run(lab, *([two_modes(), server("beta")] if workload is HELLO else cells))
    figures = ask(lab, "facet=workload")
    remedies = [reason["remedy"] for reason in figures["answer"]["trust"]["reasons"]]
    assert f"{PART_THE_MODES[0].upper()}{PART_THE_MODES[1:]}." in remedies
    assert any("dd about " in remedy for remedy in remedies)


def test_a_table_of_ratios_asks_for_no_trials(lab):
    make_run(
        lab,
        *(two_modes(workload=workload) for workload in (HELLO, JSON)),
        *(server("beta", 930, workload=workload) for workload in (HELLO, JSON)),
    )
    says_it_once_and_asks_for_none(ask(lab, "view=ratios"))


def test_a_saturation_point_asks_for_no_trials(lab):
    rates = {1: 500, 8: 1000, 64: 1001, 128: 1000}
    make_run(lab, *(two_modes(rate=rate, connections=load) for load, rate in rates.items()))
    says_it_once_and_asks_for_none(ask(lab, "view=tradeoff"))


def test_two_runs_side_by_side_ask_for_no_trials(lab):
    sides = [make_run(lab, cell) for cell in (two_modes(), server("alpha", 930))]
    pair = compare_pair(*(run.pk for run in sides), workspace_ids=[lab.pk], viewer="viewer")
    assert pair.finding.endswith(f"; {PART_THE_MODES}")
    assert not ASKS_FOR_TRIALS.search(msgspec.json.encode(pair).decode())


def test_the_gate_of_a_build_asks_for_no_runs(lab):
    for label, rate in (("main", 1000), ("main", 990), ("main", 1010), ("topic", 1080)):
        cell = two_modes(rate=rate) if label == "topic" else server("alpha", rate)
        run = make_run(lab, cell)
        Run.objects.filter(pk=run.pk).update(labels={"branch": label})
    lab.changed()
    asked = GateQuery(
        candidate=read_side("candidate", ["label=branch:topic"]),
        baseline=read_side("baseline", ["label=branch:main"]),
        requirements=read_requirements(["throughput > -1%"]),
        narrow=CompareQuery.parse(""),
    )
    answer = judge_build(asked, workspace_ids=[lab.pk], viewer="viewer")
    (row,) = answer.rows
    assert (row.verdict, row.advice) == ("too_noisy", None)
    assert PART_THE_MODES[1:] in row.text
    assert answer.settle == as_sentence(PART_THE_MODES)


def test_a_check_that_a_member_dismissed_changes_no_advice(lab):
    run = make_run(lab, two_modes(), server("beta", 930))
    dismiss(run, TWO_MODES, reason="it is measured with both, on purpose", author=None)
    lab.changed()
    figures = ask(lab)
    assert ASKS_FOR_TRIALS.search(figures["finding"])
