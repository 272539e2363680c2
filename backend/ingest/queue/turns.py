"""Which upload is read next: persons take turns, and slow uploads have a lane of their own.

The payer (accounts/workspace/turns.py) with the fewest uploads being read goes first, then the one
who was served longest ago; among workspaces of one payer likewise. Within a workspace, an
interactive upload (priority.py) goes before those that came up to an
hour before it, the others by age. Uploads that are read together (batches.py) count as one. An
upload that takes longer than `QUICK_READ_S` moves to the slow lane, of which only `SLOW_READS` are
read at a time, so that a reader is left for the rest (decision 0012).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import connection

from backend.accounts.workspace.turns import WORKSPACE, Work
from backend.ingest.queue.turn_statement import HEADS, NOTE_TURNS

# Other heads of queues, where the first is locked by a removal.
CANDIDATES = 8
# Of the advisory lock under which uploads are chosen. With it the bounds hold strictly.
LOCK_KEY = 0x10AD_5EE7_0001


@dataclass(frozen=True, slots=True)
class Head:
    """The first upload of a queue."""

    upload_id: UUID
    workspace_id: UUID
    payer: str


def lock_turns() -> None:
    """Choose alone until the transaction ends: a matter of a few milliseconds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])


def heads_of_queues(
    *, first_pause_s: int, longest_pause_s: int, faults_of_an_attempt: int
) -> Sequence[Head]:
    """The first upload due of each payer and lane, in the order of turns. Call lock_turns first.

    Pauses double from `first_pause_s` to `longest_pause_s`. A time of retry further ahead than the
    pause after so many faults and attempts was set before the database's clock was set back: the
    upload is due.
    """
    with connection.cursor() as cursor:
        pauses = [first_pause_s, longest_pause_s, faults_of_an_attempt]
        limits = [settings.READS_PER_WORKSPACE, settings.SLOW_READS, CANDIDATES]
        cursor.execute(HEADS, pauses + limits)
        return [Head(*row) for row in cursor.fetchall()]


def note_turns(heads: Collection[Head], *, is_slow: bool) -> None:
    """These were served: the other payers, and the payers' other workspaces, go before them now."""
    served = {f"{WORKSPACE}{head.workspace_id}" for head in heads} | {head.payer for head in heads}
    lane = Work.SLOW_UPLOAD if is_slow else Work.UPLOAD
    with connection.cursor() as cursor:
        cursor.execute(NOTE_TURNS, [lane, lane, list(served)])
