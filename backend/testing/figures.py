"""Figures of a few fields, for tests of what reads figures."""

from typing import Any

from backend.analysis.figures import Figures
from backend.analysis.kept_figures import read_figures

_FIELDS: dict[str, Any] = {
    "query": "",
    "finding": "",
    "conditions": "",
    "x": {"field": "connections", "label": "Connections", "values": []},
    "metric": "throughput",
    "metrics": [],
    "series": [],
    "ranking": None,
    "checks": [],
    "runs": [],
}
_OUTCOME = {"status": "comparable", "differing": [], "reasons": []}


def make_figures(**fields: Any) -> Figures:
    """The figures with these fields, as JSON has them; what is not given is empty."""
    outcome = {**_OUTCOME, **fields.pop("outcome", {})}
    return read_figures({**_FIELDS, **fields, "outcome": outcome})
