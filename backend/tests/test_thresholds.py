"""Texts that cannot read a threshold from the code name the same number as the code."""

import re
from pathlib import Path

import pytest
from loadsheet_agent.plan import intervals

from backend.stats.thresholds import HIGH_ERROR_RATE, LEAST_TRIALS, percent

ROOT = Path(__file__).resolve().parents[2]
AGENT = "agents/src/loadsheet_agent"
FEWEST = re.compile(
    r"(?:fewer than|[Ii]t needs|at least|loads of|positions, and) (\w+)"
    r"(?: trials\b| give no verdict| are not counted)"
)
MOST_FAILURES = re.compile(r"(?:error rate above|more than) (\d+ %)(?= of (?:failures|its)| is)")


def numbers_in(document, pattern):
    return set(pattern.findall(re.sub(r"\s+", " ", (ROOT / document).read_text())))


def test_the_agent_needs_as_many_trials_as_the_service():
    assert intervals.LEAST_TRIALS == LEAST_TRIALS


@pytest.mark.parametrize(
    "document",
    [
        "docs/statistics.md",
        "docs/agents.md",
        f"{AGENT}/plan.template.toml",
        f"{AGENT}/plan.aa.toml",
    ],
)
def test_a_text_names_the_least_trials(document):
    assert numbers_in(document, FEWEST) == {str(LEAST_TRIALS)}


def test_the_statistics_name_the_high_error_rate():
    assert numbers_in("docs/statistics.md", MOST_FAILURES) == {percent(HIGH_ERROR_RATE)}
