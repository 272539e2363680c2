"""One workspace's many uploads beside another one's few (B8)."""

import time
from itertools import cycle

from backend.testing.chaos.outcome import READ, WAITING
from backend.testing.promises.ground import (
    SEED,
    Finding,
    Ground,
    Say,
    Sending,
    counted,
    own_ground,
    spread,
)
from backend.testing.strangers.hour import FILES, READ_WITHIN_S, quantile, time_reading

UPLOADS, SENDERS = 10_000, 8
FEWEST, EVERY_S = 40, 1.0
LIMIT_S = 900.0


def turns(say: Say, *, share: float = 1.0) -> Finding:
    """The many come as fast as they are accepted; single ones come until all are read, or for
    LIMIT_S.

    `share` is that of the many.
    """
    uploads = int(UPLOADS * share)
    with own_ground(say) as ground:
        other = ground.new_workspace("others")
        with ground.client(other) as client:
            # The first upload of a new site waits until its worker has started.
            time_reading(client, FILES["0.6 KB"])
        with ground.sending(uploads, senders=SENDERS) as sending:
            read_s, waiting = _send_singles(ground, other, sending)
        ground.finding.note(f"seed {SEED}; answers: {counted(sending.ledger.answers)}")
        _expect_quick(ground.finding, read_s, waiting)
        read = ground.tables.number(READ) or 0
        ground.finding.note(f"{read} uploads of both were read in that time")
        return ground.finding


def _send_singles(
    ground: Ground, token: str, sending: Sending
) -> tuple[list[float | None], list[float]]:
    """Seconds until each was read, and how many uploads waited when it was sent."""
    read_s: list[float | None] = []
    waiting: list[float] = []
    files = cycle(FILES.values())
    began = time.monotonic()
    with ground.client(token) as client:
        while time.monotonic() - began < LIMIT_S:
            now_waiting = ground.tables.number(WAITING) or 0
            if sending.senders.are_done and not now_waiting:
                break
            waiting.append(now_waiting)
            read_s.append(time_reading(client, next(files))[1])
            if len(read_s) % 10 == 0:
                accepted = len(sending.ledger.accepted)
                ground.say(f"{accepted} of {sending.ledger.uploads} accepted, {now_waiting} wait")
            time.sleep(EVERY_S)
    return read_s, waiting


def _expect_quick(finding: Finding, read_s: list[float | None], waiting: list[float]) -> None:
    took_s = [each for each in read_s if each is not None]
    unread = len(read_s) - len(took_s)
    finding.note(
        "uploads that waited when a single one was sent: "
        f"p50 {quantile(waiting, 0.5):.0f}, max {max(waiting, default=0):.0f}"
    )
    p95_s = quantile(took_s, 0.95)
    finding.note(f"single ones read: {spread(took_s)}, p95 {p95_s:.2f} s; {unread} not")
    finding.expect(len(took_s) >= FEWEST, f"{len(took_s)} single uploads, not {FEWEST}")
    finding.expect(not unread, f"{unread} single uploads were not read")
    finding.expect(p95_s <= READ_WITHIN_S, f"p95 is above {READ_WITHIN_S:g} s")
