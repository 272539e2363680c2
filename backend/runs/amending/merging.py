"""Merging two servers, hosts or workloads that are one, and undoing it (decision 0027).

What was read keeps its name in `as_read`. The name that went leads to the name that stayed, for
links and for later uploads.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q, Sum
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.models import Act, User, Workspace
from backend.errors import InvalidInput
from backend.runs.amending.regrouping import regroup_all
from backend.runs.amending.renaming import remember_name
from backend.runs.amending.room import kept_bytes, take_room
from backend.runs.database.bulk import among, insert_rows
from backend.runs.database.json_bytes import bytes_of_columns
from backend.runs.models import (
    Cell,
    Correction,
    FormerName,
    Host,
    Merge,
    Run,
    Series,
    Server,
    Trial,
    Workload,
)
from backend.runs.recording.cells import join_cells
from backend.runs.recording.configurations import configuration_bytes_together
from backend.runs.registry.registry import (
    HOST_ROLES,
    MODELS,
    PARTS,
    SeriesIdentity,
    identity_fields,
    identity_hash,
    lock_names,
    register_host,
    register_series,
    register_servers,
    register_workloads,
    roles_of,
)
from backend.runs.registry.shown import remove_unused_series, shown_rows
from backend.transactions import whole

Kind = FormerName.Kind
Row = Server | Host | Workload
# Undoing a merge computes each of the runs again, while uploads of the workspace wait.
MAX_RUNS = 1000
# About a millisecond of a processor each.
MAX_TRIALS = 50_000
# The merge keeps each row of the name, so that it can be undone.
MAX_ROWS, MAX_ROW_BYTES = 2_000, 8 << 20
# Each series of the name is replaced, with its server and its workload.
MAX_RELATED_BYTES = 32 << 20
# Of a workspace. Each holds the rows that it merged; the audit log tells of those before.
UNDONE_KEPT = 1000


class MergeRefused(InvalidInput):
    """Nothing was merged or undone; the message says what was got and what was expected."""


@whole
def merge(
    workspace: Workspace, kind: FormerName.Kind, source: str, target: str, author: User | None
) -> Merge:
    """Give everything of the name `source` the name `target`, which exists. Raises MergeRefused."""
    lock_names(workspace, exclusive=True)
    if source == target:
        raise MergeRefused(f"“{source}” cannot be merged with itself. Choose another {kind}.")
    rows = _named(workspace, kind, source)
    if not shown_rows(MODELS[kind], [workspace.pk]).filter(name=target).exists():
        raise MergeRefused(f"There is no {kind} named “{target}”. Choose one from the list.")
    _refuse_many(kind, source, rows)
    _keep_what_was_read(kind, rows)
    merged = Merge(workspace=workspace, kind=kind, source=source, target=target, author=author)
    for row in rows:
        fields = identity_fields(row)
        into = _register(workspace, kind, {**fields, "name": target})
        _replace_row(workspace, kind, row, into)
        slot = row.slot if isinstance(row, Server) else None
        entry = {"id": str(row.pk), "fields": fields, "slot": slot, "into": str(into.pk)}
        merged.rows.append(entry)
    merged.former_names = _names_leading_to(workspace, kind, source)
    merged.save()
    take_room(workspace.pk, kept_bytes(Merge.objects.filter(pk=merged.pk)))
    remove_unused_series(workspace.pk)
    MODELS[kind]._default_manager.filter(pk__in=[row.pk for row in rows]).delete()
    remember_name(workspace, kind, source, target, author)
    workspace.changed()
    _record(Act.MERGE_MADE, merged)
    return merged


@whole
def undo_merge(merged: Merge, *, by: User | None) -> bool:
    """Give back the rows and names of before; whether the merge was not undone yet.

    Raises MergeRefused where another row has the identity of one of them by now.
    """
    workspace = merged.workspace
    lock_names(workspace, exclusive=True)
    active = Merge.objects.filter(pk=merged.pk, undone_at=None)
    if not active.update(undone_at=timezone.now(), undone_by=by):
        return False
    kind = Kind(merged.kind)
    _give_back_names(merged)
    rows = [_row_of(merged, entry) for entry in merged.rows]
    _refuse_rows_in_use(merged, rows)
    insert_rows(MODELS[kind], rows)
    regroup_all(_runs_named(workspace, kind, [merged.source, *merged.former_names["led"]]))
    remove_unused_series(workspace.pk)
    workspace.changed()
    _record(Act.MERGE_UNDONE, merged)
    _forget_undone(workspace)
    return True


def _forget_undone(workspace: Workspace) -> None:
    undone = Merge.objects.filter(workspace=workspace).exclude(undone_at=None)
    older = undone.order_by("-undone_at").values_list("pk", flat=True)[UNDONE_KEPT:]
    forgotten = Merge.objects.filter(pk__in=list(older))
    take_room(workspace.pk, -kept_bytes(forgotten))
    forgotten.delete()


def _refuse_rows_in_use(merged: Merge, rows: Sequence[Row]) -> None:
    """Refuse rows that are there again: a renaming or an upload gave the name back since."""
    identities = [row.identity for row in rows]
    stored = MODELS[Kind(merged.kind)]._default_manager.filter(workspace=merged.workspace)
    if stored.filter(identity__in=identities).exists():
        raise MergeRefused(
            f"There is a {merged.kind} “{merged.source}” again, so the merge cannot be undone.",
            hint=f"Rename that {merged.kind}, then undo the merge.",
        )


def _record(act: Act, merged: Merge) -> None:
    record(
        act,
        merged.workspace,
        subject=merged.source,
        subject_id=merged.pk,
        kind=str(merged.kind),
        into=merged.target,
    )


def merges_into(workspace: Workspace, kind: FormerName.Kind, name: str) -> Sequence[Merge]:
    """The merges that stand, of names that lead to `name` now, the latest first."""
    leading = FormerName.objects.filter(workspace=workspace, kind=kind, current=name)
    active = Merge.objects.filter(workspace=workspace, kind=kind, undone_at=None)
    leading_here = active.filter(source__in=leading.values("former"))
    return list(leading_here.select_related("author").defer("rows"))


def successor_of(workspace: Workspace, kind: FormerName.Kind, id_: UUID) -> UUID | None:
    """The row that replaced the row with this id in a merge; None if there was none."""
    contains = json.dumps([{"id": str(id_)}])
    with connection.cursor() as cursor:
        cursor.execute(_SUCCESSOR, [workspace.pk, kind, contains, str(id_)])
        row = cursor.fetchone()
    return None if row is None else UUID(row[0])


# In the database: a merge may have megabytes of rows.
_SUCCESSOR = """
SELECT entry ->> 'into' FROM runs_merge, jsonb_array_elements(rows) AS entry
WHERE workspace_id = %s AND kind = %s AND undone_at IS NULL
    AND rows @> %s::jsonb AND entry ->> 'id' = %s
ORDER BY merged_at DESC LIMIT 1
"""


def _named(workspace: Workspace, kind: FormerName.Kind, name: str) -> list[Row]:
    rows: list[Any] = list(MODELS[kind]._default_manager.filter(workspace=workspace, name=name))
    if not rows:
        raise MergeRefused(f"There is no {kind} named “{name}” any more. Reload its page.")
    return rows


def _refuse_many(kind: FormerName.Kind, source: str, rows: Sequence[Row]) -> None:
    if kind == Kind.HOST:
        of_rows = Q(server_host__in=rows) | Q(client_host__in=rows)
        runs_of_rows = Run.with_trash.filter(of_rows).order_by()
        runs, trials = runs_of_rows.count(), Trial.objects.filter(run__in=runs_of_rows).count()
        cells = Cell.objects.filter(run__in=runs_of_rows)
    else:
        cells = Cell.objects.filter(**{f"series__{kind}__in": rows})
        runs = cells.order_by().values("run").distinct().count()
        trials = Trial.objects.filter(cell__in=cells).count()
    ids = [row.pk for row in rows]
    model = MODELS[kind]
    sizes = model._default_manager.filter(pk__in=ids).aggregate(size=Sum(bytes_of_columns(model)))
    bounds = (
        ("runs", runs, MAX_RUNS),
        ("trials", trials, MAX_TRIALS),
        ("configurations", len(rows), MAX_ROWS),
        ("bytes of configurations", sizes["size"] or 0, MAX_ROW_BYTES),
    )
    for bound in bounds:
        _refuse_above(kind, source, *bound)
    # Last, as it costs what the bounds above leave.
    noun = "bytes of configurations and headers measured with it"
    _refuse_above(kind, source, noun, configuration_bytes_together(cells), MAX_RELATED_BYTES)


def _refuse_above(kind: FormerName.Kind, source: str, noun: str, count: int, most: int) -> None:
    if count > most:
        raise MergeRefused(
            f"“{source}” has {count:,} {noun}; at most {most:,} can be merged. If the other "
            f"{kind} has fewer {noun}, merge it into this one."
        )


def _register(workspace: Workspace, kind: FormerName.Kind, fields: dict[str, Any]) -> Row:
    if kind == Kind.SERVER:
        return register_servers(workspace, [fields])[0]
    if kind == Kind.WORKLOAD:
        return register_workloads(workspace, [fields])[0]
    host = register_host(workspace, fields)
    assert host is not None  # it has a name
    return host


_OF_TRIALS = """
UPDATE runs_trial SET as_read = coalesce(as_read, '{{}}') || jsonb_build_object(
    '{part}', jsonb_build_object('name', %s::text) || coalesce(as_read->'{part}', '{{}}'))
FROM runs_cell JOIN runs_series ON runs_series.id = runs_cell.series_id
WHERE runs_trial.cell_id = runs_cell.id AND runs_series.{part}_id = %s
"""
_OF_RUNS = """
UPDATE runs_run SET as_read = jsonb_build_object(%s::text, %s::jsonb) || coalesce(as_read, '{{}}')
WHERE {part}_id = %s
"""


def _keep_what_was_read(kind: FormerName.Kind, rows: Sequence[Row]) -> None:
    """Write into `as_read` of all trials the name, and of all runs the host, where none is kept."""
    with connection.cursor() as cursor:
        for row in rows:
            if kind != Kind.HOST:
                cursor.execute(_OF_TRIALS.format(part=kind), [row.name, row.pk])
                continue
            fields = json.dumps(identity_fields(row))
            for role in HOST_ROLES:
                cursor.execute(_OF_RUNS.format(part=role), [role, fields, row.pk])


def _replace_row(workspace: Workspace, kind: FormerName.Kind, row: Row, into: Row) -> None:
    """Give all series and runs of `row` the row `into`."""
    roles = roles_of(kind)
    of_row = Q()
    for role in roles:
        of_row |= Q(**{role: row})
        if kind == Kind.HOST:
            Run.with_trash.filter(**{role: row}).update(**{role: into})
    all_series = list(Series.objects.filter(of_row).select_related(*PARTS))
    identities = []
    for series in all_series:
        changed: Any = {role: into for role in roles if getattr(series, role) == row}
        identities.append(replace(SeriesIdentity.of(series), **changed))
    for series, other in zip(all_series, register_series(workspace, identities), strict=True):
        _move_cells(series, other)


# What tells the place of a cell, and what a new cell there needs.
_PLACE = ("run", "workspace", "connections", "rate_rps")


def _move_cells(series: Series, other: Series) -> None:
    """Give the cells of `series` to `other`; two of one run at one load become one."""
    rows = Cell.objects.filter(series=series).select_related("run__workspace")
    cells = list(rows.only(*_PLACE, "run__workspace"))
    twins = {_place(cell): cell for cell in Cell.objects.filter(series=other).only(*_PLACE)}
    alone = [cell.pk for cell in cells if _place(cell) not in twins]
    Cell.objects.filter(among("pk", alone)).update(series=other)
    pairs = [(cell, twins[_place(cell)]) for cell in cells if _place(cell) in twins]
    if pairs:
        join_cells(pairs, other)


def _place(cell: Cell) -> tuple[object, ...]:
    return (cell.run_id, cell.connections, cell.rate_rps)


def _names_leading_to(workspace: Workspace, kind: FormerName.Kind, source: str) -> dict[str, Any]:
    names = FormerName.objects.filter(workspace=workspace, kind=kind)
    own = names.filter(former=source).values_list("current", flat=True).first()
    led = names.filter(current=source).exclude(former=source).values_list("former", flat=True)
    return {"led": list(led), "own": own}


def _give_back_names(merged: Merge) -> None:
    names = FormerName.objects.filter(workspace=merged.workspace, kind=merged.kind)
    own = names.filter(former=merged.source)
    # A name that leads elsewhere was given back, and then merged or renamed, since.
    led = names.filter(former__in=merged.former_names["led"], current__in=own.values("current"))
    led.update(current=merged.source)
    if merged.former_names["own"] is None:
        own.delete()
    else:
        own.update(current=merged.former_names["own"])


def _row_of(merged: Merge, entry: dict[str, Any]) -> Any:
    """The row as it was before the merge, not saved."""
    slot = {} if entry["slot"] is None else {"slot": entry["slot"]}
    return MODELS[Kind(merged.kind)](
        id=UUID(entry["id"]),
        workspace=merged.workspace,
        identity=identity_hash(entry["fields"]),
        **entry["fields"],
        **slot,
    )


def _runs_named(
    workspace: Workspace, kind: FormerName.Kind, names: Sequence[str]
) -> Sequence[UUID]:
    """The runs that were read, or corrected, to have one of these names; they are locked."""
    corrected = Correction.objects.filter(undone_at=None, run__workspace=workspace)
    of_run = Q(pk__in=corrected.filter(field__in=roles_of(kind), value__in=names).values("run"))
    if kind == Kind.HOST:
        for role in HOST_ROLES:
            of_run |= Q(**{f"as_read__{role}__name__in": names})
    else:
        trials = Trial.objects.filter(**{f"as_read__{kind}__name__in": names})
        of_run |= Q(pk__in=trials.values("run"))
    rows = Run.with_trash.filter(of_run, workspace=workspace).select_for_update(of=("self",))
    return list(rows.values_list("pk", flat=True))
