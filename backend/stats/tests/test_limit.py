from hypothesis import given
from hypothesis import strategies as st

from backend.stats.limit import Bounded, highest_under

UNDER, CLOSE, OVER = (900, 850, 950), (990, 950, 1030), (1200, 1100, 1300)


def points(*each):
    return [Bounded(2**at, *figures) for at, figures in enumerate(each)]


def test_the_highest_load_under_the_limit_and_the_next_one():
    found = highest_under(points(UNDER, UNDER, UNDER, OVER), 1000)
    assert (found.low, found.x, found.high, found.next, found.over) == (4, 4, 4, 8, ())


def test_an_interval_across_the_limit_is_neither_surely_under_nor_over():
    found = highest_under(points(UNDER, CLOSE, (1010, 980, 1040), OVER), 1000)
    assert (found.low, found.x, found.high) == (1, 2, 4)


def test_a_point_that_does_not_count_never_meets_the_limit():
    failing = Bounded(8, 10, 9, 11, counts=False)
    found = highest_under([*points(UNDER, UNDER), failing], 1000)
    assert (found.x, found.high, found.next) == (2, 2, 8)


def test_a_lower_load_over_the_limit_is_named():
    found = highest_under(points(UNDER, OVER, UNDER), 1000)
    assert (found.x, found.over, found.next) == (4, (2,), None)


def test_an_unknown_figure_meets_no_limit():
    found = highest_under(points(UNDER, (None, None, None)), 1000)
    assert (found.x, found.high, found.next) == (1, 1, 2)


def test_without_an_interval_nothing_is_sure():
    found = highest_under(points((900, None, None), (1200, None, None)), 1000)
    assert (found.low, found.x, found.high) == (None, 1, 2)


def test_nothing_under_the_limit():
    found = highest_under(points(OVER, OVER), 1000)
    assert (found.low, found.x, found.high, found.next) == (None, None, None, 1)


figures = st.tuples(st.floats(1, 100), st.floats(0, 50), st.floats(0, 50), st.booleans()).map(
    lambda f: (f[0], f[0] - f[1], f[0] + f[2], f[3])
)
sweeps = st.dictionaries(st.integers(1, 1000), figures).map(
    lambda by_load: [Bounded(x, *each) for x, each in by_load.items()]
)


@given(sweeps, st.floats(1, 100))
def test_loads_are_measured_and_in_order(sweep, limit):
    found = highest_under(sweep, limit)
    known = [x for x in (found.low, found.x, found.high) if x is not None]
    assert known == sorted(known)
    assert set(known) <= {point.x for point in sweep if point.counts}
    assert found.low is None or found.x is not None
    assert found.x is None or found.high is not None


@given(sweeps, st.floats(1, 100), st.floats(0, 100))
def test_a_looser_limit_never_bears_less(sweep, limit, more):
    one, two = highest_under(sweep, limit), highest_under(sweep, limit + more)
    for name in ("low", "x", "high"):
        assert (getattr(one, name) or 0) <= (getattr(two, name) or 0)
