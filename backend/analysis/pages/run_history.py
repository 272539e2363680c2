"""The corrections of a run: who set what to which value, and what is undone."""

from __future__ import annotations

import uuid
from typing import Any

from backend.analysis.query.timestamps import instant
from backend.runs.models import Correction

# Of the members nothing but their name.
_COLUMNS = (
    *("field", "ordinals", "before", "value", "made_at", "undone_at"),
    *("author__username", "undone_by__username"),
)


def describe_corrections(run_id: uuid.UUID) -> list[dict[str, Any]]:
    """The corrections of the run, the latest first; what was undone is among them."""
    rows = Correction.objects.filter(run=run_id).select_related("author", "undone_by")
    rows = rows.only(*_COLUMNS)
    return [_describe(row) for row in rows.order_by("-made_at", "-pk")]


def _describe(correction: Correction) -> dict[str, Any]:
    return {
        "id": str(correction.pk),
        "field": correction.field,
        "label": correction.get_field_display(),
        "trials": correction.ordinals,
        "before": correction.before,
        "value": correction.value,
        "author": correction.author and str(correction.author),
        "made_at": instant(correction.made_at),
        "undone_by": correction.undone_by and str(correction.undone_by),
        "undone_at": instant(correction.undone_at),
    }
