"""wrk's read errors at servers that just close, and how often real losses are taken for them."""

from random import Random

import pytest

from backend.runs.checks.check_input import CheckInput
from backend.runs.checks.responses import closes_unannounced

SIMULATED = 20_000


def wrk(answers, lost, *, connections=10, tool="wrk", error="read"):
    return CheckInput(
        tool=tool, connections=connections, requests_completed=answers, errors={error: lost}
    )


@pytest.mark.parametrize("tool", ["wrk", "wrk2"])
@pytest.mark.parametrize("error", ["read", "write"])
def test_an_error_for_each_answer_is_a_closed_connection(tool, error):
    assert closes_unannounced(wrk(18_000, 17_990, tool=tool, error=error)) == (
        f"{tool} had 18,000 answers and 17,990 read or write errors, about one for each answer."
    )


@pytest.mark.parametrize(
    "trial",
    [
        wrk(18_000, 0),
        wrk(18_000, 9_000),
        wrk(8_023, 234),
        wrk(18_000, 18_000, tool="ab"),
        wrk(18_000, 18_000, error="timeout"),
        wrk(90, 90, connections=1),
        wrk(18_000, 18_000, connections=1_000),
        CheckInput(tool="wrk", errors={"read": 5}),
    ],
)
def test_other_losses_are_no_closed_connections(trial):
    assert closes_unannounced(trial) is None


def test_servers_that_lose_requests_by_chance_are_taken_for_closing_ones_in_half_a_percent():
    draw = Random(20_261_122)
    taken = sum(closes_unannounced(_losing(draw)) is not None for _ in range(SIMULATED))
    assert 0 < taken / SIMULATED < 0.008


def _losing(draw):
    """A trial that loses some share of its requests, each share equally likely."""
    attempts, share = int(10 ** draw.uniform(2, 6)), draw.random()
    deviation = (attempts * share * (1 - share)) ** 0.5
    lost = min(max(int(draw.gauss(attempts * share, deviation)), 0), attempts)
    return wrk(attempts - lost, lost, connections=2 ** draw.randint(0, 10))
