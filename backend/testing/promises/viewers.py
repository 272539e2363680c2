"""An id of another workspace looks like a missing id (C2), and links cannot be guessed (C3)."""

import json
import time
import uuid
from typing import Any

import httpx

from backend.testing.promises.ground import Finding, Ground, Say, own_ground

IDS = 1000
ADDRESSES = ("/api/v1/runs/{}", "/api/v1/uploads/{}", "/u/{}")
GUESSES = 1_000_000
GUESSING_TAKES_S = 3 * 3600.0


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
    ground.finding.expect_alike(address, took_s, different=different, first="foreign")


def guesses(say: Say) -> Finding:
    """A million guesses of links of a site."""
    with own_ground(say) as ground:
        say(f"{GUESSES} guesses")
        program = f"from backend.testing.promises.guessing import main; main({GUESSES})"
        done = ground.site.manage("shell", "-v0", "-c", program, within_s=GUESSING_TAKES_S)
        if done.returncode:
            ground.finding.expect(False, f"the guessing ended: {done.stderr[-2000:]}")
            return ground.finding
        _judge_guesses(ground.finding, json.loads(done.stdout.splitlines()[-1]))
        return ground.finding


def _judge_guesses(finding: Finding, report: dict[str, Any]) -> None:
    finding.note(
        f"{GUESSES} links, {report['close']} of them one bit away from one of {report['links']} "
        f"shared ones: {report['found']} lead to something"
    )
    finding.expect(report["found"] == 0, f"{report['found']} guesses lead to something")
    finding.expect(report["control"] == report["links"], "the right links were not found")
