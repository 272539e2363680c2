"""Correcting a run by hand, and undoing it: each change is a row of its own (decision 0027)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from msgspec import json

from backend.accounts.credentials.token_format import holds_token
from backend.accounts.models import User, Workspace
from backend.errors import InvalidInput, NotFound
from backend.runs.amending.dismissals import check_texts
from backend.runs.amending.regrouping import regroup, write_columns
from backend.runs.amending.room import kept_bytes, take_room
from backend.runs.measured.trial_parts import give_cells
from backend.runs.models import Correction, FormerName, Run, Series, Trial
from backend.runs.recording.as_read import read_run, read_trial, trials_sharing_as_read
from backend.runs.recording.corrections import (
    HOST_FIELDS_OF_RUN,
    TRIAL_FIELDS,
    Field,
    active_corrections,
    as_text,
)
from backend.runs.registry.registry import MODELS, current_name, identity_fields, lock_names
from backend.runs.registry.shown import remove_unused_series
from backend.runs.tables.happening import lies_ahead
from backend.runs.tables.names import (
    MAX_CORRECTIONS,
    MAX_LABELS,
    MAX_LABELS_BYTES,
    MAX_NAME,
    MAX_NOTES,
    clean_name,
    is_unknown,
)

# So that no time computed from it, such as the end of the run, is out of range.
_FIRST_YEAR = 1970
_FIELDS_OF_RUN_ALONE = (Field.STARTED_AT, Field.LABELS, Field.NOTES)
_KINDS = {
    Field.WORKLOAD: FormerName.Kind.WORKLOAD,
    Field.SERVER_HOST: FormerName.Kind.HOST,
    Field.CLIENT_HOST: FormerName.Kind.HOST,
}


class CorrectionRefused(InvalidInput):
    """Nothing was changed; the message says what was got and what was expected."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


@transaction.atomic
def correct(
    run_id: UUID,
    values: Mapping[str, Any],
    *,
    ordinals: Sequence[int] | None = None,
    author: User | None,
) -> list[Correction]:
    """Set fields of a run, or of its trials with these ordinals, to other values.

    `values`: by `Correction.Field`; None is unknown. Returns a correction for each field that had
    another value. Raises CorrectionRefused, NotFound for a run that was deleted, and what
    TEXT_CHECKS raise.
    """
    run = _lock(run_id)
    cleaned = {Field(name): _cleaned(Field(name), value) for name, value in values.items()}
    trials = _chosen_trials(run, ordinals, cleaned)
    for field in cleaned if ordinals is not None else ():
        if field not in TRIAL_FIELDS:
            raise CorrectionRefused(
                field, f"{field}: belongs to the whole run. Correct it without naming trials."
            )
    made = [
        Correction(
            run=run,
            field=field,
            ordinals=None if ordinals is None else sorted(set(ordinals)),
            before=before,
            value=value,
            facts=_facts_of(run, field, value, trials),
            author=author,
        )
        for field, value in cleaned.items()
        if (before := _values_now(run, field, trials)) != [value]
    ]
    if made:
        _save(run, made)
        _apply(run, made)
    return made


@transaction.atomic
def undo_correction(run_id: UUID, correction_id: UUID, *, by: User | None) -> bool:
    """Undo a correction of the run; whether there was one that was not undone yet."""
    run = _lock(run_id)
    active = Correction.objects.filter(run=run, pk=correction_id, undone_at=None)
    undone = list(active)
    if undone:
        active.update(undone_at=timezone.now(), undone_by=by)
        _apply(run, undone)
    return bool(undone)


def _lock(run_id: UUID) -> Run:
    workspace = Workspace.objects.filter(runs=run_id).first()
    run = None
    if workspace is not None:
        # Alone, so that no recording takes a row that is about to go.
        lock_names(workspace, exclusive=True)
        rows = Run.objects.select_related("workspace", "server_host", "client_host")
        run = rows.select_for_update(of=("self",)).filter(pk=run_id).first()
    if run is None:
        raise NotFound(f"There is no run {run_id} any more.")
    return run


def _save(run: Run, made: Sequence[Correction]) -> None:
    count = Correction.objects.filter(run=run).count()
    if count + len(made) > MAX_CORRECTIONS:
        raise CorrectionRefused(
            made[0].field,
            f"This run has {count:,} corrections, undone ones included; at most "
            f"{MAX_CORRECTIONS:,} are kept. Upload its output again with the right values.",
        )
    # One at a time: they are ordered by when they were made.
    for correction in made:
        correction.save()
    rows = Correction.objects.filter(pk__in=[correction.pk for correction in made])
    take_room(run.workspace_id, kept_bytes(rows))


def _apply(run: Run, changed: Sequence[Correction]) -> None:
    """Write what follows from the corrections that were made or undone."""
    corrections = active_corrections(run.pk)
    if all(correction.field in _FIELDS_OF_RUN_ALONE for correction in changed):
        # Its trials may be thousands, and uploads of the workspace wait meanwhile.
        write_columns(run, corrections)
    else:
        regroup(run, corrections)
        remove_unused_series(run.workspace_id)
    check_texts(run)


def _chosen_trials(
    run: Run, ordinals: Sequence[int] | None, fields: Collection[Field]
) -> list[Trial]:
    """The trials with these ordinals, or all; none where no field is of trials."""
    if ordinals is None and TRIAL_FIELDS.isdisjoint(fields):
        return []
    rows = Trial.objects.filter(run=run).only("ordinal", "as_read", "cell")
    chosen = rows if ordinals is None else rows.filter(ordinal__in=ordinals)
    trials = trials_sharing_as_read(chosen.order_by("ordinal"))
    give_cells(trials, "server", "workload")
    if ordinals is None:
        return trials
    if missing := set(ordinals) - {trial.ordinal for trial in trials}:
        raise CorrectionRefused("trials", f"trials: this run has no trial {min(missing)}.")
    if not trials:
        raise CorrectionRefused("trials", "trials: got none, expected the number of a trial.")
    return trials


def recorded_values(
    run_id: UUID, names: Collection[str], *, ordinals: Sequence[int] | None = None
) -> dict[str, list[Any]]:
    """By field, the values that the run has, or its trials with these ordinals; each once.

    `names`: of `Correction.Field`. Raises CorrectionRefused for an ordinal that the run lacks.
    """
    run = Run.objects.select_related("server_host", "client_host").get(pk=run_id)
    fields = [Field(name) for name in names]
    trials = _chosen_trials(run, ordinals, fields)
    return {str(field): _values_now(run, field, trials) for field in fields}


def _values_now(run: Run, field: Field, trials: Sequence[Trial]) -> list[Any]:
    """The values that the field has, each once."""
    if field not in TRIAL_FIELDS:
        value = getattr(run, field)
        return [as_text(value) if isinstance(value, datetime) else _name_of(field, value)]
    return list(dict.fromkeys(_value_of_series(field, trial.cell.series) for trial in trials))


def _value_of_series(field: Field, series: Series) -> str | None:
    if field == Field.WORKLOAD:
        return series.workload.name
    return series.server.name if field == Field.SERVER else series.server.version


def _name_of(field: Field, value: Any) -> Any:
    return str(value) if field in HOST_FIELDS_OF_RUN and value is not None else value


def _facts_of(run: Run, field: Field, name: Any, trials: Sequence[Trial]) -> dict[str, Any]:
    """Identity fields of the only workload or host of this name that nothing read contradicts.

    A saved output tells little of either: with the name, the thing is meant.
    """
    kind = _KINDS.get(field)
    if kind is None or name is None:
        return {}
    reads = _reads(run, field, trials)
    called = Q(workspace=run.workspace, name=current_name([run.workspace_id], kind, name))
    rows = [identity_fields(row) for row in MODELS[kind]._default_manager.filter(called)]
    fitting = [row for row in rows if all(_is_compatible(read, row) for read in reads)]
    return fitting[0] if len(fitting) == 1 else {}


def _reads(run: Run, field: Field, trials: Sequence[Trial]) -> list[Mapping[str, Any]]:
    """What was read of the workloads or of the host that the field names."""
    if field == Field.WORKLOAD:
        return [read_trial(trial)["workload"] for trial in trials]
    return [read_run(run)[field] or {}]


def _is_compatible(read: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether no fact but the name is known of both and differs."""
    names = (read.keys() & row.keys()) - {"name"}
    pairs = ((read[name], row[name]) for name in names)
    return all(fact == other for fact, other in pairs if _is_recorded(fact) and _is_recorded(other))


def _is_recorded(fact: object) -> bool:
    return fact is not None and fact != {}


def _cleaned(field: Field, value: Any) -> Any:
    cleaned = _CLEANERS[field](field, value)
    if holds_token(str(cleaned)):
        raise CorrectionRefused(
            field,
            f"{field}: got a Loadsheet token (ls_…), expected no secrets. Revoke the token on the "
            "page Tokens.",
        )
    return cleaned


def _clean_required(field: Field, value: Any) -> str:
    name = _clean_optional(field, value)
    if name is None:
        raise CorrectionRefused(field, f"{field}: got nothing, expected a name.")
    return name


def _clean_optional(field: Field, value: Any) -> str | None:
    if is_unknown(value):
        return None
    name = clean_name(value) if isinstance(value, str) else None
    if name is None:
        raise CorrectionRefused(
            field,
            f"{field}: expected at most {MAX_NAME} characters without NUL, or nothing where it is "
            "unknown.",
        )
    return name


def _clean_time(field: Field, value: Any) -> str | None:
    is_time = isinstance(value, datetime)
    if is_time and (value.year < _FIRST_YEAR or lies_ahead(value)):
        raise CorrectionRefused(
            field,
            f"{field}: got {value:%Y-%m-%d %H:%M}, expected a time from {_FIRST_YEAR} until now.",
        )
    if value is None or is_time:
        return as_text(value)
    raise CorrectionRefused(field, f"{field}: expected a time such as 2026-01-31T12:00:00Z.")


def _clean_labels(field: Field, value: Any) -> dict[str, str]:
    labels = dict(value) if isinstance(value, Mapping) else None
    if labels is None or len(labels) > MAX_LABELS or not all(map(_is_label, labels.items())):
        raise CorrectionRefused(
            field,
            f"{field}: expected at most {MAX_LABELS} names with texts as values, each of 1 to "
            f"{MAX_NAME} characters without NUL.",
        )
    size_bytes = len(json.encode(labels))
    if size_bytes > MAX_LABELS_BYTES:
        raise CorrectionRefused(
            field,
            f"{field}: these labels have {size_bytes:,} bytes as JSON; expected at most "
            f"{MAX_LABELS_BYTES:,}.",
        )
    return labels


def _is_label(pair: tuple[Any, Any]) -> bool:
    return all(
        isinstance(text, str) and 0 < len(text) <= MAX_NAME and "\0" not in text for text in pair
    )


def _clean_notes(field: Field, value: Any) -> str:
    notes = value or ""
    if not isinstance(notes, str) or len(notes) > MAX_NOTES or "\0" in notes:
        raise CorrectionRefused(
            field, f"{field}: expected at most {MAX_NOTES} characters without NUL."
        )
    return notes.strip()


_CLEANERS: dict[Field, Callable[[Field, Any], Any]] = {
    Field.SERVER: _clean_required,
    Field.VERSION: _clean_optional,
    Field.WORKLOAD: _clean_required,
    Field.SERVER_HOST: _clean_optional,
    Field.CLIENT_HOST: _clean_optional,
    Field.STARTED_AT: _clean_time,
    Field.LABELS: _clean_labels,
    Field.NOTES: _clean_notes,
}
