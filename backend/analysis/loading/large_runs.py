"""When trials or runs are so many that an answer about them needs a slot of its viewer."""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import QuerySet, Sum

from backend.analysis.loading.viewer_slots import hold_slot
from backend.errors import TooLarge
from backend.runs.catalogue.search import RunSearch
from backend.runs.database.json_bytes import bytes_of_columns
from backend.runs.models import Correction, Run, Trial

# On a busy machine their page of 200 takes 0.5 s of CPU time, their JSON 0.04 s.
LARGE_TRIALS = 500
# Of what an answer has of its trials beside figures: where it has more it holds a slot, where it
# has the most it is refused. 10,000 trials of agents have 12 MB.
LARGE_BYTES, MOST_BYTES = 2 << 20, 32 << 20
_LISTED = ("errors", "load", "error", "checks")
_DETAILS = ("command", "resources", "server_tail")
# The search of 700 runs for eight words, each of which all their labels have, takes up to 1 s.
LARGE_SEARCH = 100


def hold_slot_if_large(trials: QuerySet[Trial], *, viewer: str) -> None:
    """A slot of the viewer until the answer is written, where these trials are many.

    No more than LARGE_TRIALS are counted. Raises TooManyAnswers and AnswersBusy.
    """
    if trials.order_by()[LARGE_TRIALS : LARGE_TRIALS + 1].exists():
        hold_slot(viewer)


class TrialsTooLarge(TooLarge):
    """What an answer would have of its trials beside figures takes too much."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(
            f"The commands, errors, findings, resources and corrections of these trials have "
            f"{size_bytes >> 20} MiB; at most {MOST_BYTES >> 20} MiB are answered.",
            hint="Ask for fewer runs with limit=1, for /api/v1/trials/<id> or for trials.csv.",
        )


def hold_slot_if_long(run_ids: Collection[UUID], *, viewer: str, has_details: bool = True) -> None:
    """As `hold_slot_if_large`, of the trials of these runs, and where few of them are long.

    What is long: commands and the like of the trials, and corrections of the runs. `has_details`:
    whether the answer has the command and the like of all trials. Raises TrialsTooLarge too.
    """
    trials = Trial.objects.filter(run__in=run_ids).order_by()
    columns = (*_LISTED, *_DETAILS)
    sizes = trials.values_list(bytes_of_columns(Trial, columns))[: LARGE_TRIALS + 1]
    found = [size for (size,) in sizes]
    corrections = Correction.objects.filter(run__in=run_ids).order_by()
    corrected = corrections.aggregate(size=Sum(bytes_of_columns(Correction)))["size"] or 0
    if len(found) <= LARGE_TRIALS and sum(found) + corrected <= LARGE_BYTES:
        return
    hold_slot(viewer)
    answered = bytes_of_columns(Trial, columns if has_details else _LISTED)
    together = corrected + (trials.aggregate(size=Sum(answered))["size"] or 0)
    if together > MOST_BYTES:
        raise TrialsTooLarge(together)


def hold_slot_if_workspace_large(workspace_id: UUID, *, viewer: str) -> None:
    """As `hold_slot_if_large`, of all trials of a workspace: what changes a name of it may change
    each of them, and other changes of names wait meanwhile.
    """
    hold_slot_if_large(Trial.objects.filter(run__workspace=workspace_id), viewer=viewer)


def hold_slot_of_search(search: RunSearch, workspace_ids: Iterable[UUID], *, viewer: str) -> None:
    """As `hold_slot_if_large`, where words are looked for in many runs."""
    if search.q:
        runs = Run.objects.filter(workspace__in=list(workspace_ids)).order_by()
        if runs[LARGE_SEARCH : LARGE_SEARCH + 1].exists():
            hold_slot(viewer)
