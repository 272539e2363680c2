"""The same upload sent again, and other bytes under its id (A10)."""

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import httpx

from backend.testing.chaos.outcome import READ, WAITING
from backend.testing.chaos.senders import LARGE_EVERY, Measurement, make_measurement
from backend.testing.promises.ground import (
    READ_WITHIN_S,
    SEED,
    Finding,
    Ground,
    Say,
    counted,
    own_ground,
)

UPLOADS, SENDERS, CONFLICTS = 500, 10, 100
TRIALS = "SELECT count(*) FROM runs_trial"


def again(say: Say) -> Finding:
    """Ten senders send the same uploads at the same time, each in an order of its own."""
    with own_ground(say) as ground:
        sent = [make_measurement(number, SEED) for number in _small_numbers()]
        with ThreadPoolExecutor(SENDERS) as senders:
            counts = senders.map(partial(_send_all, ground, sent), range(SENDERS))
        answers = sum(counts, Counter[int]())
        ground.finding.note(f"answers to {SENDERS} × {UPLOADS}: {counted(_named(answers))}")
        conflicts: Counter[int] = Counter()
        with ground.client() as client:
            for measurement in sent[:CONFLICTS]:
                other = replace(measurement, text=measurement.text + b"other\n")
                conflicts[_send(client, other)] += 1
        ground.finding.note(f"answers to other bytes: {counted(_named(conflicts))}")
        ground.finding.expect(conflicts == {409: CONFLICTS}, "other bytes did not get 409")
        ground.wait_until(lambda: ground.tables.number(WAITING) == 0, READ_WITHIN_S)
        stored = ground.tables.number(READ), ground.tables.number(TRIALS)
        ground.finding.note(f"uploads read and trials: {stored}")
        ground.finding.expect(stored == (UPLOADS, UPLOADS), f"{stored} uploads and trials")
        return ground.finding


def _small_numbers() -> list[int]:
    """Of uploads that are searched for secrets at once: a workspace may send few large ones."""
    return [number for number in range(2 * UPLOADS) if number % LARGE_EVERY][:UPLOADS]


def _send_all(ground: Ground, sent: list[Measurement], order: int) -> Counter[int]:
    with ground.client() as client:
        shuffled = random.Random(order).sample(sent, len(sent))  # noqa: S311
        return Counter(_send(client, measurement) for measurement in shuffled)


def _send(client: httpx.Client, measurement: Measurement) -> int:
    """The status of the answer that is no "later"."""
    while True:
        answer = client.post(
            "/api/v1/uploads",
            data={"envelope": measurement.envelope},
            files={"file": ("0.txt", measurement.text)},
        )
        if answer.status_code not in (429, 503):
            return answer.status_code
        time.sleep(float(answer.headers.get("retry-after", 1)))


def _named(answers: Counter[int]) -> dict[str, int]:
    return {str(status): count for status, count in answers.items()}
