"""Every ratio that an answer tells counts for its trust: for the level, and for the reasons."""

import pytest
from django.db.models import F

from backend.analysis.compare.tests.ranked_series import around, ask, server
from backend.runs.models import Trial
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

ONE_START = (1, 1, 1)
FAR = 100.0
FEW = "A server was measured at fewer than 3 starts, and other starts may give other figures."
TREND = "x=version&view=trend&series=server"


@pytest.fixture
def lab():
    return make_workspace("lab")


def trust(lab, text=""):
    return ask(lab, text)["answer"]["trust"]


def texts(lab, text=""):
    return [reason["text"] for reason in trust(lab, text)["reasons"]]


def measure_last(lab, name, connections=64):
    """As if all trials of a server had been measured after those of the others."""
    trials = Trial.objects.filter(cell__series__server__name=name, cell__connections=connections)
    trials.update(ordinal=F("ordinal") + 1000)
    lab.changed()


def two_versions(**more):
    rates = {"1.9": 1000, "1.10": 1100}
    return [server("nginx", rate, version=version, **more) for version, rate in rates.items()]


def test_two_versions_of_one_start_ask_for_care(lab):
    make_run(lab, *two_versions(starts=ONE_START))
    assert "1.10 serves 1.100×" in ask(lab, TREND)["answer"]["sentence"]
    assert trust(lab, TREND)["level"] == "care"
    assert texts(lab, TREND) == [FEW]


def test_two_versions_one_after_the_other_ask_for_care(lab):
    make_run(lab, *two_versions(), in_turn=False)
    (text,) = texts(lab, TREND)
    assert text.startswith("Nginx 1.10 and 1.9 were measured one after the other")


def test_two_versions_without_a_ratio_decide_nothing(lab):
    """One of them has a trial without an answer, so they are no pair."""
    none = CellSpec("nginx", version="1.10", rates=(0.0, 1000.0, 1000.0), p50_us=None)
    make_run(lab, server("nginx", 1000, version="1.9"), none)
    assert "too few versions" in ask(lab, TREND)["answer"]["sentence"]
    assert "There are too few versions to find lasting changes." in texts(lab, TREND)
    assert trust(lab, TREND)["level"] == "care"


def test_a_change_between_versions_that_were_measured_apart_asks_for_care(lab):
    versions = [(f"2.{minor}.0", 5000 if minor < 7 else 4200) for minor in range(12)]
    cells = [server("trendy", rate, version=version) for version, rate in versions]
    make_run(lab, *cells)
    assert "regressed with version 2.7.0" in ask(lab, TREND)["answer"]["sentence"]
    assert trust(lab, TREND)["level"] == "solid"
    other = make_workspace("other")
    make_run(other, *cells, in_turn=False)
    (text,) = texts(other, TREND)
    assert text.startswith("Trendy 2.7.0 and trendy 2.6.0 were measured one after the other")


def test_a_saturation_point_of_one_start_asks_for_care(lab):
    rates = {1: 1000, 8: 8000, 64: 12_000, 256: 12_010}
    make_run(
        lab, *(server("a", rate, connections=x, starts=ONE_START) for x, rate in rates.items())
    )
    assert "saturates at 64" in ask(lab, "view=tradeoff")["answer"]["sentence"]
    assert texts(lab, "view=tradeoff") == [FEW]


def test_the_highest_loads_under_a_limit_of_one_start_ask_for_care(lab):
    """Also where noise hides who is ahead."""
    make_run(lab, *(server(name, 1000, FAR, starts=ONE_START) for name in "ab"))
    assert FEW not in texts(lab)
    assert "With p99 under 10 ms" in ask(lab, "limit=10000")["finding"]
    assert FEW in texts(lab, "limit=10000")


def test_the_reason_names_the_series_with_the_better_tail(lab):
    """Not the runner-up: noise hides only the throughput of c."""
    make_run(
        lab,
        server("a", 1500, p50_us=15_000.0),
        server("b", 1200, p50_us=12_000.0),
        server("c", 1000, FAR, p50_us=400.0),
    )
    measure_last(lab, "c")
    assert "c 23.0 has a lower p99 than a 23.0" in ask(lab)["answer"]["sentence"]
    apart = [text for text in texts(lab) if "one after the other" in text]
    assert [text.partition(" were")[0] for text in apart] == ["A 23.0 and c 23.0"]


def crossing(spread=1.0):
    """a leads at 64 connections, b at 1."""
    return [
        *(server("a", 1000, connections=1), server("a", 12_000, spread)),
        *(server("b", 1400, connections=1), server("b", 9000 if spread == 1 else 11_900, spread)),
    ]


def test_a_lead_at_another_load_that_was_measured_apart_asks_for_care(lab):
    make_run(lab, *crossing())
    assert ask(lab)["answer"]["sentence"].endswith("; b 23.0 is ahead at 1 connection")
    assert trust(lab)["level"] == "solid"
    measure_last(lab, "b", connections=1)
    (text,) = texts(lab)
    assert text.startswith("B 23.0 and a 23.0 were measured one after the other")


def test_a_lead_at_another_load_is_an_answer_where_noise_hides_the_ranked_one(lab):
    make_run(lab, *crossing(FAR))
    told = ask(lab)["answer"]
    assert told["sentence"].startswith("Too noisy to rank")
    assert "b 23.0 is ahead of a 23.0 at 1 connection" in told["margin"]
    assert told["trust"]["level"] == "care"


def test_a_series_that_is_behind_is_an_answer_where_noise_hides_the_leader(lab):
    rates = {"a": around(1000, FAR), "b": around(1010, FAR), "c": around(100)}
    make_run(lab, *(CellSpec(name, rates=own) for name, own in rates.items()))
    told = ask(lab)["answer"]
    assert told["margin"].endswith(". c 23.0 is behind b 23.0")
    assert told["trust"]["level"] == "care"
