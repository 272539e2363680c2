"""Messages about alerts and runs, put into the queue of deliveries."""

from backend.alerts.models import Alert, AlertChange, AlertState
from backend.alerts.wording import STATE_TEXTS, describe_alert, range_text
from backend.deliveries.models import Topic
from backend.deliveries.queue import Message, enqueue
from backend.links import absolute, link_to, run_link
from backend.runs.catalogue.listing import rows_of
from backend.runs.models import Run


def announce_alert(alert: Alert, change: AlertChange) -> None:
    """Tell the channels of the workspace about a new state. Call it in the transaction."""
    state = AlertState(change.state)
    word = STATE_TEXTS[state]
    by = f" by {change.by_name}" if change.by_name else ""
    lines = [alert.text, range_text(alert), f"{word}{by}.", change.note]
    enqueue(
        alert.workspace,
        Topic.ALERTS,
        Message(
            event=f"alert.{state.value}",
            subject=f"{word}: {alert.text}",
            text="\n".join(filter(None, lines)),
            link=absolute(link_to("alert-page", alert.workspace.slug, alert.pk)),
            data=describe_alert(alert),
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
