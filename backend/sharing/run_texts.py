"""What members wrote about runs, where it may hold a secret that they did not think of."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from backend.runs.amending.dismissals import dismissals_of
from backend.runs.models import Run
from backend.runs.recording.corrections import FREE_TEXTS, standing_corrections_of_runs


def typed_texts(runs: Sequence[Run]) -> Iterator[tuple[UUID, str, str]]:
    """What members wrote and did not undo: the run, the field that it is in, and the text."""
    run_ids = [run.pk for run in runs]
    corrections, dismissals = standing_corrections_of_runs(run_ids), dismissals_of(run_ids)
    for run in runs:
        yield run.pk, "notes", run.notes
        labels = (f"{name}: {value}" for name, value in run.labels.items())
        yield run.pk, "labels", "\n".join(labels)
        for correction in corrections[run.pk]:
            # Former notes and labels are not shown.
            if correction.field not in FREE_TEXTS:
                yield run.pk, "corrections", str([correction.value, *correction.before])
        for dismissal in dismissals[run.pk].values():
            yield run.pk, "dismissals", dismissal.reason
