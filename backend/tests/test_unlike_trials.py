"""Trials that differ tenfold or more have no level: no sentence states their mean, and their range
is no interval."""

import pytest

from backend.testing.lab import Lab
from backend.testing.made.printing import made_trial, print_trial, print_trials

pytestmark = pytest.mark.django_db

RANGE = "range of the trials, which differ tenfold or more"


@pytest.fixture(autouse=True)
def _files(settings, tmp_path):
    settings.DATA_DIR = tmp_path


@pytest.fixture
def lab():
    return Lab()


def with_p99(*p99s_ms, rate=8_000):
    """An output of wrk for each p99."""
    return [_output(rate * (1 + at / 1_000), p99, at) for at, p99 in enumerate(p99s_ms)]


def _output(rate, p99_ms, seed):
    def set_tail(figures):
        figures.percentiles_us["99"] = 1_000 * p99_ms
        figures.max_us = 2_000 * p99_ms

    return print_trial("wrk", made_trial(rate, seed=seed), set_tail)


def slower(count=3):
    return print_trials("wrk", [6_000 * (1 + at / 1_000) for at in range(count)])


def gate(lab, run, requirement):
    asked = {"workspace": lab.tenant.workspace.slug, "candidate": f"run={run}", "baseline": "main"}
    answer = lab.client.get(
        "/api/v1/gate", {**asked, "require": requirement}, headers=lab.tenant.headers
    )
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_recommendation_has_their_range(lab):
    lab.upload({"alpha": with_p99(10, 10.2, 500), "beta": slower()})
    assert "req/s at p99 10 to 500 ms, in this run" in lab.ask()["answer"]["sentence"]


def test_a_series_alone_has_their_range(lab):
    lab.upload({"alpha": with_p99(10, 10.2, 500)})
    finding = lab.ask(metric="p99")["finding"]
    assert finding == (
        "alpha 1.0 answers 99 % of its requests within 10 to 500 ms at 10 connections"
    )


def test_two_of_them_have_no_mean_either(lab):
    lab.upload({"alpha": with_p99(10, 500)})
    answer = lab.ask(metric="p99")
    measure = answer.point("alpha")["metrics"]["p99"]
    assert (measure["low"], measure["high"], measure["interval"]) == (10_000, 500_000, RANGE)
    assert "within 10 to 500 ms" in answer["finding"]


def test_a_limit_above_all_of_them_is_not_kept_for_certain(lab):
    lab.upload({"alpha": with_p99(10, 10.2, 200), "beta": slower()})
    answer = lab.ask(limit="300000")
    assert answer.row("alpha")["limit_doubt"] == "p99 may be over 300 ms: 10 to 200 ms"
    capacity = answer["capacity"]["rows"][0]
    assert (capacity["x"], capacity["low"]) == (10, None)
    assert answer["answer"]["trust"]["level"] == "care"


def test_a_build_is_told_the_same_of_both_sides(lab):
    before = {"started_at": "2026-01-30T12:00:00Z", "labels": {"branch": "main"}}
    lab.upload({"alpha": with_p99(10, 10.2, 200)}, run=before)
    new = lab.upload({"alpha": with_p99(10.1, 10.3, 201)})
    (row,) = gate(lab, new, "p99 < +50%")["rows"]
    for side in ("baseline", "candidate"):
        assert row[side]["interval"] == RANGE
    assert row["change"].endswith(", 10 to 200 ms → 10.1 to 201 ms")
    (limited,) = gate(lab, new, "p99 < 300ms")["rows"]
    assert limited["verdict"] == "too_noisy"
    assert limited["change"].startswith("10.1 to 201 ms [")
