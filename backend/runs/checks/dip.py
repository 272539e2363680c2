"""Hartigan's dip: how far trials are from having one mode.

Hartigan, J. A. & Hartigan, P. M. (1985), The Dip Test of Unimodality, Annals of Statistics 13(1);
the search for the modal interval follows Hartigan, P. M. (1985), Algorithm AS 217.
"""

import operator
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

# Of n uniform values, the dip that 2 % of samples exceed. Of all distributions with one mode, the
# uniform has the largest dips: normal values exceed it in 0.5 %. By simulation:
# `scripts/bench truth-checks --dips`.
CHANCE = 0.02
CRITICAL_DIPS = (
    (8, 0.1654),
    (10, 0.1495),
    (12, 0.1409),
    (15, 0.1286),
    (20, 0.1149),
    (30, 0.0963),
    (50, 0.0766),
    (100, 0.0560),
    (200, 0.0401),
    (500, 0.0261),
)
LEAST_VALUES = 8


def has_two_modes(values: Sequence[float]) -> bool:
    """Whether the dip of at least 8 values rejects one mode at the level of 2 %."""
    return len(values) >= LEAST_VALUES and dip(values) > critical_dip(len(values))


def critical_dip(count: int) -> float:
    """The dip of `count` uniform values that is exceeded in 2 %, between the table's rows.

    √n times the dip changes slowly with n, so it is what lies between the rows.
    """
    sizes = [size for size, _ in CRITICAL_DIPS]
    after = min(max(bisect_left(sizes, count), 1), len(sizes) - 1)
    (low, low_dip), (high, high_dip) = CRITICAL_DIPS[after - 1 : after + 1]
    scaled_low, scaled_high = low_dip * low**0.5, high_dip * high**0.5
    # Evenly in 1/n, so that it settles for large n.
    share = min(max((1 / low - 1 / count) / (1 / low - 1 / high), 0.0), 1.0)
    return float((scaled_low + share * (scaled_high - scaled_low)) / count**0.5)


def dip(values: Sequence[float]) -> float:
    """The largest distance of the distribution of values from the nearest one with one mode.

    Between 1/(2n) and 1/4. Raises ValueError without values.
    """
    if not values:
        raise ValueError("expected at least one value, got none")
    x = sorted(values)
    low, high, widest = 0, len(x) - 1, 1.0
    while low < high:
        below, above = _hull(x, low, high, operator.lt), _hull(x, low, high, operator.gt)
        gap, inner_low, inner_high = _modal_interval(x, below, above)
        if gap < widest:
            break
        left = [vertex for vertex in below if vertex <= inner_low]
        right = [vertex for vertex in above if vertex >= inner_high]
        widest = max(widest, _deviation(x, left, 1), _deviation(x, right, -1))
        if (inner_low, inner_high) == (low, high):
            break
        low, high = inner_low, inner_high
    return widest / (2 * len(x))


def _hull(
    x: Sequence[float], low: int, high: int, turns: Callable[[float, float], bool]
) -> list[int]:
    """The vertices of a bound of the steps (x[i], i), from `low` to `high`.

    `turns`: `lt` of the slopes for the convex bound, which is below, `gt` for the concave one.
    """
    vertices: list[int] = []
    for point in range(low, high + 1):
        while len(vertices) > 1:
            before, last = vertices[-2:]
            old = (last - before) * (x[point] - x[last])
            new = (point - last) * (x[last] - x[before])
            if turns(old, new):
                break
            vertices.pop()
        vertices.append(point)
    return vertices


def _modal_interval(
    x: Sequence[float], below: Sequence[int], above: Sequence[int]
) -> tuple[float, int, int]:
    """The widest gap between the bounds, and the vertices below and above that enclose it."""
    widest = (0.0, below[0], above[-1])
    for vertex in (*below[1:-1], *above[1:-1]):
        gap = _height(x, above, vertex) - _height(x, below, vertex) + 1
        if gap >= widest[0]:
            low = max(index for index in below if index <= vertex)
            high = min(index for index in above if index >= vertex)
            widest = (gap, low, high)
    return widest


def _height(x: Sequence[float], vertices: Sequence[int], point: int) -> float:
    """The height of a bound at x[point], in steps."""
    after = min(max(bisect_left(vertices, point), 1), len(vertices) - 1)
    start, end = vertices[after - 1], vertices[after]
    if x[end] == x[start]:
        return float(point)
    return start + (x[point] - x[start]) * (end - start) / (x[end] - x[start])


def _deviation(x: Sequence[float], vertices: Sequence[int], sign: int) -> float:
    """How far the steps are from the lines between the vertices, in steps; at least 1."""
    widest = 1.0
    for start, end in pairwise(vertices):
        if end - start < 2 or x[end] == x[start]:
            continue
        for point in range(start, end + 1):
            distance = sign * (point - _height(x, (start, end), point)) + 1
            widest = max(widest, distance)
    return widest
