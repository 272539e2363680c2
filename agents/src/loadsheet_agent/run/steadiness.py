"""Whether a server is warm: its last warm-ups agree."""

from __future__ import annotations

from collections.abc import Sequence

from loadsheet_agent.plan.plan import LEAST_WARMUPS, SteadySpec


def is_steady(steady: SteadySpec | None, rates: Sequence[float | None]) -> bool:
    """Whether no further warm-up is needed after those with these throughputs.

    Without the plan's [steady], one warm-up is enough. An unknown throughput agrees with none.
    """
    if steady is None:
        return len(rates) >= least_warmups(steady)
    last = rates[-LEAST_WARMUPS:]
    known_rates = [rate for rate in last if rate is not None]
    if len(rates) >= steady.most:
        return True
    if len(known_rates) < LEAST_WARMUPS or not max(known_rates):
        return False
    return (max(known_rates) - min(known_rates)) / max(known_rates) <= steady.within


def least_warmups(steady: SteadySpec | None) -> int:
    """How many warm-ups precede a trial at least."""
    return 1 if steady is None else LEAST_WARMUPS
