"""Messages about alerts and runs, put into the queue of deliveries."""

from collections import defaultdict
from collections.abc import Sequence

from backend.alerts.models import AlertChange, AlertState
from backend.alerts.wording import STATE_TEXTS, describe_alert, range_text
from backend.deliveries.models import Topic
from backend.deliveries.queue import Message, enqueue
from backend.links import absolute, link_to, run_link
from backend.runs.catalogue.listing import rows_of
from backend.runs.models import Run

MOST_NAMED = 20


def announce_alerts(changes: Sequence[AlertChange]) -> None:
    """Tell the channels of the workspace about new states. Call it in the transaction.

    Alerts of one rule that got one state together are one message: a change of the machine moves
    many series, and has one cause.
    """
    by_state: dict[str, list[AlertChange]] = defaultdict(list)
    for change in changes:
        by_state[change.state].append(change)
    for state, alike in by_state.items():
        _announce(AlertState(state), alike)


def _announce(state: AlertState, changes: Sequence[AlertChange]) -> None:
    first, *others = changes
    alert, word = first.alert, STATE_TEXTS[state]
    by = f" by {first.by_name}" if first.by_name else ""
    texts = [each.alert.text for each in changes[:MOST_NAMED]]
    if len(changes) > MOST_NAMED:
        texts.append(f"And {len(changes) - MOST_NAMED} more.")
    subject = alert.text
    if others:
        subject = f"{len(changes)} alerts of {alert.rule.name}"
    lines = [*texts, range_text(alert), f"{word}{by}.", first.note]
    enqueue(
        alert.workspace,
        Topic.ALERTS,
        Message(
            event=f"alert.{state.value}",
            subject=f"{word}: {subject}",
            text="\n".join(filter(None, lines)),
            link=absolute(
                link_to("alerts-page", alert.workspace.slug)
                if others
                else link_to("alert-page", alert.workspace.slug, alert.pk)
            ),
            # Of the first; the others are named by their ids.
            data=describe_alert(alert) | {"together_with": [str(each.alert_id) for each in others]},
        ),
    )


def announce_run(run: Run) -> None:
    """Tell the channels of the workspace that a run was read."""
    (row,) = rows_of([run])
    enqueue(
        run.workspace,
        Topic.RUNS,
        Message(
            event="run.read",
            subject=f"New run: {row.name}",
            text=f"{row.name}: {row.trials_text}, {row.state_text.lower()}.",
            link=absolute(run_link(run.pk)),
            data={
                "run": str(run.pk),
                "name": row.name,
                "state": row.state,
                "labels": run.labels,
                "trials": row.trials,
                "failed_trials": row.failed_trials,
                "throughput_rps": row.throughput_rps,
            },
        ),
    )
