"""The runs that frozen result sets cite: their raw output stays, whatever its age."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from backend.ingest.artefacts.evidence import links_of_runs
from backend.ingest.models import Artefact, Upload, as_hex
from backend.sharing.models import CitedRun, ResultSet

# In the order of their keys, so that two transactions never wait for each other. Changes of other
# columns, such as by reading the files again, go on.
_HOLD = "SELECT 1 FROM ingest_upload WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


def hold_raw_output(run_ids: Sequence[UUID]) -> None:
    """Keep the raw output of these runs until the transaction ends.

    Removing it for its age leaves out uploads that are held. Raises OperationalError where it was
    removed after the state that the transaction reads (`repeat_if_overtaken`).
    """
    artefacts = {link.artefact_id for link in links_of_runs(run_ids)}
    uploads = {
        *Upload.objects.filter(run__in=run_ids).values_list("pk", flat=True),
        *Artefact.objects.filter(pk__in=artefacts).values_list("upload_id", flat=True),
    }
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [list(uploads)])


def cite_runs(result_set: ResultSet, document: Mapping[str, Any]) -> None:
    """Note the runs of a frozen document. Call it in the transaction that stores the set."""
    runs = {UUID(run["id"]) for run in document["runs"]}
    CitedRun.objects.bulk_create(CitedRun(result_set=result_set, run=run) for run in runs)


def cited_run_ids(workspace_id: UUID) -> QuerySet[Any]:
    """The ids, as hex digits, of the runs that frozen result sets of the workspace cite.

    A withdrawn set cites nothing any more. An expired one does: it can be given a new end.
    """
    rows = CitedRun.objects.filter(
        result_set__workspace=workspace_id, result_set__withdrawn_at__isnull=True
    )
    return rows.annotate(digits=as_hex(Cast("run", TextField()))).values("digits")
