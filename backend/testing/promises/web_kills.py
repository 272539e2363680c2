"""Web processes that are killed while uploads come (A1)."""

import random
import time
from collections import Counter

from backend.testing.promises.bare_service import BareService, bare_service, draw_counts
from backend.testing.promises.ground import SEED, Finding, Say, counted
from backend.testing.scale.machines import Machine
from backend.testing.waiting import is_answering

UPLOADS, KILLS, WEB_PROCESSES = 1000, 200, 3
SENDERS = 8
# One kill of so many takes all web processes at the same moment, as a power cut does.
ALL_EVERY = 10
# A kill strikes within so many seconds after its moment: an upload takes some hundredths.
WITHIN_S = 0.1
ANSWERING_WITHIN_S, ANSWER_WITHIN_S = 300.0, 2.0
# Senders whose connection was cut after they had begun to send, not refused.
CUT = ("ReadError", "RemoteProtocolError", "WriteError")


def web_kills(say: Say, *, share: float = 1.0) -> Finding:
    """The process that answers is killed, and started again at once.

    `share` is that of the uploads and of the kills.
    """
    uploads, kills = int(UPLOADS * share), int(KILLS * share)
    chance = random.Random(SEED)  # noqa: S311  the same for the same seed
    with bare_service(say, webs=WEB_PROCESSES) as service:
        killed: Counter[str] = Counter()
        with service.sending(uploads, senders=SENDERS) as sending:
            for number, due in enumerate(draw_counts(chance, uploads, kills)):
                # The senders are never done before the kills are.
                sending.ledger.most_accepted = due + SENDERS
                sending.wait(until=due)
                _strike_web(service, chance, killed, are_all=number % ALL_EVERY == 0)
            sending.ledger.most_accepted = None
            sending.wait()
        answers = sending.ledger.answers
        cut = sum(answers[name] for name in CUT)
        service.finding.note(f"seed {SEED}; killed: {counted(killed)}; {cut} requests were cut")
        service.finding.expect(killed.total() >= kills, f"only {killed.total()} kills")
        service.expect_all_read(sending)
        service.expect_verified()
        return service.finding


def _strike_web(
    service: BareService, chance: random.Random, killed: Counter[str], *, are_all: bool
) -> None:
    """One of those that answer, or all at the same moment."""
    service.wait_until(lambda: any(map(_answers, service.webs)), ANSWERING_WITHIN_S)
    answering = [machine for machine in service.webs if _answers(machine)]
    if not answering:
        return
    time.sleep(chance.uniform(0, WITHIN_S))
    doomed = service.webs if are_all else [chance.choice(answering)]
    for machine in doomed:
        machine.kill()
    killed["all at once" if are_all else "one"] += 1
    for machine in doomed:
        machine.start_web()


def _answers(machine: Machine) -> bool:
    """A process that starts takes connections long before it answers."""
    return is_answering(f"{machine.url}/livez", within_s=ANSWER_WITHIN_S)
