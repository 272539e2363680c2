"""Correcting a run on its page, dismissing its findings, and undoing both."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from backend.accounts.models import Workspace
from backend.analysis.loading.large_runs import hold_slot_if_large
from backend.analysis.pages.run import describe_corrections
from backend.analysis.query.field import natural
from backend.errors import Conflict
from backend.ingest.reprocessing.editing import edit_run, undo_edit
from backend.links import own_path, run_link
from backend.runs.amending.dismissals import dismiss
from backend.runs.amending.dismissals import undo as restore
from backend.runs.amending.editing import CorrectionRefused
from backend.runs.models import Correction, Host, Run, Server, Trial, Workload
from backend.runs.recording.corrections import TRIAL_FIELDS, active_corrections
from backend.runs.registry.registry import lock_names
from backend.runs.registry.shown import shown_rows
from backend.runs.tables.names import MAX_NAME, MAX_NOTES
from backend.untrusted.limits import ENVELOPE_TRIALS
from backend.web.base import visible

Field = Correction.Field
# As a field for date and time sends it.
TIME = "%Y-%m-%dT%H:%M"
MAX_CHOICES = 200
# The numbers of all trials, each with its comma and a space.
MAX_TRIALS_TEXT = 7 * ENVELOPE_TRIALS
SEVERAL_NOW = "Its trials have several values. The corrections below say who set which."


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The form with what is recorded of the run. A POST saves the fields that were changed."""
    run = writable_run_or_404(request, run_id)
    if request.method != "POST":
        return _form(request, run, _recorded(run))
    given = {str(name): request.POST.get(name, "") for name in Field}
    try:
        count = _save(request, run, given)
    except CorrectionRefused as refused:
        return _form(request, run, given, refused=refused)
    except EditedMeanwhile as meanwhile:
        return _form(request, run, given, edited_meanwhile=meanwhile.texts)
    sentence = "Saved. Frozen result sets do not change." if count else "Nothing was changed."
    messages.info(request, sentence)
    return HttpResponseRedirect(run_link(run_id))


@require_POST
def undo(request: HttpRequest, run_id: UUID, correction_id: UUID) -> HttpResponse:
    """Undo one correction of the run."""
    run = writable_run_or_404(request, run_id)
    is_undone = undo_edit(run, correction_id, by=visible.viewer(request))
    messages.info(request, "The correction was undone." if is_undone else "It was already undone.")
    return HttpResponseRedirect(run_link(run_id))


def writable_run_or_404(request: HttpRequest, run_id: UUID) -> Run:
    """The run, for a change; 404 as `changeable_or_404`."""
    rows = Run.objects.select_related("workspace", "server_host", "client_host")
    readable = rows.filter(pk=run_id, workspace__in=visible.workspaces(request))
    return changeable_or_404(request, readable.first())


def changeable_or_404(request: HttpRequest, run: Run | None) -> Run:
    """The run, if the viewer may change it; 404 for viewers, as for strangers.

    What changes a large run computes its figures again, so the answer holds a slot of the viewer.
    """
    run = visible.or_404(run)
    visible.or_404(visible.may_write(request, run.workspace))
    hold_slot_if_large(run.trials.all(), viewer=visible.viewer_name(request))
    return run


class EditedMeanwhile(Conflict):
    """Somebody changed a field after the form was opened. `texts`: what it has now, by field."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__("These fields were changed since the form was opened.")
        self.texts = texts


def _save(request: HttpRequest, run: Run, given: Mapping[str, str]) -> int:
    """Save what differs from what the form showed; how many fields. Raises EditedMeanwhile."""
    changed = _changed(request, given)
    of_trials = _values(given, [name for name in changed if name in TRIAL_FIELDS])
    of_run = _values(given, [name for name in changed if name not in TRIAL_FIELDS])
    ordinals, author = read_ordinals(request.POST.get("trials", "")), visible.viewer(request)
    with transaction.atomic():
        # As editing does, so that no other edit comes between this look and the saving.
        lock_names(run.workspace, exclusive=True)
        _refuse_overwriting(request, writable_run_or_404(request, run.pk), changed)
        made = edit_run(run, of_trials, ordinals=ordinals, author=author) if of_trials else []
        made += edit_run(run, of_run, author=author) if of_run else []
    return len(made)


def _changed(request: HttpRequest, given: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The texts that the form showed and that it sends, of each field where they differ."""
    texts = {name: (request.POST.get(f"was-{name}", ""), text) for name, text in given.items()}
    return {name: pair for name, pair in texts.items() if _lines(pair[0]) != _lines(pair[1])}


def _values(given: Mapping[str, str], names: Sequence[str]) -> dict[str, Any]:
    return {name: _value_of(Field(name), given[name]) for name in names}


def _refuse_overwriting(
    request: HttpRequest, run: Run, changed: Mapping[str, tuple[str, str]]
) -> None:
    """Raise EditedMeanwhile where a changed field is neither as the form showed it nor as it sends
    it; `changed`: both texts, by field.
    """
    recorded, several, corrected = _recorded(run), _several(run), _corrected(run)
    others = {}
    for name, (shown, sent) in changed.items():
        now = _lines(recorded[name])
        # The text alone does not tell: several values have none, whatever they are.
        is_as_shown = (
            now == _lines(shown) and request.POST.get(f"corrected-{name}", "") == corrected[name]
        )
        is_as_sent = now == _lines(sent) and name not in several
        if not (is_as_shown or is_as_sent):
            others[name] = recorded[name]
    if others:
        raise EditedMeanwhile(others)


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


def _value_of(field: Field, text: str) -> Any:
    """The value that the text of a field stands for."""
    if field == Field.STARTED_AT:
        return _read_time(text.strip())
    return _read_labels(text) if field == Field.LABELS else text.strip()


def _read_time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text[:16], TIME).replace(tzinfo=UTC) if text else None
    except ValueError:
        raise CorrectionRefused(
            Field.STARTED_AT,
            f"Started: got “{text[:40]}”, expected a time such as 2026-01-31T12:00.",
        ) from None


def _read_labels(text: str) -> dict[str, str]:
    labels = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not (name and colon and value):
            raise CorrectionRefused(
                Field.LABELS, f"Labels: got “{line[:60]}”, expected a line such as name: value."
            )
        labels[name] = value
    return labels


def read_ordinals(text: str) -> list[int] | None:
    """The numbers of a text such as "1-4, 7"; None for an empty text. Raises CorrectionRefused."""
    if not text.strip():
        return None
    if len(text) > MAX_TRIALS_TEXT:
        raise _too_many_trials(f"{len(text)} characters", f"{MAX_TRIALS_TEXT} characters")
    ordinals: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})\s*(?:[-–]\s*(\d{1,5})\s*)?", part, re.ASCII)
        if match is None:
            raise CorrectionRefused(
                "trials", f"Trials: got “{part.strip()[:40]}”, expected numbers such as 1-4, 7."
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last > ENVELOPE_TRIALS:
            raise _too_many_trials(f"the number {last}", f"the number {ENVELOPE_TRIALS}")
        ordinals += range(first, last + 1)
        # Before the next part, which may be as long.
        if len(ordinals) > ENVELOPE_TRIALS:
            raise _too_many_trials(f"more than {ENVELOPE_TRIALS} trials", "so many")
    return sorted(set(ordinals))


def write_ordinals(ordinals: Sequence[int]) -> str:
    """`0-41, 50`: rising numbers, with a range where three or more follow each other."""
    ranges: list[list[int]] = []
    for ordinal in ordinals:
        if ranges and ordinal == ranges[-1][-1] + 1:
            ranges[-1].append(ordinal)
        else:
            ranges.append([ordinal])
    return ", ".join(
        f"{first}-{rest[-1]}" if len(rest) > 1 else ", ".join(map(str, (first, *rest)))
        for first, *rest in ranges
    )


def _too_many_trials(got: str, most: str) -> CorrectionRefused:
    return CorrectionRefused(
        "trials",
        f"Trials: got {got}, expected at most {most}. Leave the field empty for all trials.",
    )


_COLUMNS = {
    Field.SERVER: "cell__series__server__name",
    Field.VERSION: "cell__series__server__version",
    Field.WORKLOAD: "cell__series__workload__name",
}


def _values_of_trials(run: Run) -> dict[str, list[str | None]]:
    """The values of each field of trials, each once; at most two."""
    rows = Trial.objects.filter(run=run).order_by()
    return {
        str(field): list(rows.values_list(column, flat=True).distinct()[:2])
        for field, column in _COLUMNS.items()
    }


def _several(run: Run) -> list[str]:
    """The fields of which several trials have several values."""
    return [field for field, values in _values_of_trials(run).items() if len(values) > 1]


def _corrected(run: Run) -> dict[str, str]:
    """By field, how many corrections of it stand and the id of the newest: it differs once one is
    made or undone.
    """
    made = active_corrections(run.pk)
    of_field = {str(name): [each.pk for each in made if each.field == name] for name in Field}
    return {name: f"{len(ids)}:{ids[-1]}" if ids else "" for name, ids in of_field.items()}


def _recorded(run: Run) -> dict[str, str]:
    """The text of each field; empty if several trials have several values."""
    return {
        **{
            field: (values[0] or "") if len(values) == 1 else ""
            for field, values in _values_of_trials(run).items()
        },
        "server_host": str(run.server_host or ""),
        "client_host": str(run.client_host or ""),
        "started_at": run.started_at.astimezone(UTC).strftime(TIME) if run.started_at else "",
        "labels": "\n".join(f"{name}: {value}" for name, value in run.labels.items()),
        "notes": run.notes,
    }


def _form(
    request: HttpRequest,
    run: Run,
    given: Mapping[str, str],
    *,
    refused: CorrectionRefused | None = None,
    edited_meanwhile: Mapping[str, str] | None = None,
) -> HttpResponse:
    others = edited_meanwhile or {}
    recorded, several, corrected = _recorded(run), _several(run), _corrected(run)
    context = {
        "workspace": run.workspace,
        "nav": "runs",
        "run": run,
        "given": given,
        # A field that others changed is saved on the next press: its text of now was shown then.
        "was": {
            name: others.get(name, request.POST.get(f"was-{name}", text))
            for name, text in recorded.items()
        },
        "corrected": {
            name: text if name in others else request.POST.get(f"corrected-{name}", text)
            for name, text in corrected.items()
        },
        "edited_meanwhile": [
            (Field(name).label, SEVERAL_NOW if name in several else text)
            for name, text in others.items()
        ],
        "trials": request.POST.get("trials", ""),
        "refused": refused,
        "servers": _servers(run),
        "several": several,
        "choices": _choices(run.workspace),
        "max_name": MAX_NAME,
        "max_notes": MAX_NOTES,
        "corrections": describe_corrections(run.pk),
    }
    status = 409 if others else 200 if refused is None else 400
    return render(request, "run_edit.html", context, status=status)


def _servers(run: Run) -> Sequence[tuple[str, str]]:
    """Each server of the run with the numbers of its trials, as `read_ordinals` reads them."""
    trials = (
        Trial.objects.filter(run=run).select_related("cell__series__server").order_by("ordinal")
    )
    ordinals: dict[str, list[int]] = {}
    for trial in trials.only("ordinal", "cell__series__server").defer("cell__histogram"):
        ordinals.setdefault(str(trial.cell.series.server), []).append(trial.ordinal)
    return [(server, write_ordinals(numbers)) for server, numbers in ordinals.items()]


def _choices(workspace: Workspace) -> dict[str, list[str]]:
    """Names that are in use, which the fields offer."""
    own = [workspace.pk]
    columns = {
        "server": shown_rows(Server, own).values_list("name", flat=True),
        "version": shown_rows(Server, own).exclude(version=None).values_list("version", flat=True),
        "workload": shown_rows(Workload, own).values_list("name", flat=True),
        "host": shown_rows(Host, own).exclude(name=None).values_list("name", flat=True),
    }
    return {
        name: sorted(filter(None, column.order_by().distinct()[:MAX_CHOICES]), key=natural)
        for name, column in columns.items()
    }


@require_POST
def dismissals(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Fields: check, reason; undo=1 restores the finding.

    Redirects to `next`, a page of this site, or to the page of the run.
    """
    run = writable_run_or_404(request, run_id)
    viewer = visible.viewer(request)
    # PostgreSQL refuses to look for NUL.
    check_id = request.POST.get("check", "").replace("\0", "")
    if request.POST.get("undo") == "1":
        is_undone = restore(run, check_id, by=viewer)
        sentence = "The dismissal was undone." if is_undone else "There was no dismissal."
        messages.info(request, sentence)
    else:
        dismiss(run, check_id, reason=request.POST.get("reason", ""), author=viewer)
        messages.info(request, "The finding was dismissed. It stays visible with your reason.")
    page = own_path(request.POST.get("next", ""), run_link(run_id))
    return HttpResponseRedirect(f"{page.partition('#')[0]}#check-{check_id}")
