"""The document of a result set: what /s/<id>.json holds, frozen or live.

With the sources of its figures: each run with its raw files and the parsers that read them.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from backend import __version__
from backend.analysis.figures import Figures, plain_figures
from backend.analysis.query.timestamps import instant
from backend.ingest.artefacts.evidence import links_of_runs
from backend.ingest.models import Artefact, Upload
from backend.runs.database.read_router import repeatable_read
from backend.sharing.models import ResultSet

COLUMNS = ("name", "sha256", "size_bytes", "position", "upload__parser_version")
SCHEMA = 2


@repeatable_read()
def sources_of(run_ids: Sequence[str]) -> list[dict[str, Any]]:
    """`{id, upload, parser_version, artefacts: [{name, sha256, size}]}` of each run, in order.

    Trials may arrive one by one, each in an upload of its own. The artefacts are those of all
    these uploads, `upload` is the upload of the run as a whole, and the version is null where
    several parser versions read it.
    """
    rows = Upload.objects.filter(run_id__in=run_ids).only("run_id")
    uploads = {str(upload.run_id): upload for upload in rows}
    artefacts = _artefacts(run_ids, uploads)
    return [_source(id_, uploads.get(id_), artefacts[id_]) for id_ in run_ids]


def _artefacts(run_ids: Sequence[str], uploads: dict[str, Upload]) -> dict[str, list[Artefact]]:
    """By run: the files its trials were read from, then the other files of its own upload."""
    links = links_of_runs(run_ids)
    # The envelope of an upload would be read again for each of its files.
    rows = Artefact.objects.select_related("upload").only(*COLUMNS)
    read = rows.in_bulk([link.artefact_id for link in links])
    by_run: dict[str, dict[object, Artefact]] = defaultdict(dict)
    for link in sorted(links, key=lambda link: (link.ordinal, read[link.artefact_id].position)):
        by_run[str(link.run_id)][link.artefact_id] = read[link.artefact_id]
    of_run = {upload.pk: id_ for id_, upload in uploads.items()}
    for artefact in (
        Artefact.objects.filter(upload__in=of_run).select_related("upload").only(*COLUMNS)
    ):
        by_run[of_run[artefact.upload_id]].setdefault(artefact.pk, artefact)
    return {id_: list(by_run[id_].values()) for id_ in run_ids}


def _source(run_id: str, upload: Upload | None, artefacts: Sequence[Artefact]) -> dict[str, Any]:
    versions = {artefact.upload.parser_version for artefact in artefacts}
    return {
        "id": run_id,
        "upload": None if upload is None else str(upload.pk),
        "parser_version": (versions.pop() or None) if len(versions) == 1 else None,
        "artefacts": [
            {"name": artefact.name, "sha256": artefact.sha256, "size": artefact.size_bytes}
            for artefact in artefacts
        ],
    }


def document_of(result_set: ResultSet, figures: Figures, *, id_: UUID) -> dict[str, Any]:
    """The figures with all that a reader needs to check them.

    `id_` is the id of a frozen set, and the link of a live one. The time of reading is left out:
    equal figures give equal bytes.
    """
    return {
        "schema": SCHEMA,
        "kind": result_set.kind,
        "id": str(id_),
        "title": result_set.title,
        "created_at": instant(result_set.created_at),
        "workspace": result_set.workspace.slug,
        "query": figures.query,
        "runs": sources_of([run.id for run in figures.runs]),
        "figures": plain_figures(figures),
        "software": {"name": "loadsheet", "version": __version__},
    }
