"""scripts/bench adaptive: how often the intervals of adaptive repeats cover the true value.

Simulated trials with independent noise go through the agent's own rule; intervals are Student's,
tests are Welch's and the paired t. Beside it a rule that looks after every repeat and stops at the
first interval that is narrow enough. Prints the table of docs/agents.md.
"""

import argparse
import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from statistics import mean, stdev, variance

from loadsheet_agent.plan.intervals import FIRST_REPEATS, repeats_needed

from backend.stats.student import t_quantile

INTERVAL, MOST = 0.02, 20
NOISE = (0.01, 0.02, 0.03, 0.04, 0.05)
HEAD = """\
| noise of a trial | looking: covers | apart | repeats \
| one server: covers | repeats | two servers: covers | apart, Welch | apart, paired | repeats |
|---|---|---|---|---|---|---|---|---|---|"""

Logs = Sequence[float]


@lru_cache(maxsize=4096)
def t_95(freedom: float) -> float:
    return t_quantile(0.975, freedom)


def half_width(logs: Logs) -> float:
    return t_95(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))


def is_covered(logs: Logs) -> bool:
    """Whether the interval holds the true mean, 0."""
    return abs(mean(logs)) <= half_width(logs)


def is_apart_by_welch(logs: Logs, others: Logs) -> bool:
    squares = variance(logs) / len(logs), variance(others) / len(others)
    parts = squares[0] ** 2 / (len(logs) - 1) + squares[1] ** 2 / (len(others) - 1)
    freedom = round(sum(squares) ** 2 / parts, 1)
    return abs(mean(logs) - mean(others)) > t_95(freedom) * math.sqrt(sum(squares))


def is_apart_by_pairs(logs: Logs, others: Logs) -> bool:
    return not is_covered([log - other for log, other in zip(logs, others, strict=True)])


def repeats_by_looking(logs: Logs) -> int:
    """Repeats until the interval is narrow enough for the first time, as no plan does."""
    narrow = (n for n in range(3, MOST) if math.expm1(half_width(logs[:n])) <= INTERVAL)
    return next(narrow, MOST)


def repeats_by_plan(logs: Logs) -> int:
    first = [math.exp(log) for log in logs[:FIRST_REPEATS]]
    return min(repeats_needed(first, INTERVAL), MOST)


def simulate(noise: float, rounds: int) -> Counter[str]:
    """Counts over `rounds` pairs of equal servers; `noise` is the coefficient of variation."""
    draw = random.Random(f"adaptive {noise}")  # noqa: S311  a simulation, not a secret
    sd = math.sqrt(math.log1p(noise**2))
    counts: Counter[str] = Counter()
    for _ in range(rounds):
        logs, others = ([draw.gauss(0, sd) for _ in range(MOST)] for _ in range(2))
        looked = logs[: repeats_by_looking(logs)]
        counts["looked covered"] += is_covered(looked)
        counts["looked apart"] += is_apart_by_welch(looked, others[: repeats_by_looking(others)])
        counts["looked repeats"] += len(looked)
        alone, needed = repeats_by_plan(logs), repeats_by_plan(others)
        counts["alone covered"] += is_covered(logs[:alone])
        counts["alone repeats"] += alone
        both = max(alone, needed)
        counts["both covered"] += is_covered(logs[:both])
        counts["both welch"] += is_apart_by_welch(logs[:both], others[:both])
        counts["both paired"] += is_apart_by_pairs(logs[:both], others[:both])
        counts["both repeats"] += both
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6000, help="pairs of servers per row")
    rounds = parser.parse_args().rounds
    print(HEAD)
    for noise in NOISE:
        counts = simulate(noise, rounds)
        shown = (
            f"{count / rounds:.1f}" if name.endswith("repeats") else f"{count / rounds:.1%}"
            for name, count in counts.items()
        )
        print(f"| {noise * 100:.0f} % |", " | ".join(shown).replace("%", " %"), "|", flush=True)


if __name__ == "__main__":
    main()
