"""Uploads as a list shows them: of which kind, with the names of their files."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from django.db.models import Count, Q

from backend.ingest.models import Artefact, State, Upload
from backend.runs.catalogue import listing


class Which(Enum):
    """Which uploads a list has."""

    ALL = Q()
    FAILED = Q(state__in=(State.FAILED, State.QUARANTINED))
    # Read, but for some of their results.
    PARTIAL = Q(state=State.PARSED, reason__gt="")
    # Those that are no run, or not yet.
    UNREAD = Q(state__in=[state for state in State if state != State.PARSED])


# So many files of an upload are named in a list.
NAMED_FILES = 3


@dataclass(frozen=True, slots=True)
class ListedUpload:
    """An upload with its state, reason and time, and the names of its first files.

    `run_name`: what its run measured, such as "caddy 1.27.1 · json · wrk"; empty without a run.
    """

    upload: Upload
    run_name: str
    file_names: Sequence[str]
    # How many files it has beside those.
    more_files: int


def with_files(uploads: Sequence[Upload]) -> list[ListedUpload]:
    """The uploads as a list shows them."""
    names: dict[UUID, list[str]] = defaultdict(list)
    files = Artefact.objects.filter(upload__in=uploads)
    first = files.filter(position__lt=NAMED_FILES).order_by("position")
    for upload_id, name in first.values_list("upload_id", "name"):
        names[upload_id].append(name)
    counts = dict(files.order_by().values_list("upload_id").annotate(count=Count("*")))
    run_of = {upload.pk: upload.result_run_id for upload in uploads}
    run_names = listing.names_of_runs([run_id for run_id in run_of.values() if run_id is not None])
    return [
        ListedUpload(
            upload,
            run_names.get(run_of[upload.pk] or upload.pk, ""),
            names[upload.pk],
            more_files=counts.get(upload.pk, 0) - len(names[upload.pk]),
        )
        for upload in uploads
    ]
