"""Loading the studies into the public workspace, again and again with the same result."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.core.files.base import ContentFile
from django.db import transaction

from backend.accounts.models import Workspace
from backend.analysis.query.compare_query import CompareQuery
from backend.errors import WorkFailed
from backend.ingest.models import State, Upload
from backend.ingest.receive import Sender, receive
from backend.ingest.removal import remove_run
from backend.ingest.worker import process
from backend.library.envelopes import NAMESPACE, Parcel, parcel_of
from backend.library.notes import notes_of
from backend.library.study import Study, read_studies
from backend.runs.models import Run
from backend.sharing.edits import edit, supersede
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import ResultSet, Visibility

SLUG, NAME = "library", "Library"
# A worker that runs already may take an upload first: then its reading is waited for.
READING_TIMEOUT_S = 120.0


class NotLoaded(WorkFailed):
    """A run of the library could not be read."""


@dataclass(slots=True)
class Loaded:
    """What one loading changed: uploads that are new, runs removed, result sets made."""

    uploads: int = 0
    removed: int = 0
    result_sets: int = 0
    paths: dict[str, str] = field(default_factory=dict)


def load_library(studies: Sequence[Study] | None = None) -> Loaded:
    """Make the workspace, its runs and its result sets what the data files say.

    Raises NotLoaded where a file cannot be read.
    """
    chosen = read_studies() if studies is None else studies
    workspace = _workspace()
    parcels = {study.name: [parcel_of(study, run) for run in study.runs] for study in chosen}
    loaded = Loaded()
    for parcel in (parcel for group in parcels.values() for parcel in group):
        loaded.uploads += _load(workspace, parcel)
    for study in chosen:
        result_set, is_new = _result_set(workspace, study, parcels[study.name])
        loaded.result_sets += is_new
        loaded.paths[study.name] = result_set.path
    current = {parcel.id for group in parcels.values() for parcel in group}
    loaded.removed = _remove_others(workspace, current)
    return loaded


def result_set_id(study: str) -> uuid.UUID:
    """The id in the link of a study's result set: the same on every installation."""
    return uuid.uuid5(NAMESPACE, study)


def _workspace() -> Workspace:
    workspace, _ = Workspace.objects.get_or_create(
        slug=SLUG, defaults={"name": NAME, "is_public": True}
    )
    return workspace


def _load(workspace: Workspace, parcel: Parcel) -> bool:
    """Whether the upload is new. Raises NotLoaded where it cannot be read."""
    files = [ContentFile(data, name=name) for name, data in parcel.files.items()]
    receipt = None
    if not Run.objects.filter(pk=parcel.id, workspace=workspace).exists():
        sender = Sender(workspace.pk, token_id=None, user_id=None)
        receipt = receive(sender, files, raw_envelope=parcel.envelope)
        process(parcel.id)
        _wait_until_read(parcel.id)
    return receipt is not None and receipt.is_new


def _wait_until_read(upload_id: uuid.UUID) -> None:
    deadline = time.monotonic() + READING_TIMEOUT_S
    while time.monotonic() < deadline:
        upload = Upload.objects.only("state", "reason").get(pk=upload_id)
        if upload.state == State.PARSED:
            return
        if upload.state in (State.FAILED, State.QUARANTINED):
            raise NotLoaded(f"Upload {upload_id} of the library: {upload.reason}")
        time.sleep(0.2)
    raise NotLoaded(f"Upload {upload_id} of the library was not read in time.")


@transaction.atomic
def _result_set(
    workspace: Workspace, study: Study, parcels: Sequence[Parcel]
) -> tuple[ResultSet, bool]:
    """The public result set of a study, and whether it was made now."""
    link = result_set_id(study.name)
    before = ResultSet.objects.filter(link=link, workspace=workspace).first()
    query = _query(study, parcels)
    if before is not None and before.query == query.canonical():
        edit(before, notes=notes_of(study))
        return before, False
    description = Description(
        title=study.title, notes=notes_of(study), visibility=Visibility.PUBLIC
    )
    made = freeze(query, workspace=workspace, author=None, description=description)
    if before is not None:
        before.link = before.pk if before.pk != link else uuid.uuid4()
        before.save(update_fields=["link"])
        supersede(before, made)
    made.link = link
    made.save(update_fields=["link"])
    return made, True


def _query(study: Study, parcels: Sequence[Parcel]) -> CompareQuery:
    shown = [parcel.id for run, parcel in zip(study.runs, parcels, strict=True) if run.frozen]
    return CompareQuery.parse(study.query).with_filters(run=shown)


def _remove_others(workspace: Workspace, current: set[uuid.UUID]) -> int:
    """Remove the runs that an older version of the data made."""
    removed = list(_others(workspace, current))
    for run in removed:
        remove_run(run)
    return len(removed)


def _others(workspace: Workspace, current: set[uuid.UUID]) -> Iterator[Run]:
    # A member may have uploaded runs here too: those stay.
    ours = Run.objects.filter(workspace=workspace, author=None, labels__has_key="study")
    rows = ours.exclude(pk__in=current)
    yield from rows.select_related("workspace")
