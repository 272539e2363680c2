"""What each feed holds: entries with an id that never changes, the newest first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from backend.accounts.models import Workspace
from backend.alerts.models import Alert, AlertState
from backend.alerts.wording import STATE_TEXTS, range_text
from backend.links import absolute, link_to, result_set_link, run_link
from backend.runs.catalogue.listing import RunRow, rows_of
from backend.runs.models import Cell, Run, Server
from backend.runs.tables.large_columns import large_columns
from backend.sharing.models import GONE, ResultSet
from backend.sharing.newer_runs import find_matching_since

ENTRIES = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `id_`: a URN; `at`: when it last changed."""

    id_: str
    title: str
    text: str
    link: str
    at: datetime


def entries_of_workspace(workspace: Workspace, result_sets: QuerySet[ResultSet]) -> list[Entry]:
    """The newest runs, and of `result_sets` those that can be read."""
    runs = _newest(Run.objects.filter(workspace=workspace))
    shown = result_sets.filter(workspace=workspace).order_by("-created_at").defer("snapshot")
    sets = [_of_result_set(each) for each in shown[:ENTRIES] if each.state not in GONE]
    return _newest_first([*_of_runs(runs), *sets])


def entries_of_server(server: Server) -> list[Entry]:
    """The newest runs that measured any version of a server."""
    measured = Cell.objects.filter(
        run=OuterRef("pk"), workspace=server.workspace_id, series__server__name=server.name
    )
    return _of_runs(_newest(Run.objects.filter(Exists(measured), workspace=server.workspace_id)))


def entries_of_result_set(result_set: ResultSet, *, is_member: bool, viewer: str) -> list[Entry]:
    """Its publication, what superseded it, and for members the newer runs that match it.

    Raises TooManyAnswers and AnswersBusy.
    """
    entries = [_of_result_set(result_set)]
    newer = result_set.superseded_by
    if newer is not None and (is_member or result_set.may_name(newer)):
        entries.append(
            Entry(
                id_=_urn("superseded", result_set.pk, newer.pk),
                title=f"Superseded by: {newer.title}",
                text="A newer result set replaced this one.",
                link=absolute(result_set_link(newer.link)),
                at=newer.created_at,
            )
        )
    if is_member:
        newer_runs = find_matching_since(result_set, viewer=viewer)
        entries += _of_runs(_newest(Run.objects.filter(pk__in=newer_runs)))
    return _newest_first(entries)


def entries_of_alerts(workspace: Workspace) -> list[Entry]:
    """The newest confirmed alerts, each at its last change."""
    rows = Alert.objects.filter(workspace=workspace).exclude(state=AlertState.UNCONFIRMED)
    rows = rows.select_related("workspace", "rule", "before_run", "first_run")
    rows = rows.defer(*large_columns("before_run__"), *large_columns("first_run__"))
    alerts = rows.prefetch_related("changes").order_by("-confirmed_at")[:ENTRIES]
    return _newest_first(_of_alert(alert) for alert in alerts)


def _of_alert(alert: Alert) -> Entry:
    changes = list(alert.changes.all())
    last = changes[-1]
    by = f" by {last.by_name}" if last.by_name else ""
    word = STATE_TEXTS[AlertState(alert.state)]
    return Entry(
        id_=_urn("alert", alert.pk),
        title=f"{word}: {alert.text}",
        text=" ".join(filter(None, [alert.text, range_text(alert), f"{word}{by}."])),
        link=absolute(link_to("alert-page", alert.workspace.slug, alert.pk)),
        at=last.at,
    )


def _newest(runs: QuerySet[Run]) -> list[Run]:
    """The last that were received: a feed tells what came, whenever it was measured."""
    rows = runs.filter(is_open=False).select_related("workspace", "server_host")
    return list(rows.defer(*large_columns()).order_by("-recorded_at", "-pk")[:ENTRIES])


def _of_runs(runs: Sequence[Run]) -> list[Entry]:
    return [_of_run(row) for row in rows_of(runs)]


def _of_run(row: RunRow) -> Entry:
    labels = ", ".join(f"{name}: {value}" for name, value in sorted(row.labels.items()))
    return Entry(
        id_=_urn("run", row.id),
        title=row.name,
        text=f"{row.trials_text}, {row.state_text.lower()}.{f' {labels}.' if labels else ''}",
        link=absolute(run_link(row.id)),
        at=row.recorded_at,
    )


def _of_result_set(result_set: ResultSet) -> Entry:
    return Entry(
        id_=_urn("result-set", result_set.pk),
        title=result_set.title,
        text=f"A {result_set.kind} result set.",
        link=absolute(result_set.path),
        at=result_set.created_at,
    )


def _urn(kind: str, *ids: UUID) -> str:
    return ":".join(["urn:loadsheet", kind, *map(str, ids)])


def _newest_first(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (entry.at, entry.id_), reverse=True)[:ENTRIES]
