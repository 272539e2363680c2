"""What figures were read from: each run with its raw files and the parsers that read them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from backend.ingest.models import Artefact, Upload


def sources_of(run_ids: Sequence[str]) -> list[dict[str, Any]]:
    """`{id, upload, parser_version, artefacts: [{name, sha256, size}]}` of each run, in order.

    Trials may come one by one, each as an upload of its own: the artefacts are those of all of
    them, `upload` is the one that told the run as a whole, and the version is null where several
    parsers read it.
    """
    uploads = {str(one.run_id): one for one in Upload.objects.filter(run_id__in=run_ids)}
    artefacts = _artefacts(run_ids, uploads)
    return [_source(id_, uploads.get(id_), artefacts[id_]) for id_ in run_ids]


def _artefacts(run_ids: Sequence[str], uploads: dict[str, Upload]) -> dict[str, list[Artefact]]:
    """By run: the files its trials were read from, and the rest of its own upload's."""
    links = Artefact.trials.through.objects.filter(trial__run_id__in=run_ids)
    found: dict[str, dict[object, Artefact]] = defaultdict(dict)
    rows = links.select_related("artefact__upload", "trial").order_by(
        "trial__ordinal", "artefact__position"
    )
    for link in rows.defer("trial__parsed", "trial__histogram"):
        found[str(link.trial.run_id)][link.artefact.pk] = link.artefact
    of_run = {upload.pk: id_ for id_, upload in uploads.items()}
    for one in Artefact.objects.filter(upload__in=of_run).select_related("upload"):
        found[of_run[one.upload_id]].setdefault(one.pk, one)
    return {id_: list(found[id_].values()) for id_ in run_ids}


def _source(run_id: str, upload: Upload | None, artefacts: Sequence[Artefact]) -> dict[str, Any]:
    versions = {one.upload.parser_version for one in artefacts}
    return {
        "id": run_id,
        "upload": None if upload is None else str(upload.pk),
        "parser_version": (versions.pop() or None) if len(versions) == 1 else None,
        "artefacts": [
            {"name": one.name, "sha256": one.sha256, "size": one.size_bytes} for one in artefacts
        ],
    }
