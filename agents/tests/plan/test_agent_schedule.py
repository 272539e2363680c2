"""A plan becomes its trials: in which order, after which warm-ups, and on which side."""

from __future__ import annotations

from importlib.resources import files

import pytest
from plan_texts import DEMO, SERVER, TWO, WORKLOAD, parse, take_all

from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan.expansion import expand
from loadsheet_agent.plan.reading import read_plan
from loadsheet_agent.run.summary import expected_seconds, summarise
from loadsheet_agent.tools.base import Glance


def test_the_demo_plan_expands_to_what_its_comment_says():
    plan = read_plan(DEMO)
    steps = expand(plan)
    assert len([step for step in steps if not step.is_warmup]) == 36
    assert len([step for step in steps if step.is_warmup]) == 36
    assert plan.load.connections == (1, 8, 64)
    assert {workload.payload_bytes for workload in plan.workloads} == {13}


def test_repeats_of_one_server_are_not_in_a_row():
    measured = [step for step in expand(read_plan(DEMO)) if not step.is_warmup]
    neighbours = zip(measured, measured[1:])
    assert all(one.server.name != two.server.name for one, two in neighbours)


def test_a_warmup_is_right_before_the_trial_it_is_for():
    steps = expand(read_plan(DEMO))
    for warmup, trial in zip(steps, steps[1:]):
        if warmup.is_warmup:
            assert (trial.is_warmup, trial.repeat) == (False, warmup.repeat)
            assert (trial.server, trial.connections) == (warmup.server, warmup.connections)


def test_a_restarted_server_is_warmed_up_every_time():
    started = SERVER + 'start = ["x"]\n' + WORKLOAD
    plan = parse('warmup_s = 1\nrestart = "each-trial"\n' + started)
    assert [step.is_warmup for step in expand(plan)] == [True, False] * 9


def test_a_plan_too_large_for_one_run_is_refused_before_it_runs():
    with pytest.raises(PlanError, match="makes more than 5000 trials"):
        expand(parse("repeats = 1667\n" + SERVER + WORKLOAD))
    with pytest.raises(PlanError, match="characters"):
        parse(SERVER + WORKLOAD + "#" * 200_000)


def test_a_randomised_order_is_a_shuffle_within_each_repeat_and_kept_by_its_seed():
    plan = parse('order = "randomised"\n' + TWO)
    one, two, other = (take_all(plan, seed, lambda _: Glance()) for seed in (1, 1, 2))
    assert one == two
    assert one != other
    assert [step.repeat for step in one] == [1] * 6 + [2] * 6 + [3] * 6
    assert len({step.key for step in one}) == 18


def test_trials_of_a_round_lie_side_by_side_and_share_their_number():
    for order in ("interleaved", "randomised"):
        steps = take_all(parse(f'order = "{order}"\n' + TWO), 3, lambda _: Glance())
        for one, other in zip(steps[::2], steps[1::2]):
            assert {one.server.name, other.server.name} == {"a", "b"}
            assert (one.repeat, one.connections) == (other.repeat, other.connections)


def test_no_server_is_always_measured_first():
    plan = parse("repeats = 4\n[load]\nconnections = [1]\n" + TWO)
    orders = set()
    for seed in range(20):
        names = "".join(step.server.name for step in take_all(plan, seed, lambda _: Glance()))
        first, second, third, fourth = names[:2], names[2:4], names[4:6], names[6:]
        assert (second, fourth) == (first[::-1], third[::-1])
        orders.add(names)
    assert len(orders) == 4


def test_a_server_given_twice_has_two_sides():
    plan = parse(SERVER + SERVER + WORKLOAD)
    assert [server.label for server in plan.servers] == ["a (side A)", "a (side B)"]
    steps = expand(plan)
    assert len({step.key for step in steps}) == len(steps) == 18
    assert "against itself" in summarise(plan, steps, steps, None)


def test_the_plan_for_a_machine_against_itself_is_one():
    plan = parse((files("loadsheet_agent") / "plan.aa.toml").read_text(encoding="utf-8"))
    assert [server.side for server in plan.servers] == ["A", "B"]
    assert plan.restart == "each-trial"


def test_a_number_of_requests_has_no_known_time():
    plan = parse("[load]\nrequests = 1000\n" + SERVER + WORKLOAD)
    assert expected_seconds(plan, expand(plan)) is None
    assert "time unknown" in summarise(plan, expand(plan), expand(plan), None)
