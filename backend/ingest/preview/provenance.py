"""Where a trial's figures come from: its raw output with the numbers that were read marked."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from django.core.cache import caches

from backend.formats import PARSER_VERSION
from backend.ingest.models import Artefact, Upload
from backend.ingest.preview.preview import preview
from backend.ingest.preview.provenance_records import Provenance, RawText, Read
from backend.runs.models import Trial
from backend.storage import storage
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.sandbox.quick_sandbox import quick_sandbox
from backend.untrusted.sandbox.sandbox import LocalArtefact

KEPT_S = 24 * 3600
# More files than any load tool writes for one trial.
MAX_ARTEFACTS = 8


def provenance_of(trial: Trial) -> Provenance:
    """Traced once and kept for a day. Raises FileNotFoundError and StorageAway."""
    rows = trial.artefacts.select_related("upload").defer("upload__envelope")
    artefacts = list(rows.order_by("position")[:MAX_ARTEFACTS])
    if not artefacts:
        return Provenance((), {}, "No raw output is kept for this trial.")
    if note := artefacts[0].upload.removal_note:
        return Provenance((), {}, note)
    entry = _entry_of(trial, artefacts)
    answer = _cached_trace(artefacts, entry)
    if "refused" in answer:
        return Provenance(_untraced(artefacts), {}, answer["refused"])
    reads: list[list[Read]] = [[] for _ in artefacts]
    for index, start, end, line, figures in answer["marks"]:
        reads[index].append(Read(start, end, line, tuple(figures)))
    texts = tuple(
        RawText(artefact, text, truncated=False, reads=tuple(text_reads))
        for artefact, text, text_reads in zip(artefacts, answer["texts"], reads, strict=True)
    )
    return Provenance(texts, answer["figures"], "")


def _entry_of(trial: Trial, artefacts: Sequence[Artefact]) -> int:
    """Which of several results in one file the trial is."""
    # An envelope that lists trials names the files of each, which then hold one result.
    upload = Upload.objects.filter(pk=artefacts[0].upload_id)
    if upload.filter(envelope__trials__0__isnull=False).exists():
        return 0
    return artefacts[0].trials.filter(ordinal__lt=trial.ordinal).count()


def _cached_trace(artefacts: Sequence[Artefact], entry: int) -> dict[str, Any]:
    hashes = "-".join(artefact.sha256[:16] for artefact in artefacts)
    key = f"provenance:{PARSER_VERSION}:{entry}:{hashes}"
    answer: dict[str, Any] | None = caches["process"].get(key)
    if answer is None:
        answer = _trace(artefacts, entry)
        caches["process"].set(key, answer, KEPT_S)
    return answer


def _trace(artefacts: Sequence[Artefact], entry: int) -> dict[str, Any]:
    with ExitStack() as stack:
        local = [
            LocalArtefact(item.name, stack.enter_context(storage().local_path(item.sha256)))
            for item in artefacts
        ]
        child = stack.enter_context(quick_sandbox())
        try:
            return child.trace(local, entry=entry)
        except ParserFailed as failed:
            # Cached like an answer: a text that is slow to read is read once a day.
            return {"refused": str(failed)}


def _untraced(artefacts: Sequence[Artefact]) -> tuple[RawText, ...]:
    previews = [(artefact, preview(artefact.sha256)) for artefact in artefacts]
    return tuple(RawText(artefact, text.text, text.truncated, ()) for artefact, text in previews)
