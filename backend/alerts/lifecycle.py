"""How alerts come, are confirmed, recover and are answered by members.

They begin with what a rule sees of one subject in one run.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from backend.accounts.models import User
from backend.alerts.announcing import announce_alerts
from backend.alerts.models import (
    OPEN_STATES,
    SAID_STATES,
    Alert,
    AlertChange,
    AlertRule,
    AlertState,
)
from backend.alerts.rules import lock_rule
from backend.errors import Conflict, InvalidInput, NotFound
from backend.runs.models import Run
from backend.runs.tables.happening import happened_at, happened_at_of
from backend.transactions import whole

# A sighting without a run (a silent agent) is confirmed by a later look.
CONFIRMED_AFTER = timedelta(minutes=5)
MAX_NOTE = 2000


@dataclass(frozen=True, slots=True)
class Sighting:
    """One subject of a rule.

    `is_bad`: None if the figures do not tell, which neither raises nor ends an alert. `is_sure`:
    whether a second bad one confirms it. `begins_again`: whether a new suspicion replaces the
    runs before it. `text`: a sentence about a bad one. `places`: the load
    points of a bad one; empty if it has none. `before`: the newest good run before a bad one.
    """

    subject: str
    is_bad: bool | None
    is_sure: bool = True
    begins_again: bool = False
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    places: frozenset[str] = frozenset()
    before: Run | None = None


class BadState(InvalidInput):
    """A member gave a state that none may give."""


class AlertEnded(Conflict):
    """The alert has ended, and says nothing more."""


@whole
def apply_sightings(rule: AlertRule, sightings: Iterable[Sighting], *, run: Run | None) -> None:
    """What the sightings of one run, or of one look, make of the alerts of a rule.

    What they confirm or end together is one message. Nothing where the rule was deleted since.
    """
    try:
        lock_rule(rule.pk)
    except NotFound:
        return
    rows: QuerySet[Any] = Alert.objects.filter(rule=rule, state__in=OPEN_STATES)
    # Not the whole rows of runs: they may all be of one large run.
    rows = rows.annotate(first_at=happened_at_of("first_run__"))
    open_alerts = {alert.subject: alert for alert in rows}
    changes = []
    for sighting in sightings:
        alert = open_alerts.get(sighting.subject)
        if sighting.is_bad is None:
            continue
        if sighting.is_bad:
            changes.append(_see(rule, alert, sighting, run))
        elif alert is not None:
            changes.append(_recover(alert, run))
    announce_alerts([change for change in changes if change is not None])


def _see(
    rule: AlertRule, alert: Any | None, sighting: Sighting, run: Run | None
) -> AlertChange | None:
    if alert is None:
        _open(rule, sighting, run)
        return None
    if run is not None and alert.last_run_id == run.pk:
        return None
    if alert.state != AlertState.UNCONFIRMED:
        _renew(alert, sighting, run)
        return None
    if sighting.begins_again or not _is_of_same_place(alert, sighting):
        alert.delete()
        _open(rule, sighting, run)
        return None
    if run is None and timezone.now() - alert.seen_at < CONFIRMED_AFTER:
        return None
    _renew(alert, sighting, run)
    return _confirm(alert, sighting.before) if sighting.is_sure else None


def _confirm(alert: Any, before: Run | None) -> AlertChange:
    """Confirm, and find the last good run again: several bad runs show the bad level better.

    `alert`: with `first_at`, when its first run happened.
    """
    first_at = alert.first_at
    if before is not None and first_at is not None and happened_at(before) < first_at:
        alert.before_run = before
        alert.save(update_fields=["before_run"])
    return _set_state(alert, AlertState.NEW)


def _renew(alert: Alert, sighting: Sighting, run: Run | None) -> None:
    alert.text, alert.data, alert.last_run = sighting.text, _data(sighting), run
    alert.recovered_run = None
    alert.save(update_fields=["text", "data", "last_run", "recovered_run"])


def _open(rule: AlertRule, sighting: Sighting, run: Run | None) -> None:
    alert = Alert.objects.create(
        workspace_id=rule.workspace_id,
        rule=rule,
        subject=sighting.subject,
        text=sighting.text,
        data=_data(sighting),
        before_run=sighting.before,
        first_run=run,
        last_run=run,
    )
    AlertChange.objects.create(alert=alert, state=AlertState.UNCONFIRMED)


def _data(sighting: Sighting) -> dict[str, object]:
    return {**sighting.data, "places": sorted(sighting.places)}


def _is_of_same_place(alert: Alert, sighting: Sighting) -> bool:
    """Whether the sighting is of a load point that was bad before; what has none always is."""
    places = set(alert.data.get("places", ()))
    return not places or not places.isdisjoint(sighting.places)


def _recover(alert: Alert, run: Run | None) -> AlertChange | None:
    """A suspicion ends at once; a confirmed alert with the second good run, or good look."""
    if alert.state == AlertState.UNCONFIRMED:
        alert.delete()
    elif run is None or (alert.recovered_run_id not in (None, run.pk)):
        return _set_state(alert, AlertState.FIXED)
    elif alert.last_run_id != run.pk:
        alert.recovered_run = run
        alert.save(update_fields=["recovered_run"])
    return None


@transaction.atomic
def answer_alert(alert: Alert, state: str, *, by: User | None, note: str = "") -> None:
    """Store what a member says of an alert. Raises BadState and AlertEnded.

    `not_a_regression` makes the changed level the baseline of the series from then on.
    """
    if state not in [each.value for each in SAID_STATES]:
        expected = ", ".join(SAID_STATES)
        raise BadState(f"state: got “{state[:40]}”, expected {expected}.")
    lock_rule(alert.rule_id)
    rows = Alert.objects.select_for_update(of=("self",))
    locked = rows.select_related("rule", "first_run").get(pk=alert.pk)
    if not locked.is_open:
        raise AlertEnded(
            f"This alert has ended: {AlertState(locked.state).label.lower()}. Another bad run "
            "raises a new alert."
        )
    announce_alerts([_set_state(locked, AlertState(state), by=by, note=_checked_note(note))])
    alert.refresh_from_db()


def _checked_note(note: str) -> str:
    cleaned = note.replace("\0", " ").strip()
    if len(cleaned) > MAX_NOTE:
        raise BadState(f"note: got {len(cleaned)} characters, expected at most {MAX_NOTE}.")
    return cleaned


def _set_state(
    alert: Alert, state: AlertState, *, by: User | None = None, note: str = ""
) -> AlertChange:
    now = timezone.now()
    alert.state = state
    if state == AlertState.NEW:
        alert.confirmed_at = now
    if state not in OPEN_STATES:
        alert.ended_at = now
    alert.save(update_fields=["state", "confirmed_at", "ended_at"])
    return AlertChange.objects.create(
        alert=alert,
        state=state,
        by=by,
        by_name="" if by is None else by.get_username(),
        note=note,
    )
