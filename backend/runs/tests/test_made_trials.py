"""Made trials go through the parsers as an upload does: honest ones are left in peace."""

from dataclasses import fields

import numpy as np
import pytest

from backend.runs.checks import CHECKS, check_trial
from backend.runs.checks.firing import EDITED, Firing, read_firing
from backend.testing.made.cells import CELL_MISTAKES, make_cell
from backend.testing.made.comparisons import COMPARISON_MISTAKES, fired, make_comparison
from backend.testing.made.condition_mistakes import TRIAL_MISTAKES
from backend.testing.made.figures import corrected_figures_of, figures_of
from backend.testing.made.measuring import missed_aims
from backend.testing.made.mistakes import Mistake
from backend.testing.made.outputs import OUTPUT_MISTAKES, make_outputs
from backend.testing.made.outputs import fired as fired_by_outputs
from backend.testing.made.requests import make_closed
from backend.testing.made.texts import TOOLS
from backend.testing.made.uploads import make_upload

OHA = next(tool for tool in TOOLS if tool.name == "oha")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_honest_output_is_read_as_it_was_made(tool):
    draw = np.random.default_rng(11)
    upload = make_upload(draw, tool)
    trial = upload.check_input()
    assert trial.requests_completed == upload.trial.count
    median_us = figures_of(upload.trial).percentiles_us["50"]
    # wrk's own percentiles are of more requests than were measured.
    slack = 0.3 if tool.name == "wrk" else 0.002
    assert trial.percentiles_us["50"] == pytest.approx(median_us, rel=slack, abs=tool.step_us)
    grave = {finding.id for finding in check_trial(trial)} - {"far-tail-samples"}
    assert grave == ({"errors-unknown"} if tool.lists_answers_only else set())


@pytest.mark.parametrize("id_", TRIAL_MISTAKES)
def test_a_planted_mistake_is_found(id_):
    draw = np.random.default_rng(5)
    mistake = TRIAL_MISTAKES[id_]
    tool = next(tool for tool in (OHA, *TOOLS) if mistake.fits(tool))
    trials = (mistake.edit(mistake.make(draw, tool).check_input()) for _ in range(3))
    assert any(id_ in {finding.id for finding in check_trial(trial)} for trial in trials)


@pytest.mark.parametrize("id_", CELL_MISTAKES)
def test_a_mistake_between_trials_is_found(id_):
    draw = np.random.default_rng(5)
    _, make = CELL_MISTAKES[id_]
    assert any(id_ in make(draw).fired() for _ in range(3))
    assert not {"spread", "two-modes"} & make_cell(draw).fired()


@pytest.mark.parametrize("id_", COMPARISON_MISTAKES)
def test_a_mistake_between_series_is_found(id_):
    draw = np.random.default_rng(5)
    _, make = COMPARISON_MISTAKES[id_]
    assert any(id_ in fired(make(draw)) for _ in range(3))
    assert not fired(make_comparison(draw)) & {"far-apart", "unequal-length", "unequal-threads"}


@pytest.mark.parametrize("id_", OUTPUT_MISTAKES)
def test_a_mistake_of_repeated_bytes_is_found(id_):
    outputs = make_outputs(np.random.default_rng(5), OHA)
    _, plant = OUTPUT_MISTAKES[id_]
    assert fired_by_outputs(plant(outputs)).keys() == {id_}
    assert not fired_by_outputs([(0, outputs)])


def test_every_check_is_planted():
    planted = {*TRIAL_MISTAKES, *CELL_MISTAKES, *COMPARISON_MISTAKES, *OUTPUT_MISTAKES}
    assert planted == CHECKS.keys()


def test_the_page_names_the_mistakes_that_no_made_output_holds():
    (unedited,) = (each.default for each in fields(Mistake) if each.name == "edit")
    edited = {id_ for id_, mistake in TRIAL_MISTAKES.items() if mistake.edit is not unedited}
    assert edited == set(EDITED)


def test_what_the_bench_measured_meets_the_aims():
    measured = read_firing()
    assert measured.trials >= 1_000
    assert CHECKS.keys() == measured.by_check.keys()
    assert [id_ for id_, firing in measured.by_check.items() if not firing.found] == []
    assert missed_aims(measured.by_check) == []


@pytest.mark.parametrize(
    ("check", "honest", "found"),
    [("incomplete", 1, 100), ("too-short", 11, 100), ("few-trials", 0, 94)],
)
def test_a_check_that_leaves_its_aim_is_found(check, honest, found):
    firing = Firing(honest={"wrk": (honest, 1_000)}, found={"wrk": (found, 100)})
    assert missed_aims({check: firing}) == [check]


def test_a_stall_is_in_the_requests_that_were_under_way():
    trial = make_closed(
        np.random.default_rng(1),
        lambda rng, size: np.ones(size),
        median_us=10_000,
        connections=4,
        duration_s=4,
        stall_s=(1.0, 2.0),
    )
    assert (trial.latency_us > 2e6).sum() == 4
    during = (trial.start_s > 1.02) & (trial.start_s < 3.0)
    assert not during.any()
    # wrk adds the requests that were not sent.
    plain, corrected = figures_of(trial), corrected_figures_of(trial)
    assert plain.percentiles_us["90"] == pytest.approx(10_000)
    assert corrected.percentiles_us["90"] > 1e6
