"""The rounding step of one printed latency, which may be finer than the coarsest of its report."""

from collections.abc import Iterable

from backend.formats.numbers import TIME_UNITS_US
from backend.formats.tools import TOOLS

# Locust prints percentiles with 2 significant digits: 105 ms as 110 ms.
LOCUST_SHARE = 0.05
# k6 prints two decimals of a µs; its JSON is exact.
K6_TEXT_US = 0.01
# vegeta rounds a duration to a unit below the one that it prints.
_BELOW = {"h": "m", "m": "s", "s": "ms", "ms": "us", "us": "ns"}


def figure_step_us(tool: str | None, report_step_us: float, figure_us: float) -> float:
    """The step of a printed latency of this size, in µs.

    `report_step_us`: the coarsest step of the report; 0 where it is unknown.
    """
    if tool == "locust":
        return max(report_step_us, LOCUST_SHARE * figure_us)
    unit = _unit_of(figure_us)
    if tool == "vegeta":
        return min(report_step_us, TIME_UNITS_US[_BELOW[unit]])
    if tool not in TOOLS or not TOOLS[tool].prints_two_decimals:
        return report_step_us
    hundredth = TIME_UNITS_US["s" if unit in ("h", "m") else unit] / 100
    if tool == "k6":
        # k6 can be set to print all times in one unit.
        return max(report_step_us, hundredth) if report_step_us >= K6_TEXT_US else report_step_us
    # They measure whole microseconds.
    return min(report_step_us, max(hundredth, 1.0))


def finest_step_us(
    tool: str, report_step_us: float | None, figures_us: Iterable[float | None]
) -> float | None:
    """The finest step among those of printed figures: what is smaller is below it."""
    known = [figure for figure in figures_us if figure is not None]
    if report_step_us is None or not known:
        return report_step_us
    return figure_step_us(tool, report_step_us, min(known))


def _unit_of(figure_us: float) -> str:
    return next(unit for unit in _BELOW if figure_us >= TIME_UNITS_US[unit] or unit == "us")
