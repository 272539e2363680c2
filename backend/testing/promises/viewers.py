"""What is another's looks as if it were missing (C2)."""

from __future__ import annotations

import time
import uuid

import httpx

from backend.testing.promises.ground import Finding, Ground, Say, own_ground, spread
from backend.testing.strangers.hour import quantile

IDS = 1000
ADDRESSES = ("/api/v1/runs/{}", "/api/v1/uploads/{}", "/u/{}")
ALIKE_WITHIN = 0.05


def foreign_ids(say: Say) -> Finding:
    """Runs of another workspace and ids of nothing, asked for in turn."""
    with own_ground(say) as ground:
        with ground.sending(IDS, senders=8) as sending:
            sending.wait()
        ground.expect_all_read(sending)
        stranger = ground.new_workspace("strangers")
        with ground.client(stranger) as client:
            for address in ADDRESSES:
                say(f"{IDS} of {address}")
                _compare_foreign(ground, client, address, list(sending.ledger.accepted))
        return ground.finding


def _compare_foreign(
    ground: Ground, client: httpx.Client, address: str, foreign_ids: list[str]
) -> None:
    took_s: dict[str, list[float]] = {"foreign": [], "missing": []}
    different = 0
    for foreign in foreign_ids:
        missing = str(uuid.uuid4())
        bodies = []
        for kind, id_ in (("foreign", foreign), ("missing", missing)):
            began = time.perf_counter()
            answer = client.get(address.format(id_))
            took_s[kind].append(time.perf_counter() - began)
            bodies.append((answer.status_code, answer.text.replace(id_, "ID")))
        different += bodies[0] != bodies[1] or bodies[0][0] != 404
    median_s = {kind: quantile(values, 0.5) for kind, values in took_s.items()}
    apart = abs(median_s["foreign"] / median_s["missing"] - 1)
    ground.finding.note(
        f"{address}: {different} of {len(foreign_ids)} answers differ; medians are "
        f"{100 * apart:.1f} % apart; foreign {spread(took_s['foreign'])}"
    )
    ground.finding.expect(not different, f"{address}: {different} answers differ")
    ground.finding.expect(apart < ALIKE_WITHIN, f"{address}: medians are {apart:.0%} apart")
