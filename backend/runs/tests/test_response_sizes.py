"""When responses are of one size."""

import pytest

from backend.runs.checks.response_sizes import (
    LONGEST_HEADER_BYTES,
    USUAL_HEADER_BYTES,
    ResponseSize,
    are_one_size,
    response_size_of,
    smallest_sizes,
)


def body(size):
    return ResponseSize(size)


def whole(size):
    return ResponseSize(size, has_header=True)


@pytest.mark.parametrize(
    ("a", "b", "is_usual", "is_possible"),
    [
        (body(37), body(39), True, True),
        (body(13), body(19), True, True),
        (body(13), body(22), False, False),
        (body(10_000), body(11_000), True, True),
        (body(10_000), body(11_010), False, False),
        (body(0), body(0), True, True),
        # A header may have 256 B more than another one, or 1,200.
        (whole(160), whole(430), True, True),
        (whole(160), whole(620), False, True),
        (whole(480), whole(850), False, True),
        (whole(120), whole(10_000), False, False),
        (whole(10_100), whole(10_400), True, True),
        (body(13), whole(160), True, True),
        (body(13), whole(620), False, True),
        (body(10_000), whole(160), False, False),
        (body(13), whole(10_150), False, False),
    ],
)
def test_bodies_of_one_size(a, b, is_usual, is_possible):
    for first, second in ((a, b), (b, a)):
        assert are_one_size(first, second, USUAL_HEADER_BYTES) is is_usual
        assert are_one_size(first, second, LONGEST_HEADER_BYTES) is is_possible


def test_sizes_are_grouped_from_the_smallest_on():
    sizes = [body(39), body(37), body(10_400), body(10_000), body(900)]
    assert smallest_sizes(sizes, USUAL_HEADER_BYTES) == [37, 900, 10_000]
    # A whole response of 300 B may have a body of 250 B.
    assert smallest_sizes([body(90), whole(300), body(250)], USUAL_HEADER_BYTES) == [90, 250]


@pytest.mark.parametrize(
    ("tool", "received", "of_body", "size"),
    [
        ("wrk", 150.0, None, whole(150.0)),
        ("hey", 13.0, None, body(13.0)),
        ("ab", 150.0, 13.0, body(13.0)),
        ("httperf", None, 5.0, body(5.0)),
        ("wrk", None, None, None),
        ("somebody's own", 150.0, None, whole(150.0)),
    ],
)
def test_what_an_output_says_of_a_response(tool, received, of_body, size):
    assert response_size_of(tool, received, of_body) == size
