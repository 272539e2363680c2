"""Loading the studies into the public workspace, again and again with the same result."""

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from django.core.files.base import ContentFile
from django.db import transaction

from backend.accounts.models import Workspace
from backend.accounts.workspace.workspaces import own_workspace
from backend.analysis.query.compare_query import CompareQuery
from backend.errors import WorkFailed
from backend.ingest.models import State, Upload
from backend.ingest.queue.worker import receive_and_read
from backend.ingest.receiving.receive import Sender
from backend.ingest.removing.removal import remove_run
from backend.library.envelopes import NAMESPACE, Parcel, parcel_of, today_parcel
from backend.library.notes import notes_of, today_notes
from backend.library.study import Study, read_studies
from backend.runs.models import Run
from backend.runs.tables.large_columns import large_columns
from backend.sharing.edits import edit, supersede
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import ResultSet, Visibility

SLUG, NAME = "library", "Library"
# The study that the front page shows until somebody chooses a comparison: it has the most servers,
# each with three outputs at five loads.
SHOWCASE = "landshark-2010"
# A worker has what an interrupted loading left unread: its reading is waited for.
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

    Raises NotLoaded where a file cannot be read, and WorkspaceRefused.
    """
    chosen = read_studies() if studies is None else studies
    workspace = own_workspace(SLUG, {"name": NAME, "is_public": True})
    loaded, current = Loaded(), set()
    for study in chosen:
        parcels = [_with_free_id(workspace, parcel_of(study, run)) for run in study.runs]
        again = today_parcel(study)
        if again is not None:
            again = _with_free_id(workspace, again)
        for parcel in (*parcels, again):
            if parcel is not None:
                loaded.uploads += _load(workspace, parcel)
                current.add(parcel.id)
        for edition in _editions(study, parcels, again):
            result_set, is_new = _result_set(workspace, edition)
            loaded.result_sets += is_new
            loaded.paths[edition.name] = result_set.path
    loaded.removed = _remove_others(workspace, current)
    return loaded


def result_set_id(name: str) -> uuid.UUID:
    """The id in the link of a study's result set: the same on every installation.

    `name`: the study's, or that of `today_name`.
    """
    return uuid.uuid5(NAMESPACE, name)


def find_study_of(result_set: ResultSet) -> Study | None:
    """The study whose figures the result set of the library shows."""
    if result_set.workspace.slug != SLUG:
        return None
    links = {
        result_set_id(name): study
        for study in read_studies()
        for name in (study.name, today_name(study.name))
    }
    return links.get(result_set.link)


def today_name(study: str) -> str:
    """Names the result set of a study's published figures beside those of today."""
    return f"{study}/today"


@dataclass(frozen=True, slots=True)
class Edition:
    """What a result set of the library shows."""

    name: str
    title: str
    notes: str
    query: CompareQuery


def _editions(study: Study, parcels: Sequence[Parcel], again: Parcel | None) -> Iterator[Edition]:
    """The study as published and, where it was measured again, both beside each other."""
    shown = [parcel.id for run, parcel in zip(study.runs, parcels, strict=True) if run.frozen]
    query = CompareQuery.parse(study.query)
    yield Edition(study.name, study.title, notes_of(study), query.with_filters(run=shown))
    if again is not None:
        yield Edition(
            today_name(study.name),
            f"{study.title}: then and today",
            today_notes(study),
            # A panel for the figures of then and one for those of today, each with its own colours.
            replace(query, facet="label").with_filters(run=[*shown, again.id]),
        )


def _with_free_id(workspace: Workspace, parcel: Parcel) -> Parcel:
    """The parcel, under another id where a stranger used the one that everybody can compute."""
    other = uuid.uuid5(workspace.pk, parcel.id.hex)
    named = Upload.objects.filter(pk__in=(parcel.id, other))
    own = named.filter(workspace=workspace).values_list("pk", flat=True).first()
    id_ = own or (other if named.exists() else parcel.id)
    return replace(parcel, id=id_, envelope={**parcel.envelope, "id": str(id_)})


def _load(workspace: Workspace, parcel: Parcel) -> bool:
    """Whether the upload is new. Raises NotLoaded where it cannot be read."""
    files = [ContentFile(data, name=name) for name, data in parcel.files.items()]
    receipt = None
    if not Run.objects.filter(pk=parcel.id, workspace=workspace).exists():
        sender = Sender(workspace.pk, token_id=None, user_id=None)
        receipt = receive_and_read(sender, files, parcel.envelope)
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
def _result_set(workspace: Workspace, edition: Edition) -> tuple[ResultSet, bool]:
    """The public result set, and whether it was made now."""
    link = result_set_id(edition.name)
    before = ResultSet.objects.filter(link=link, workspace=workspace).first()
    if before is not None and before.query == edition.query.canonical():
        edit(before, notes=edition.notes)
        return before, False
    description = Description(
        title=edition.title, notes=edition.notes, visibility=Visibility.PUBLIC
    )
    made = freeze(edition.query, workspace=workspace, author=None, description=description)
    if before is not None:
        before.link = before.pk if before.pk != link else uuid.uuid4()
        before.save(update_fields=["link"])
        supersede(before, made)
    made.link = link
    made.save(update_fields=["link"])
    return made, True


def _remove_others(workspace: Workspace, current: set[uuid.UUID]) -> int:
    """Remove the runs that an older version of the data made."""
    # A member may have uploaded runs here too: those stay.
    ours = Run.objects.filter(workspace=workspace, author=None, labels__has_key="study")
    others = ours.exclude(pk__in=current).select_related("workspace")
    removed = list(others.defer(*large_columns()))
    for run in removed:
        remove_run(run)
    return len(removed)
