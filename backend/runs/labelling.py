"""Setting a label on several runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from backend.accounts.models import Workspace
from backend.errors import InvalidInput
from backend.runs.models import Run

MAX_LABEL = 200
MAX_LABELS = 100


class LabelRefused(InvalidInput):
    """Nothing was changed; the message says what was got and what was expected."""

    @property
    def members(self) -> dict[str, Any]:
        """The field."""
        return {"field": "label"}


@transaction.atomic
def label_runs(workspace: Workspace, run_ids: Sequence[UUID], name: str, value: str) -> None:
    """Set the label of these runs of the workspace to `value`; an empty value removes it.

    Raises LabelRefused.
    """
    name, value = _cleaned("name", name), value.strip()
    if not name:
        raise LabelRefused("The label has no name. Give one, such as “branch”.")
    value = _cleaned("value", value)
    runs = Run.objects.select_for_update().filter(pk__in=run_ids, workspace=workspace)
    for run in runs.only("labels"):
        labels = {**run.labels, name: value}
        if not value:
            del labels[name]
        if len(labels) > MAX_LABELS:
            raise LabelRefused(f"Run {str(run.pk)[:8]} has {MAX_LABELS} labels, the most it may.")
        if labels != run.labels:
            run.labels = labels
            run.save(update_fields=["labels"])
    workspace.changed()


def _cleaned(part: str, text: str) -> str:
    text = text.strip()
    if len(text) > MAX_LABEL or "\0" in text:
        raise LabelRefused(
            f"The {part} of the label has {len(text)} characters, expected at most {MAX_LABEL}, "
            "without NUL."
        )
    return text
