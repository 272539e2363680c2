"""Every rule over one trial."""

from collections.abc import Container

from backend.runs.checks.check import TrialRule
from backend.runs.checks.check_input import CheckInput, Finding
from backend.runs.checks.conditions import CONDITION_RULES
from backend.runs.checks.contradictions import CONTRADICTION_RULES
from backend.runs.checks.latency import LATENCY_RULES
from backend.runs.checks.machines import MACHINE_RULES
from backend.runs.checks.outcome import OUTCOME_RULES, TOOL_DISAGREES
from backend.runs.checks.responses import RESPONSE_RULES
from backend.runs.checks.throughput import THROUGHPUT_RULES

TRIAL_RULES: tuple[TrialRule, ...] = (
    *OUTCOME_RULES,
    *LATENCY_RULES,
    *THROUGHPUT_RULES,
    *MACHINE_RULES,
    *RESPONSE_RULES,
    *CONTRADICTION_RULES,
    *CONDITION_RULES,
)


def check_trial(trial: CheckInput, *, only: Container[str] | None = None) -> list[Finding]:
    """Every rule over one trial that fires, in the order of the table. `only`: by their checks."""
    rules = [rule for rule in TRIAL_RULES if only is None or rule.id in only]
    details = ((rule.id, rule.find(trial)) for rule in rules)
    findings = [Finding(id_, detail) for id_, detail in details if detail is not None]
    return findings + [Finding(TOOL_DISAGREES.id, detail) for detail in trial.disagreements]
