"""The rules over the trials of a cell fire on their fault and are silent on honest noise."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from backend.runs.checks import CHECKS, CheckInput, check_cell
from backend.runs.checks.cell import _least_variation
from backend.runs.checks.dependence import lag_chance, ranks_of
from backend.runs.checks.dip import critical_dip, dip, has_two_modes

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
TRIAL = CheckInput(error_rate=0.0, percentiles_us={"50": 900.0})


def trials(*rates):
    warmup = replace(TRIAL, warmup=True, throughput_rps=1.0)
    return [warmup, *(replace(TRIAL, throughput_rps=rate) for rate in rates)]


def fired(facts, **options):
    return {finding.id for finding in check_cell(facts, **options)}


def test_a_steady_cell_is_silent():
    assert fired(trials(8_000.0, 7_950.0, 8_100.0)) == set()


@pytest.mark.parametrize(
    ("id_", "facts"),
    [
        ("few-trials", trials(8_000.0, 8_010.0)),
        ("few-trials", [*trials(8_000.0, 8_010.0), CheckInput(exit_code=1)]),
        ("spread", trials(8_000.0, 6_700.0, 8_200.0)),
        # Another program took the machine in one trial of five.
        ("spread", trials(8_000.0, 7_900.0, 5_600.0, 8_100.0, 8_050.0)),
        ("drift", trials(8_000.0, 7_800.0, 7_700.0, 7_450.0, 7_300.0)),
        # It falls by a quarter, but not from trial to trial.
        ("drift", trials(8_000, 7_600, 7_700, 7_100, 7_200, 6_900, 6_300, 6_500, 6_000, 5_900)),
        ("two-modes", trials(*[8_000, 8_010, 7_990, 8_020, 6_900, 6_910, 6_920, 6_890])),
        # A slow wave.
        (
            "dependent",
            trials(*[8_000, 8_030, 8_060, 8_080, 8_090, 8_070, 8_040, 8_010, 7_980, 7_960]),
        ),
        # Three of ten: too few for the dip.
        ("two-modes", trials(*range(8_000, 8_070, 10), 6_900, 6_910, 6_920)),
    ],
)
def test_a_cell_fires(id_, facts):
    finding = next(finding for finding in check_cell(facts) if finding.id == id_)
    assert finding.detail.endswith(".")
    assert id_ in CHECKS
    assert id_ in CHECKS


def test_trials_that_tell_something_are_not_few_although_no_throughput_is_known():
    assert fired(trials(None, None, None, None)) == set()
    silent = CheckInput()
    assert "few-trials" in fired([silent] * 4)


def test_a_missing_warmup_fires_only_when_it_is_known_to_be_missing():
    facts = trials(8_000.0, 7_950.0, 8_100.0)
    assert "no-warmup" in fired(facts, warmed_up=False)
    assert "no-warmup" not in fired(facts, warmed_up=True)


def test_trials_that_only_fall_to_half_are_a_collapse():
    assert "collapse" in fired(trials(3_674, 3_203, 477, 5, 0))
    assert "collapse" in fired(trials(8_000, 6_000, 4_000))
    assert "collapse" not in fired(trials(8_000, 6_000, 4_100))
    assert "collapse" not in fired(trials(8_000, 3_000, 3_100))
    assert "collapse" not in fired(trials(8_000, 3_000))
    assert "collapse" not in fired(trials(0, 0, 0))


def test_a_small_drift_a_zigzag_and_three_trials_are_silent():
    assert "drift" not in fired(trials(8_000, 7_950, 7_900, 7_850, 7_800))
    assert "drift" not in fired(trials(8_000, 7_000, 7_500, 7_900, 7_200))
    assert "drift" not in fired(trials(8_000, 7_600, 7_200))


def test_two_close_levels_are_silent():
    assert "two-modes" not in fired(trials(*[8_000] * 4, *[8_050] * 4))


def test_two_trials_apart_or_a_narrow_gap_are_no_second_level():
    assert "two-modes" not in fired(trials(*range(8_000, 8_080, 10), 6_900, 6_910))
    assert "two-modes" not in fired(trials(*range(8_000, 8_350, 50), 7_000, 7_050, 7_100))


def test_nine_trials_and_equal_ones_do_not_depend_on_the_ones_before():
    assert "dependent" not in fired(trials(*range(8_000, 8_090, 10)))
    assert "dependent" not in fired(trials(*[8_000] * 12))


def test_the_chance_of_a_lag_is_that_of_all_orders():
    draw = random.Random(11)
    values = [3.1, 2.7, 2.9, 2.9, 2.2, 1.8, 2.0, 1.1, 1.6, 0.9, 1.2, 1.0]

    def ratio(values):
        ranks = ranks_of(values)
        return sum((after - before) ** 2 for before, after in pairwise(ranks))

    orders = [ratio(draw.sample(values, len(values))) for _ in range(20_000)]
    chance = sum(each <= ratio(values) for each in orders) / len(orders)
    assert lag_chance(values) == pytest.approx(chance, rel=0.5)
    assert lag_chance(values) < 0.005


def test_the_workspace_may_ask_for_more_trials():
    assert "few-trials" in fired(trials(8_000.0, 7_990.0, 8_010.0), min_trials=5)


def test_a_server_that_answers_nothing_breaks_no_rule():
    assert fired(trials(*[0.0] * 10)) == set()


@pytest.mark.parametrize("count", [3, 5, 10, 30])
def test_honest_noise_seldom_fires_however_many_trials_there_are(count):
    draw = random.Random(7)
    cells = [trials(*(draw.gauss(8_000, 240) for _ in range(count))) for _ in range(400)]
    for id_ in ("spread", "drift", "two-modes", "dependent"):
        assert sum(id_ in fired(cell) for cell in cells) <= 8, id_


def test_the_bound_of_a_variation_is_that_of_chi_squared():
    # χ² with 2 and 9 degrees exceeds 5.991 and 16.919 in 5 %.
    assert _least_variation(1.0, 3) == pytest.approx((2 / 5.991) ** 0.5, rel=0.01)
    assert _least_variation(1.0, 10) == pytest.approx((9 / 16.919) ** 0.5, rel=0.01)


def test_the_dip_of_known_samples():
    # Evenly spaced values have one mode: the smallest dip, 1 / (2n).
    assert dip(range(20)) == pytest.approx(1 / 40)
    # Two points with half of the values each: the largest dip, 1 / 4.
    assert dip([0.0] * 500 + [1.0] * 500) == pytest.approx(0.25, abs=0.002)
    with pytest.raises(ValueError, match="at least one"):
        dip([])


def test_the_dip_does_not_depend_on_place_or_scale():
    draw = random.Random(3)
    values = [draw.choice((0.0, 4.0)) + draw.gauss(0, 1) for _ in range(60)]
    assert dip([500 - 3 * value for value in values]) == pytest.approx(dip(values))


def test_the_dip_of_uniform_values_has_the_published_median():
    # Hartigan & Hartigan (1985), table 1: 0.0978 for 10 values, 0.0730 for 20.
    draw = random.Random(5)
    for count, median in ((10, 0.0978), (20, 0.0730)):
        dips = sorted(dip([draw.random() for _ in range(count)]) for _ in range(1_500))
        assert dips[750] == pytest.approx(median, rel=0.02)


def test_critical_dips_fall_evenly():
    limits = [critical_dip(count) for count in range(8, 700)]
    assert all(after < before for before, after in pairwise(limits))
    assert critical_dip(10) == pytest.approx(0.1495)


def test_few_values_have_no_modes():
    assert not has_two_modes([1.0, 1.0, 1.0, 9.0, 9.0, 9.0])


def interrupted(starts, minutes):
    return [
        CheckInput(
            throughput_rps=1_000.0 + at,
            server_start=start,
            started_at=BEGIN + timedelta(minutes=minute),
            finished_at=BEGIN + timedelta(minutes=minute, seconds=30),
        )
        for at, (start, minute) in enumerate(zip(starts, minutes, strict=True))
    ]


@pytest.mark.parametrize(
    ("starts", "minutes", "ids"),
    [
        ([1, 1, 1], [0, 1, 2], set()),
        # The plan restarts the server before each repeat; another load point met start 3 alone.
        ([1, 2, 3], [0, 1, 2], set()),
        ([1, 2, 4], [0, 1, 2], set()),
        ([1, 1, 2], [0, 1, 2], {"restarted"}),
        ([None, None, 2], [0, 1, 2], set()),
        ([1, 1, 1], [0, 1, 30], {"paused"}),
        # Other servers are measured in between.
        ([1, 1, 1], [0, 30, 60], set()),
        ([1, 1, 1], [0, 1, 9], set()),
    ],
)
def test_what_came_between_the_trials_is_told(starts, minutes, ids):
    assert fired(interrupted(starts, minutes)) == ids


FINE = {
    "latency_mean_us": 1_003.4,
    "latency_max_us": 9_137.0,
    "percentiles_us": {"50": 934.0, "99": 2_411.0},
}
COPIED = (8_000.0, 8_000.2, 8_000.4, 7_999.9, 7_999.7)


@pytest.mark.parametrize(
    ("rates", "facts", "is_copied"),
    [
        (COPIED, {}, True),
        # With three or four trials, chance may do it.
        (COPIED[:4], {}, False),
        ((8_000.0, 8_004.0, 8_008.0, 7_996.0, 7_992.0), {}, False),
        # A schedule, or a fixed wait.
        (COPIED, {"loop": "open"}, False),
        (COPIED, {"offered_rps": 8_000.0}, False),
        (COPIED, {"percentiles_us": {"50": 100_200.0, "99": 101_300.0}}, False),
        # Other rates beside the same latencies.
        ((8_000.0, 7_400.0), FINE, True),
        # The maximum in whole milliseconds, fewer than three different figures, and small ones.
        ((8_000.0, 7_400.0), {**FINE, "latency_max_us": 9_000.0}, False),
        ((8_000.0, 7_400.0), {**FINE, "percentiles_us": {"50": 9_137.0, "99": 9_137.0}}, False),
        ((8_000.0, 7_400.0), {**FINE, "percentiles_us": {"50": 93.4, "99": 99.7}}, False),
        # Whole milliseconds are equal by chance.
        (
            (8_000.0, 7_400.0),
            {
                "latency_mean_us": 1_200.0,
                "latency_max_us": 31_000.0,
                "percentiles_us": {"50": 1_000.0, "99": 3_000.0},
            },
            False,
        ),
    ],
)
def test_trials_that_agree_too_well(rates, facts, is_copied):
    copies = [CheckInput(**{"throughput_rps": rate, **facts}) for rate in rates]
    assert ("too-alike" in {finding.id for finding in check_cell(copies)}) is is_copied


def test_the_text_says_when_trials_are_too_alike():
    for words in ("5 or more trials", "less than 0.01 %", "3 or more different", "100 µs"):
        assert words in CHECKS["too-alike"].explanation


def test_two_of_several_trials_with_the_same_latencies():
    own = [replace(CheckInput(**FINE), latency_max_us=9_137.0 + at) for at in (0, 3, 0)]
    measured = [replace(trial, throughput_rps=8_000.0 + 90 * at) for at, trial in enumerate(own)]
    details = {finding.id: finding.detail for finding in check_cell(measured)}
    assert details["too-alike"] == "2 trials have the same 4 latencies."
