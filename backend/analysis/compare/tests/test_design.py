"""The answer says what its interval does not allow for: single starts, and order and time."""

from datetime import timedelta

import pytest
from django.db.models import F

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Trial
from backend.testing.lab import Lab
from backend.testing.made.printing import print_trials
from backend.testing.rows import HELLO, STARTED, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

NEAR = (1.0, 1.002, 0.998)
JSON = {**HELLO, "name": "json", "path": "/json"}
ONE_START, NO_START = (1, 1, 1), (None, None, None)
FEW = "A server was measured at fewer than 3 starts, and other starts may give other figures."
UNKNOWN = "It is unknown how often a server was started, and other starts may give other figures."


@pytest.fixture
def lab():
    return make_workspace("lab")


def ask(workspace, text=""):
    query = CompareQuery.parse(text)
    return plain_figures(compare(query, workspace_ids=[workspace.pk]))


def trust(workspace, text=""):
    return ask(workspace, text)["answer"]["trust"]


def texts(workspace, text=""):
    return [reason["text"] for reason in trust(workspace, text)["reasons"]]


def server(name, rate, shares=NEAR, **more):
    return CellSpec(name, rates=tuple(rate * share for share in shares), **more)


def pair(**more):
    return server("fast", 1600, **more), server("slow", 1000, **more)


def test_a_start_for_each_repeat_is_solid_and_the_answer_says_in_this_run(lab):
    make_run(lab, *pair())
    told = ask(lab)["answer"]
    assert told["sentence"].startswith("Take fast 23.0 at 64 connections: ")
    assert told["sentence"].endswith(", in this run")
    assert told["trust"]["level"] == "solid"


@pytest.mark.parametrize(
    ("starts", "text", "remedy"),
    [
        (ONE_START, FEW, 'Set `restart = "each-repeat"` in the plan, or measure 3 runs.'),
        ((1, 1, 2), FEW, 'Set `restart = "each-repeat"` in the plan, or measure 3 runs.'),
        (NO_START, UNKNOWN, "Measure with the agent, which records each start, or measure 3 runs"),
    ],
)
def test_one_start_of_a_server_asks_for_care(lab, starts, text, remedy):
    make_run(lab, *pair(starts=starts))
    told = ask(lab)["answer"]
    assert told["sentence"].endswith(", in this run")
    assert told["trust"]["level"] == "care"
    (reason,) = told["trust"]["reasons"]
    assert reason["text"] == text
    assert reason["remedy"].startswith(remedy)


def test_servers_that_are_level_at_one_start_ask_for_care_too(lab):
    make_run(lab, server("a", 1000, starts=ONE_START), server("b", 1002, starts=ONE_START))
    assert "are level" in ask(lab)["answer"]["sentence"]
    assert texts(lab) == [FEW]


def test_what_noise_hides_has_no_further_reason(lab):
    wide = (1.0, 1.2, 0.8)
    make_run(lab, *(server(name, 1000, wide, starts=ONE_START) for name in "ab"))
    assert trust(lab)["level"] == "noisy"
    assert FEW not in texts(lab)


def test_three_runs_are_three_starts(lab):
    for _ in range(3):
        make_run(lab, *pair(starts=ONE_START))
    told = ask(lab)["answer"]
    assert told["trust"]["level"] == "solid"
    assert "in this run" not in told["sentence"]


def test_a_limit_that_one_start_keeps_asks_for_care(lab):
    make_run(lab, *pair(starts=ONE_START), server("late", 500, p50_us=30_000.0))
    assert FEW in texts(lab, "limit=10000")
    slow = server("slow", 1000, p50_us=30_000.0, starts=ONE_START)
    other = make_workspace("other")
    make_run(other, server("fast", 1600, starts=ONE_START), slow)
    told = ask(other, "limit=10000")["answer"]
    assert told["sentence"].endswith(", in this run")
    assert FEW in [reason["text"] for reason in told["trust"]["reasons"]]


@pytest.mark.parametrize("text", ["view=ratios", "facet=workload"])
def test_workloads_of_one_start_give_one_reason(lab, text):
    cells = [each for workload in (HELLO, JSON) for each in pair(workload=workload)]
    make_run(lab, *cells)
    assert trust(lab, text)["level"] == "solid"
    other = make_workspace("other")
    cells = [each for w in (HELLO, JSON) for each in pair(workload=w, starts=ONE_START)]
    make_run(other, *cells)
    assert texts(other, text) == [FEW]


def test_a_restart_between_trials_is_answered_by_a_start_for_each(lab):
    """A level shift: more trials of these two starts would show nothing more."""
    shift = (1.0, 1.01, 1.0, 1.2, 1.21, 1.2)
    cells = [
        server("a", 1000, shift, starts=(1, 1, 1, 3, 3, 3)),
        server("b", 1010, shift[::-1], starts=(2, 2, 2, 4, 4, 4)),
    ]
    make_run(lab, *cells)
    judged = trust(lab)
    assert judged["level"] == "noisy"
    assert judged["reasons"][0]["remedy"].startswith("A server was restarted between its ")
    assert "each-repeat" in judged["reasons"][0]["remedy"]


def test_one_server_after_the_other_asks_for_care(lab):
    make_run(lab, *pair(), in_turn=False)
    judged = trust(lab)
    assert judged["level"] == "care"
    (reason,) = judged["reasons"]
    assert reason["check"] == "fixed-order"
    assert reason["text"].startswith(
        "Fast 23.0 and slow 23.0 were measured one after the other, so"
    )
    assert reason["remedy"].startswith("Measure the servers in turn")


def test_times_of_the_trials_tell_one_server_after_the_other(lab):
    """The numbers of files that were uploaded together need not be their order."""
    run = make_run(lab, *pair())
    trials = Trial.objects.filter(cell__run=run, warmup=False)
    for at, trial in enumerate(trials.order_by("cell__series__server__name", "ordinal")):
        began = run.started_at + timedelta(minutes=at)
        Trial.objects.filter(pk=trial.pk).update(started_at=began)
    lab.changed()
    judged = trust(lab)
    assert judged["level"] == "care"
    (reason,) = judged["reasons"]
    assert reason["text"].startswith("Fast 23.0 and slow 23.0 were measured one after the other")


def test_a_server_behind_that_was_measured_apart_asks_for_care(lab):
    """The answer says that the winner is ahead of it."""
    make_run(lab, *pair(), server("third", 500), server("last", 300))
    last = Trial.objects.filter(cell__series__server__name="last")
    last.update(ordinal=F("ordinal") + 1000)
    lab.changed()
    (text,) = texts(lab)
    assert text.startswith("Fast 23.0 and last 23.0 were measured one after the other")


def test_one_order_in_every_round_asks_for_care(lab):
    shares = (1.0, 1.002, 0.998, 1.001, 0.999)
    make_run(lab, server("fast", 1600, shares), server("slow", 1000, shares))
    for name in ("fast", "slow"):
        trials = Trial.objects.filter(cell__series__server__name=name, warmup=False)
        for repeat, trial in enumerate(trials.order_by("ordinal")):
            Trial.objects.filter(pk=trial.pk).update(repeat=repeat)
    lab.changed()
    (reason,) = trust(lab)["reasons"]
    assert reason["text"].startswith(
        "Fast 23.0 and slow 23.0 were measured in the same order in every "
    )
    assert reason["check"] == "fixed-order"


def test_half_a_day_between_two_series_of_one_run(lab):
    make_run(lab, *pair(), in_turn=False)
    for name, hours in (("fast", 0), ("slow", 12)):
        trials = Trial.objects.filter(cell__series__server__name=name)
        trials.update(started_at=STARTED + timedelta(hours=hours))
    lab.changed()
    (reason,) = trust(lab)["reasons"]
    told = "Fast 23.0 and slow 23.0 were measured one after the other, 12 h apart, so"
    assert reason["text"].startswith(told)


@pytest.mark.parametrize(("hours", "level"), [(0, "solid"), (12, "care")])
def test_hours_between_two_runs(lab, hours, level):
    make_run(lab, server("fast", 1600))
    make_run(lab, server("slow", 1000), started_at=STARTED + timedelta(hours=hours))
    assert trust(lab)["level"] == level
    if hours:
        told = "The trials of fast 23.0 and slow 23.0 are 12 h apart, and the machine may have "
        assert texts(lab)[0].startswith(told)


def test_days_between_three_runs_of_each_are_in_the_interval(lab):
    for day in range(3):
        make_run(lab, server("fast", 1600), started_at=STARTED + timedelta(days=day))
        make_run(lab, server("slow", 1000), started_at=STARTED + timedelta(days=20 + day))
    assert trust(lab)["level"] == "solid"


@pytest.mark.parametrize(
    ("in_order", "start", "text"),
    [
        (False, None, None),
        (True, None, "Alpha 1.0 and beta 1.0 were measured one after the other, so"),
        (False, 0, UNKNOWN),
        (False, 1, FEW),
    ],
)
def test_an_upload_says_starts_and_order(in_order, start, text):
    """The agent counts starts from 1."""

    def edit(trial):
        if start is not None:
            trial["load"]["start"] = start

    lab = Lab()
    outputs = {
        name: print_trials("wrk", [rate, rate + 10, rate + 20])
        for name, rate in (("alpha", 8_000.0), ("beta", 4_000.0))
    }
    lab.upload(outputs, in_order=in_order, edit=edit)
    judged = lab.ask()["answer"]["trust"]
    told = [reason["text"] for reason in judged["reasons"]]
    assert judged["level"] == ("solid" if text is None else "care"), told
    assert text is None or any(each.startswith(text) for each in told)
