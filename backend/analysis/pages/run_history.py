"""The corrections of a run: who set what to which value, and what is undone."""

import uuid
from collections.abc import Mapping
from typing import Any

from backend.analysis.query.timestamps import instant
from backend.runs.models import Correction

# Of the members nothing but their name.
_COLUMNS = (
    *("pk", "field", "ordinals", "before", "value", "made_at", "undone_at"),
    *("author__username", "undone_by__username"),
)
_LABELS = dict(Correction.Field.choices)


def describe_corrections(run_id: uuid.UUID) -> list[dict[str, Any]]:
    """The corrections of the run, the latest first; what was undone is among them."""
    rows = Correction.objects.filter(run=run_id).values(*_COLUMNS)
    return [_describe(row) for row in rows.order_by("-made_at", "-pk")]


def _describe(correction: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": str(correction["pk"]),
        "field": correction["field"],
        "label": _LABELS.get(correction["field"], correction["field"]),
        "trials": correction["ordinals"],
        "before": correction["before"],
        "value": correction["value"],
        "author": correction["author__username"],
        "made_at": instant(correction["made_at"]),
        "undone_by": correction["undone_by__username"],
        "undone_at": instant(correction["undone_at"]),
    }
