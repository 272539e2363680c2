"""A series at the load point of a ranking: its figure, and why it may have no place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.analysis.compare.capacity import is_unknown, limit_doubt, why_over
from backend.analysis.grouping.measures import Measure
from backend.analysis.grouping.points import Point
from backend.analysis.query.metrics import METRICS, TAIL
from backend.formats.tools import TOOLS
from backend.runs.checks import Check
from backend.stats.replicates import Sample

MAXIMUM_UNRANKED = (
    "A maximum grows with the number of requests, so it is not ranked; choose a percentile."
)

# Named where the asked metric is unknown.
_TAILS = (TAIL, "p50")


@dataclass(frozen=True, slots=True)
class Entrant:
    """One series at the load point of the ranking."""

    series: str
    label: str
    point: Point
    # The error check that makes the figures of a group of metrics unfit, by the group.
    withheld: Mapping[Any, Check] = field(default_factory=dict)
    # Of p99, in microseconds.
    limit_us: float | None = None

    def measure(self, metric: str) -> Measure:
        return self.point.metrics[metric]

    def sample(self, metric: str) -> Sample | None:
        """The trials that may be compared by a metric; None if its figure is not ranked, or has no
        logarithm."""
        return None if self.unranked(metric) is not None else self.measure(metric).sample

    @property
    def over_limit(self) -> str | None:
        """`p99 71 ms > 50 ms`: why it does not keep the limit; None if it does, or without one."""
        return None if self.limit_us is None else why_over(self.point, self.limit_us)

    @property
    def limit_doubt(self) -> str | None:
        """`p99 may be over 20 ms: 19.3 ms [17.9, 20.8]`; None where it is certain whether it keeps
        the limit, or without one."""
        return None if self.limit_us is None else limit_doubt(self.point, self.limit_us)

    @property
    def named_limit_doubt(self) -> str | None:
        """`p99 of nginx may be over 20 ms: 19.3 ms [17.9, 20.8]`; see `limit_doubt`."""
        limit = self.limit_us
        return None if limit is None else limit_doubt(self.point, limit, self.label)

    @property
    def is_limit_unknown(self) -> bool:
        """Whether its p99 is unknown, so it is unknown if it keeps the limit."""
        return self.limit_us is not None and is_unknown(self.point)

    def has_place(self, metric: str) -> bool:
        return self.unranked(metric) is None and self.over_limit is None

    def unranked(self, metric: str) -> str | None:
        """Why its figure may not be compared, or None."""
        group = METRICS[metric].group
        rate = self.point.metrics["error_rate"].value
        if group != "errors" and self.point.failing and rate is not None:
            return f"{rate * 100:.3g} % of the requests failed, so the figure is not ranked."
        if (check := self.withheld.get(group)) is not None:
            return f"{check.title}, so the figure is not ranked."
        if metric == "max":
            return MAXIMUM_UNRANKED
        if group == "latency" and self.point.overload:
            return "The offered rate was not reached, so the latency is not ranked."
        if self.measure(metric).value is None:
            return self._unknown_text(metric)
        return None

    def _unknown_text(self, metric: str) -> str:
        """`Latency p99 is unknown. Run wrk with --latency.`"""
        text = f"{METRICS[metric].label} is unknown."
        if not METRICS[metric].percentile:
            known = (METRICS[id_] for id_ in _TAILS if self.measure(id_).value is not None)
            tail = next(known, None)
            return text if tail is None else f"{text} {tail.label} is known: choose that metric."
        names = sorted({cell.series.tool for cell in self.point.cells} & TOOLS.keys())
        options = [(name, TOOLS[name].percentile_option) for name in names]
        advice = (f"Run {name} with {option}." for name, option in options if option)
        return " ".join([text, *advice])
