"""Integrity checks: rules over a trial, a cell and a comparison. No rows, no Django."""

from backend.runs.checks.cell import FEW_TRIALS, NO_WARMUP, TWO_MODES, check_cell
from backend.runs.checks.check import SEVERITIES, Check, Severity
from backend.runs.checks.check_input import CheckInput, Finding
from backend.runs.checks.comparison import ComparedPoint, Round, at_ceiling, check_comparison
from backend.runs.checks.outcome import OVERLOAD
from backend.runs.checks.page import as_markdown
from backend.runs.checks.table import CHECKS, check_trial, withheld_metrics

__all__ = [
    "CHECKS",
    "FEW_TRIALS",
    "NO_WARMUP",
    "OVERLOAD",
    "SEVERITIES",
    "TWO_MODES",
    "Check",
    "CheckInput",
    "ComparedPoint",
    "Finding",
    "Round",
    "Severity",
    "as_markdown",
    "at_ceiling",
    "check_cell",
    "check_comparison",
    "check_trial",
    "withheld_metrics",
]
