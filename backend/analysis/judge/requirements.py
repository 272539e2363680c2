"""Requirements as a build states them: `p99 < +5%`, `throughput > -3%`, `error_rate < 1%`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from backend.analysis.query.compare_query import QueryError
from backend.analysis.query.metrics import METRICS, Metric
from backend.analysis.query.units import figure_text

MAX_REQUIREMENTS = 10
FIELD = "require"
_FORM = re.compile(
    r"(?P<metric>[a-z0-9_.]+)\s*(?P<operator>[<>])=?\s*(?P<sign>[+-]?)"
    r"(?P<amount>[0-9]{1,12}(?:\.[0-9]{1,6})?)\s*(?P<unit>[a-zµ%/]*)",
    re.ASCII,
)
# What one of a unit is in the unit of the metric, by the metric's own unit.
_UNITS: dict[str, dict[str, float]] = {
    "us": {"us": 1.0, "ms": 1e3, "s": 1e6},
    "req/s": {"": 1.0, "req/s": 1.0},
    "ratio": {"%": 0.01, "": 1.0},
    "bytes": {"": 1.0, "bytes": 1.0},
    "bytes/s": {"": 1.0, "bytes/s": 1.0},
    "cores": {"": 1.0, "cores": 1.0},
    "s": {"s": 1.0, "ms": 1e-3},
}
# The side that a metric may not leave, and the sign of a change for the worse.
_WORSE = {"lower": ("<", "+"), "higher": (">", "-")}
_MOST_PERCENT = {"lower": 1000.0, "higher": 99.0}
GATED = tuple(id_ for id_ in METRICS if id_ != "max")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a metric must keep.

    `share`: the change for the worse against the baseline that is still accepted (0.05 is 5 %);
    None where `limit`, in the unit of the metric, must be kept instead.
    """

    text: str
    metric: Metric
    share: float | None = None
    limit: float | None = None

    @property
    def is_lower_better(self) -> bool:
        return self.metric.better == "lower"

    @property
    def tolerance(self) -> float:
        """The accepted change for the worse on the log scale; above 0. Only with a `share`."""
        share = self.share or 0.0
        return log1p(share) if self.is_lower_better else -log1p(-share)

    @property
    def accepted_text(self) -> str:
        """`+5 %` or `at most 20 ms`: what is accepted, in a sentence."""
        if self.share is not None:
            return f"{_WORSE[self.metric.better][1]}{self.share * 100:g} %".replace("-", "−")
        word = "at most" if self.is_lower_better else "at least"
        return f"{word} {figure_text(self.limit or 0.0, self.metric.unit)}"


def accepted_change(metric: Metric, share: float) -> Requirement:
    """That a metric changes for the worse by at most this share, for who judges without asking."""
    operator, sign = _WORSE[metric.better]
    percent = f"{share * 100:g}"
    return Requirement(f"{metric.id} {operator} {sign}{percent}%", metric, share=share)


def read_requirements(texts: Sequence[str]) -> tuple[Requirement, ...]:
    """Each once, in order. Raises QueryError for none, too many, or what is not understood."""
    stated = list(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))
    if not 0 < len(stated) <= MAX_REQUIREMENTS:
        got = f"{len(stated)} values" if stated else "nothing"
        raise QueryError(FIELD, got, f"1 to {MAX_REQUIREMENTS} requirements such as p99 < +5%")
    return tuple(_read(text) for text in stated)


def _read(text: str) -> Requirement:
    parts = _FORM.fullmatch(text)
    if parts is None:
        raise QueryError(FIELD, text, "a metric, < or >, and an amount, such as p99 < +5%")
    name, sign, unit = parts["metric"], parts["sign"], parts["unit"]
    metric = METRICS.get(name)
    if metric is None or name not in GATED:
        raise QueryError(FIELD, text, f"one of the metrics {', '.join(GATED)}")
    operator, worse = _WORSE[metric.better]
    if parts["operator"] != operator:
        raise QueryError(FIELD, text, f"{name} {operator} …, because {metric.better} is better")
    amount = float(parts["amount"])
    if sign:
        return _relative(text, metric, sign == worse and unit == "%", amount)
    scale = _UNITS[metric.unit].get(unit)
    if scale is None or (unit == "%" and metric.group != "errors"):
        raise QueryError(FIELD, text, _example(metric))
    return Requirement(text, metric, limit=amount * scale)


def _relative(text: str, metric: Metric, is_well_formed: bool, percent: float) -> Requirement:
    if metric.group == "errors":
        raise QueryError(
            FIELD,
            text,
            f"a limit such as {metric.id} < 1%: error rates are often zero, so they have no ratio",
        )
    most = _MOST_PERCENT[metric.better]
    if not is_well_formed or not 0 < percent <= most:
        raise QueryError(FIELD, text, f"{_example(metric)}, up to {most:g} %")
    return Requirement(text, metric, share=percent / 100)


def _example(metric: Metric) -> str:
    operator, worse = _WORSE[metric.better]
    example = f"{metric.id} {operator} {worse}5%"
    units = [unit for unit in _UNITS[metric.unit] if unit and unit != "%"]
    return f"a change such as {example}" + (
        f", or a limit in {' or '.join(units)}" if units else ""
    )
