"""Every check that exists. docs/checks.md is printed from this table (page.py)."""

from collections.abc import Iterable
from typing import Literal

from backend.runs.checks.cell import CELL_RULES
from backend.runs.checks.check import Check, Withholds
from backend.runs.checks.comparison import COMPARISON_CHECKS
from backend.runs.checks.outcome import TOOL_DISAGREES
from backend.runs.checks.outputs import OUTPUT_CHECKS
from backend.runs.checks.trial import TRIAL_RULES

# Groups of metrics that a ranking may be asked for.
MetricGroup = Literal["rate", "latency", "resources"]
_WITHHELD_GROUPS: dict[Withholds, tuple[MetricGroup, ...]] = {
    "all": ("rate", "latency", "resources"),
    "latency": ("latency",),
}

_ALL = (*TRIAL_RULES, TOOL_DISAGREES, *CELL_RULES, *COMPARISON_CHECKS, *OUTPUT_CHECKS)
CHECKS: dict[str, Check] = {check.id: check for check in _ALL}


def withheld_metrics(check_ids: Iterable[str]) -> dict[MetricGroup, Check]:
    """The groups of metrics that must not be ranked, each with the first check that forbids it.

    `check_ids`: the checks that fired on a load point and its trials. The groups are those of
    the metrics of a comparison; "errors" is never withheld, because a failed request is a fact
    whatever else is wrong. Ids that this version does not have are ignored.
    """
    withheld: dict[MetricGroup, Check] = {}
    for id_ in check_ids:
        check = CHECKS.get(id_)
        if check is None or check.withholds is None:
            continue
        for group in _WITHHELD_GROUPS[check.withholds]:
            withheld.setdefault(group, check)
    return withheld
