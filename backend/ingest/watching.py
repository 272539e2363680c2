"""What happens while uploads are read: their claims are kept, and their time ends."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from backend.ingest import queue
from backend.ingest.budget import Budget
from backend.ingest.outcomes import OutOfTime
from backend.ingest.sandbox import sandbox


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

    # The start of a parser is not the upload's time: the last upload may have ended the parser.
    sandbox().prepare(renew)
    # Small uploads that are read together have the time of one.
    budget = Budget(is_slow=claims[0].is_slow)

    def meanwhile() -> None:
        renew()
        if budget.is_spent:
            raise OutOfTime
        # The next upload waits for a new parser otherwise, which takes seconds on a busy machine.
        if sandbox().is_at_work and budget.is_nearly_spent:
            sandbox().start_spare()

    return meanwhile
