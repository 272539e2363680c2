"""The rules over the points of a comparison."""

from datetime import UTC, datetime, timedelta

import pytest

from backend.runs.checks.comparison import ComparedPoint, at_ceiling, check_comparison

TODAY = datetime(2026, 3, 1, tzinfo=UTC)


def point(server, place=64, **figures):
    return ComparedPoint(series=server, server=server, place=place, **figures)


def fired(points):
    return set(check_comparison(points))


def test_nothing_known_fires_nothing():
    assert fired([point("nginx"), point("apache")]) == set()
    assert fired([]) == set()
    assert at_ceiling([]) == []


def test_a_ceiling_is_seen_below_slower_servers():
    rates = {"a": 9_990.0, "b": 10_000.0, "c": 9_950.0, "slow": 4_000.0}
    points = [point(name, throughput_rps=rate) for name, rate in rates.items()]
    assert [member.server for member in at_ceiling(points)] == ["a", "b", "c"]


def test_two_servers_or_versions_of_one_make_no_ceiling():
    assert at_ceiling([point(name, throughput_rps=1_000.0) for name in ("a", "b")]) == []
    versions = [
        ComparedPoint(series=version, server="a", place=64, throughput_rps=1_000.0)
        for version in range(5)
    ]
    assert at_ceiling(versions) == []


def test_servers_below_the_fastest_make_no_ceiling():
    rates = {"fast": 20_000.0, "a": 9_990.0, "b": 10_000.0, "c": 9_950.0}
    assert at_ceiling([point(name, throughput_rps=rate) for name, rate in rates.items()]) == []


def sweep(rates):
    return [
        point("nginx", load, connections=load, throughput_rps=rate) for load, rate in rates.items()
    ]


def test_a_throughput_that_ignores_the_load_is_flat():
    flat = sweep({8: 64.0, 32: 64.4, 128: 63.8})
    assert check_comparison(flat) == {"flat-over-load": flat}
    assert fired(sweep({8: 64.0, 32: 90.0, 128: 63.8})) == set()
    assert fired(sweep({8: 64.0, 16: 64.4, 24: 63.8})) == set()
    assert fired(sweep({8: 64.0, 128: 63.8})) == set()


def at(server, days):
    day = TODAY - timedelta(days=days)
    return point(server, measured=(day, day + timedelta(hours=1)))


def test_series_measured_months_apart_are_told():
    assert fired([at("nginx", 0), at("apache", 180)]) == {"far-apart"}
    assert fired([at("nginx", 0), at("apache", 20)]) == set()


def test_runs_spread_over_months_are_not_apart_where_they_overlap():
    spread = point("nginx", measured=(TODAY - timedelta(days=90), TODAY))
    assert fired([spread, at("apache", 45)]) == set()


@pytest.mark.parametrize(
    ("trial_s", "requests", "ids"),
    [
        (60.0, 480_000.0, {"unequal-length"}),
        # As long, and slower.
        (2.0, 900.0, set()),
        # As many requests, and slower.
        (20.0, 16_000.0, set()),
    ],
)
def test_trials_of_other_lengths_are_told(trial_s, requests, ids):
    short = point("nginx", trial_s=2.0, requests=16_000.0)
    assert fired([short, point("apache", trial_s=trial_s, requests=requests)]) == ids


def test_other_numbers_of_threads_are_told():
    eight, one = point("a", threads=frozenset({8})), point("b", threads=frozenset({1}))
    assert fired([eight, one]) == {"unequal-threads"}
    assert fired([eight, point("b", threads=frozenset({8})), point("c")]) == set()


def turns(server, ordinals):
    return point(server, turns={("run", turn): at for turn, at in enumerate(ordinals)})


def test_an_order_that_never_changes_is_told_where_it_is_no_chance():
    first, second = turns("a", (1, 3, 5, 7, 9)), turns("b", (2, 4, 6, 8, 10))
    assert fired([first, second]) == {"fixed-order"}
    assert fired([turns("a", (1, 3, 5, 7, 10)), turns("b", (2, 4, 6, 8, 9))]) == set()
    assert fired([turns("a", (1, 3)), turns("b", (2, 4))]) == set()


def test_many_servers_need_few_rounds():
    many = [turns(f"server {n}", (n, 300 + n)) for n in range(200)]
    assert fired(many) == {"fixed-order"}


def test_queues_of_different_length_are_told_where_both_are_known():
    assert "unequal-backlog" in fired([point("a", backlog="500"), point("b", backlog="5000")])
    assert fired([point("a", backlog="500"), point("b", backlog="500"), point("c")]) == set()


@pytest.mark.parametrize(
    ("a", "b", "ids"),
    [
        ([0, 1, 2], [3, 4, 5], {"fixed-order"}),
        ([0, 1, 3], [2, 4, 5], set()),
        ([0, 1], [2, 3], set()),
    ],
)
def test_servers_measured_one_after_the_other_are_told(a, b, ids):
    assert fired([turns("a", a), turns("b", b)]) == ids


def loaded(server, *connections):
    return [point(server, load, connections=load) for load in connections]


def test_a_server_at_other_loads_than_all_others_is_told():
    nginx, twisted = loaded("nginx", 1_000), loaded("Twisted", 4_000)
    assert check_comparison([*nginx, *twisted])["no-common-load"] == [*nginx, *twisted]
    third = loaded("third", 64, 4_000)
    assert check_comparison([*nginx, *twisted, *third])["no-common-load"] == nginx


def test_one_load_in_common_is_enough_and_one_server_has_none_to_share():
    assert "no-common-load" not in fired([*loaded("a", 1, 8), *loaded("b", 8, 64)])
    assert fired(loaded("a", 1, 8)) == set()
    # Another workload is another question.
    json = [ComparedPoint(series="b", server="b", place=8, connections=8, workload="json")]
    assert "no-common-load" not in fired([*loaded("a", 1), *json])
    # In an open loop each server may have been taken to its own limit.
    assert fired([point("a", 100.0), point("b", 200.0)]) == set()


def test_a_warmup_of_some_servers_only_is_told():
    a, b = point("a", warmed_up=True), point("b", warmed_up=False)
    assert fired([a, b]) == {"unequal-warmup"}
    assert not fired([a, point("b", warmed_up=True)])
    assert not fired([a, point("b")])
    assert not fired([a, point("b", place=128, warmed_up=False)])
