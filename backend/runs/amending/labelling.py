"""Setting a label on several runs."""

from collections.abc import Sequence

from django.db import transaction

from backend.accounts.models import User
from backend.errors import InvalidInput
from backend.runs.amending.editing import correct
from backend.runs.models import Correction, Run
from backend.runs.registry.registry import lock_names
from backend.runs.tables.names import MAX_LABELS, MAX_NAME


class LabelRefused(InvalidInput):
    """Nothing was changed; the message says what was got and what was expected."""

    field = "label"


@transaction.atomic
def label_runs(runs: Sequence[Run], name: str, value: str, *, author: User | None) -> None:
    """Set the label of these runs to `value`, as a correction; an empty value removes it.

    Raises LabelRefused.
    """
    name, value = _cleaned("name", name), value.strip()
    if not name:
        raise LabelRefused("The label has no name. Give one, such as “branch”.")
    value = _cleaned("value", value)
    for workspace in {run.workspace for run in runs}:
        lock_names(workspace, exclusive=True)
    # Read under the lock, so that no label that another member sets meanwhile is lost.
    for run in Run.objects.filter(pk__in=[run.pk for run in runs]).only("labels"):
        labels = {**run.labels, name: value}
        if not value:
            del labels[name]
        if len(labels) > MAX_LABELS:
            raise LabelRefused(f"Run {str(run.pk)[:8]} has {MAX_LABELS} labels, the most it may.")
        correct(run.pk, {Correction.Field.LABELS: labels}, author=author)


def _cleaned(part: str, text: str) -> str:
    text = text.strip()
    if len(text) > MAX_NAME or "\0" in text:
        raise LabelRefused(
            f"The {part} of the label has {len(text)} characters, expected at most {MAX_NAME}, "
            "without NUL."
        )
    return text
