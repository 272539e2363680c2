"""How often each check fires on honest trials and on its mistake, as the bench measured it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

# Written by `scripts/bench truth-checks`.
RESULTS = Path(__file__).parents[3] / "scripts" / "benches" / "truth_checks.json"
Counts = dict[str, tuple[int, int]]
# Simulated outputs cannot contain the mistakes of these checks: they are planted after reading.
EDITED = (
    *("status-not-2xx", "errors-unknown", "incomplete", "no-answers", "tool-disagrees", "one-host"),
    *("client-fault", "client-fault-few", "closes-unannounced", "published-figures"),
    *("request-limit", "tick-rate", "impossible-counts", "partial-samples"),
)


@dataclass(slots=True)
class Firing:
    """By load tool: how many fired, of how many. `mistake`: the planted mistake in words."""

    mistake: str = ""
    honest: Counts = field(default_factory=dict)
    found: Counts = field(default_factory=dict)

    @property
    def worst_honest(self) -> float:
        """The highest share of honest trials of one tool on which the check fires."""
        return max((count / total for count, total in self.honest.values()), default=0.0)

    @property
    def worst_found(self) -> float | None:
        """The lowest share of one tool's mistakes that is found; None if none was planted."""
        return min((count / total for count, total in self.found.values()), default=None)


@dataclass(frozen=True, slots=True)
class MeasuredFiring:
    """One run of the bench. `trials`: honest trials of each tool."""

    seed: int
    date: str
    trials: int
    by_check: Mapping[str, Firing]


@lru_cache(maxsize=1)
def read_firing() -> MeasuredFiring:
    """The results beside the bench. Raises OSError where they are not installed."""
    document = json.loads(RESULTS.read_text())
    by_check = {
        id_: Firing(
            mistake=row["mistake"],
            honest={source: tuple(counts) for source, counts in row["honest"].items()},
            found={source: tuple(counts) for source, counts in row["found"].items()},
        )
        for id_, row in document["checks"].items()
    }
    return MeasuredFiring(document["seed"], document["date"], document["trials"], by_check)
