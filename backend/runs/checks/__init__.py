"""Integrity checks: rules over one trial and over the trials of one cell. No rows, no Django."""

from backend.runs.checks.cell import check_cell
from backend.runs.checks.check_input import CheckInput, Finding
from backend.runs.checks.table import (
    CHECKS,
    SEVERITIES,
    Check,
    Severity,
    as_markdown,
    withheld_metrics,
)
from backend.runs.checks.trial import check_trial

__all__ = [
    "CHECKS",
    "SEVERITIES",
    "Check",
    "CheckInput",
    "Finding",
    "Severity",
    "as_markdown",
    "check_cell",
    "check_trial",
    "withheld_metrics",
]
