"""Every check that exists. docs/checks.md is printed from this table (page.py).

Every rule over one trial is listed here too.
"""

from collections.abc import Container, Iterable
from typing import Literal

from backend.runs.checks.cell import CELL_RULES
from backend.runs.checks.check import Check, TrialRule, Withholds
from backend.runs.checks.check_input import CheckInput, Finding
from backend.runs.checks.comparison import COMPARISON_CHECKS, OUTPUT_CHECKS
from backend.runs.checks.conditions import CONDITION_RULES
from backend.runs.checks.contradictions import CONTRADICTION_RULES
from backend.runs.checks.identities import IDENTITY_RULES
from backend.runs.checks.latency import LATENCY_RULES
from backend.runs.checks.machines import MACHINE_RULES
from backend.runs.checks.outcome import OUTCOME_RULES, TOOL_DISAGREES
from backend.runs.checks.responses import RESPONSE_RULES
from backend.runs.checks.throughput import THROUGHPUT_RULES

TRIAL_RULES: tuple[TrialRule, ...] = (
    *OUTCOME_RULES,
    *IDENTITY_RULES,
    *LATENCY_RULES,
    *THROUGHPUT_RULES,
    *MACHINE_RULES,
    *RESPONSE_RULES,
    *CONTRADICTION_RULES,
    *CONDITION_RULES,
)
# Groups of metrics that a ranking may be asked for.
MetricGroup = Literal["rate", "latency", "resources"]
_WITHHELD_GROUPS: dict[Withholds, tuple[MetricGroup, ...]] = {
    "all": ("rate", "latency", "resources"),
    "throughput": ("rate", "resources"),
    "latency": ("latency",),
}

_ALL = (*TRIAL_RULES, TOOL_DISAGREES, *CELL_RULES, *COMPARISON_CHECKS, *OUTPUT_CHECKS)
CHECKS: dict[str, Check] = {check.id: check for check in _ALL}


def check_trial(trial: CheckInput, *, only: Container[str] | None = None) -> list[Finding]:
    """Every rule over one trial that fires, in the order of the table. `only`: by their checks."""
    rules = [rule for rule in TRIAL_RULES if only is None or rule.id in only]
    details = ((rule.id, rule.find(trial)) for rule in rules)
    findings = [Finding(id_, detail) for id_, detail in details if detail is not None]
    return findings + [Finding(TOOL_DISAGREES.id, detail) for detail in trial.disagreements]


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
