"""Adaptive plans repeat as often as their noise needs, and searches confirm the rate they find."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter

import pytest
from plan_texts import SEARCH, SERVER, TWO, WORKLOAD, parse, take_all

from loadsheet_agent.plan.expansion import expand, expand_most
from loadsheet_agent.plan.intervals import FIRST_REPEATS, repeats_needed, t_95
from loadsheet_agent.plan.schedule import drive, is_met
from loadsheet_agent.plan.steps import Step
from loadsheet_agent.run.summary import summarise
from loadsheet_agent.tools.base import Glance

ADAPTIVE = "[adaptive]\nmost_repeats = 12\n[load]\nconnections = [1, 2]\n"


def test_the_first_repeats_of_an_adaptive_plan_fix_how_many_follow():
    plan = parse(ADAPTIVE + TWO)
    noise = random.Random(4)

    def answer(step: Step) -> Glance:
        is_noisy = (step.server.name, step.connections) == ("b", 2)
        return Glance(100.0 * math.exp(noise.gauss(0, 0.2)) if is_noisy else 100.0)

    taken = take_all(plan, 0, answer)
    # Server b is noisy at 2 connections: both servers are repeated there, round by round.
    counts = Counter((step.server.name, step.connections) for step in taken)
    assert counts == {("a", 1): 7, ("b", 1): 7, ("a", 2): 12, ("b", 2): 12}
    assert {step.repeats for step in taken if step.repeat <= 7} == {7}
    assert {step.repeats for step in taken if step.repeat > 7} == {12}


def test_an_adaptive_plan_says_how_many_trials_it_takes():
    plan = parse(ADAPTIVE + TWO)
    steps, most = expand(plan), expand_most(plan)
    assert (len(steps), len(most)) == (28, 48)
    text = summarise(plan, steps, most, None)
    assert "7 repeats first, then as many as ±2 % needs, at most 12." in text


def test_further_trials_are_announced_once_they_are_fixed():
    plan = parse(ADAPTIVE + TWO)
    announced, taken = [], []

    def take(step: Step) -> Glance:
        taken.append(step)
        return Glance(100.0 if step.repeat % 2 else 150.0)

    drive(plan, take, note_more=lambda steps: announced.append((len(taken), len(steps))))
    # In the turn of the seventh repeat, each of two load points gets 5 more of 2 servers.
    assert announced == [(26, 10), (28, 10)]
    assert len(taken) == 48


@pytest.mark.parametrize("limit", [3, 50, 100, 777, 4999, 100_000])
def test_a_search_finds_the_highest_rate_and_confirms_it(limit: int):
    plan = parse("repeats = 2\n" + SEARCH + SERVER + WORKLOAD)
    results = []

    def take(step: Step) -> Glance:
        return Glance(step.rate_rps, 0.001 if step.rate_rps <= limit else 0.5, 0.0)

    drive(plan, take, note_rate=lambda *result: results.append(result))
    ((_, _, rate, confirmed),) = results
    assert confirmed
    assert rate <= limit
    assert rate >= min(limit, 5000) / 1.05 - 1


def test_a_search_that_is_not_confirmed_goes_down_and_says_so():
    plan = parse("repeats = 2\n" + SEARCH + SERVER + WORKLOAD)
    results = []

    def take(step: Step) -> Glance:
        good = step.phase == "search" and step.rate_rps <= 400
        return Glance(step.rate_rps, 0.001, 0.0 if good else 0.1)

    drive(plan, take, note_rate=lambda *result: results.append(result))
    ((_, _, rate, confirmed),) = results
    assert (confirmed, rate < 400) == (False, True)


def test_what_is_unknown_does_not_meet_a_limit():
    plan = parse(SEARCH + SERVER + WORKLOAD)
    assert plan.max_rate is not None
    assert is_met(plan.max_rate, Glance(100.0, 0.01, 0.0), 100)
    assert not is_met(plan.max_rate, Glance(97.0, 0.01, 0.0), 100)
    for unknown in (Glance(None, 0.01, 0.0), Glance(100.0, None, 0.0), Glance(100.0, 0.01, None)):
        assert not is_met(plan.max_rate, unknown, 100)


def test_the_needed_repeats_are_stein_s():
    # By hand: logs 0, 0.1, 0.2; s = 0.1; t(2) = 4.303; (4.303 * 0.1 / 0.05)² = 74.06.
    values = [1.0, math.exp(0.1), math.exp(0.2)]
    assert repeats_needed(values, math.exp(0.05) - 1) == 75
    # Never fewer than there are, and none more where too few trials have a figure.
    assert repeats_needed([5.0] * 40, 0.02) == 40
    assert repeats_needed([1.0, 2.0, 0.0, 0.0], 0.02) == 0


def test_intervals_of_an_adaptive_plan_cover_as_often_as_they_say():
    draw = random.Random(20)
    covered = 0
    for _ in range(2000):
        logs = [draw.gauss(0, 0.03) for _ in range(60)]
        total = repeats_needed([math.exp(each) for each in logs[:FIRST_REPEATS]], 0.02)
        values = logs[: min(total, 20)]
        error = abs(statistics.mean(values)) / (statistics.stdev(values) / math.sqrt(len(values)))
        covered += error <= t_95(len(values) - 1)
    assert 0.93 <= covered / 2000 <= 0.97
