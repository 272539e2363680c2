"""Previews of files that are not saved: what was sent, and what is read in it."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, QueryDict

from backend.analysis.grouping.fired_checks import describe_check, find_check
from backend.errors import InvalidInput, LoadsheetError, TooLarge
from backend.ingest.listing.listed_artefacts import EarlierUpload
from backend.ingest.preview.dry_records import DryFile, DryTrial
from backend.ingest.receiving.incoming import IncomingFile
from backend.problems import Answer, answer_to, hint_for_people
from backend.runs.catalogue.naming import trial_count_text
from backend.runs.checks import SEVERITIES
from backend.untrusted.limits import PAGE_FORM_BYTES
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.secrets.cleaning import clean_name

log = logging.getLogger(__name__)
PASTED = "pasted.txt"
# Of empty files, and of the characters of a name.
MAX_NAMED, MAX_NAME_TEXT = 5, 80
EXAMPLE = "Running 10s test @ http://127.0.0.1:8080/\n  2 threads and 64 connections\n  …"


class NotSent(InvalidInput):
    """The form has nothing to read; the message is a sentence that says why."""


class TextsTooLong(TooLarge):
    """The texts of a form beside its files are longer than those of any other page may be."""

    def __init__(self, length: int) -> None:
        super().__init__(
            f"The pasted output and the other texts have {length:,} characters; at most "
            f"{PAGE_FORM_BYTES:,} are accepted.",
            hint="Choose the file of the output, in place of pasting it.",
        )


def sent_files(request: HttpRequest) -> list[IncomingFile]:
    """The files and the pasted text of an upload form, without empty files.

    Raises NotSent and TextsTooLong.
    """
    _refuse_long_texts(request)
    files: list[IncomingFile] = [file for file in request.FILES.getlist("file") if file.size]
    pasted = request.POST.get("paste", "")
    if pasted.strip():
        files.append(SimpleUploadedFile(PASTED, pasted.replace("\r\n", "\n").encode()))
    if not files and (empty := empty_files_text(request)):
        raise NotSent(
            f"{empty} Nothing was read. Check that the load tool wrote its output into that file, "
            "or paste the output."
        )
    if not files:
        raise NotSent("Nothing was sent. Paste the output of a load tool, or choose its file.")
    return files


def _refuse_long_texts(request: HttpRequest) -> None:
    length = sum(len(text) for _, texts in request.POST.lists() for text in texts)
    if length > PAGE_FORM_BYTES:
        # The form is shown again without them: a page with 5 MB of quotation marks takes 0.5 GB.
        request.POST = QueryDict()
        raise TextsTooLong(length)


def empty_files_text(request: HttpRequest) -> str:
    """Which of the sent files are empty, as a sentence; empty if none is."""
    names = [clean_name(file.name or "") for file in request.FILES.getlist("file") if not file.size]
    if not names:
        return ""
    more = len(names) - MAX_NAMED
    named = [f"“{name[:MAX_NAME_TEXT]}”" for name in names[:MAX_NAMED]]
    listed = ", ".join([*named, *([f"{more} more"] if more > 0 else [])])
    return f"{listed} {'is' if len(names) == 1 else 'are'} empty (0 bytes)."


def preview_context(
    request: HttpRequest,
    *,
    files: Sequence[DryFile] | None = None,
    earlier: Mapping[str, EarlierUpload] | None = None,
    refused: str = "",
) -> dict[str, Any]:
    """The context of a form with its preview. `files` is None before anything was sent.

    `earlier`: uploads of the same bytes, by SHA-256.
    """
    return {
        "pasted": request.POST.get("paste", ""),
        "example": EXAMPLE,
        "files": None if files is None else _shown_files(files, earlier or {}),
        "trial_count": _trial_count(files or ()),
        "refused": refused,
        "left_out": "" if refused else empty_files_text(request),
    }


def _trial_count(files: Sequence[DryFile]) -> str:
    """`36 trials and 12 warm-ups`; empty if no trial was read."""
    trials = [trial for file in files for trial in file.trials]
    warmups = sum(trial.is_warmup for trial in trials)
    return trial_count_text(len(trials), warmups) if trials else ""


def explain_refusal(error: LoadsheetError) -> tuple[str, Answer]:
    """Why the form was refused and what to do, with the answer for it.

    Raises `error` itself where it is a fault and no refusal.
    """
    answer = answer_to(error)
    if answer is None:
        raise error
    if answer.is_for_the_log:
        log.warning("not_available", extra={"reason": repr(error)[:300]})
        return f"{answer.sentence} {answer.page_hint}", answer
    if isinstance(error, NotSent | ParserFailed):
        return str(error), answer
    return f"{error} {hint_for_people(error, answer)}", answer


def _shown_files(
    files: Sequence[DryFile], earlier: Mapping[str, EarlierUpload]
) -> list[dict[str, Any]]:
    """Each file for the template. `same_checks_as`: the name of the first file with equal checks,
    which shows them for all; repeats of one measurement would list them again and again."""
    shown = [_shown(file, earlier) for file in files]
    first_names: dict[str, str] = {}
    for file in shown:
        checks = repr((file["counted"], file["checks"]))
        first = first_names.setdefault(checks, file["name"])
        file["same_checks_as"] = first if file["checks"] and first != file["name"] else ""
    return shown


def _shown(file: DryFile, earlier: Mapping[str, EarlierUpload]) -> dict[str, Any]:
    trials = [_trial(trial) for trial in file.trials]
    return {
        "name": file.name,
        "refusals": file.refusals,
        "notes": list(dict.fromkeys(note for trial in file.trials for note in trial.notes)),
        "trials": trials,
        "counted": sum(not trial.is_warmup for trial in file.trials),
        "checks": _fired_checks(trials),
        "earlier": earlier.get(file.sha256),
    }


def _trial(trial: DryTrial) -> dict[str, Any]:
    findings = [
        {**describe_check(find_check(finding.id)), "detail": finding.detail}
        for finding in trial.findings
    ]
    counts = Counter(finding["severity"] for finding in findings)
    # The checks themselves are listed once for all trials.
    by_weight = [(name, counts[name]) for name in SEVERITIES if name != "info" and counts[name]]
    return {"trial": trial, "checks": findings, "counts": by_weight, **trial.figures}


def _fired_checks(trials: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each check once, the gravest first, with its details and the number of its trials, warm-ups
    not counted."""
    fired: dict[str, dict[str, Any]] = {}
    for trial in trials:
        for check in trial["checks"]:
            entry = fired.setdefault(check["id"], {**check, "count": 0, "details": {}})
            entry["count"] += not trial["trial"].is_warmup
            # As keys: trials with the same detail show it once.
            entry["details"][check["detail"]] = None
    for entry in fired.values():
        entry["details"] = [detail for detail in entry["details"] if detail]
    return sorted(fired.values(), key=lambda entry: SEVERITIES.index(entry["severity"]))
