"""What happens while uploads are read: their claims are kept, and their time ends."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from django.conf import settings

from backend.ingest.queue import queue
from backend.ingest.queue.budget import Budget
from backend.ingest.queue.outcomes import OutOfTime
from backend.untrusted.sandbox.sandbox import sandbox

# An upload that is still at work after this share of its time may need all of it: another parser is
# made ready for the next one.
LATE_SHARE = 0.3


def watch(claims: Sequence[queue.Claim], beside: queue.Lease | None) -> Callable[[], None]:
    """To be called while uploads are read: keeps the claims; raises ClaimLost and OutOfTime.

    Raises ParserFailed itself where no parser can be started.
    """
    lease = queue.Lease(*claims)

    def renew() -> None:
        lease.renew()
        if beside is not None:
            with suppress(queue.ClaimLost):
                beside.renew()

    # The start of a parser does not count as time of this upload: the last upload may have ended
    # the parser.
    sandbox().prepare(renew)
    # Small uploads that are read together have the time of one.
    budget = Budget(is_slow=claims[0].is_slow)

    def meanwhile() -> None:
        renew()
        if budget.is_spent:
            raise OutOfTime
        # The next upload waits for a new parser otherwise, which takes seconds on a busy machine.
        if sandbox().is_at_work and _is_nearly_spent(budget):
            sandbox().start_spare()

    return meanwhile


def _is_nearly_spent(budget: Budget) -> bool:
    """Whether the upload is at work for so long that its parser may have to be stopped."""
    is_late = budget.took_s > LATE_SHARE * settings.QUICK_READ_S
    return is_late and not budget.is_slow and budget.is_at_work
