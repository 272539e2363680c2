"""A silent worker, beat or broker is told (G1)."""

import time

from backend.testing.promises.ground import Finding, Ground, Say, own_ground
from backend.testing.supervised import frozen, tree_of

TOLD_WITHIN_S = 120.0
GONE_WITHIN_S = 120.0
WORDS = {"worker": "no worker runs", "beat": "beat does not run", "valkey": "take no tasks"}
FLOOD_UPLOADS = 3000


def alarms(say: Say) -> Finding:
    """Each is frozen in turn; then uploads keep all readers busy, and nothing is told."""
    with own_ground(say) as ground:
        is_calm = ground.wait_until(lambda: "warning" not in _state(ground), TOLD_WITHIN_S)
        ground.finding.expect(is_calm is not None, "a new site has warnings")
        for program, words in WORDS.items():
            _freeze(ground, program, words)
        _flood(ground)
        return ground.finding


def _freeze(ground: Ground, program: str, words: str) -> None:
    """The first process and those it started, until it is told; then they go on until that is
    forgotten."""
    ground.say(f"{program} is frozen")
    first = ground.site.child(program)
    assert first is not None
    with frozen(tree_of(first.pid)):
        told_s = ground.wait_until(lambda: words in _state(ground), 2 * TOLD_WITHIN_S)
    gone_s = ground.wait_until(lambda: words not in _state(ground), GONE_WITHIN_S)
    ground.finding.note(
        f"{program} frozen: told after {_seconds(told_s)}; forgotten {_seconds(gone_s)} later"
    )
    is_told = told_s is not None and told_s <= TOLD_WITHIN_S
    ground.finding.expect(is_told, f"{program}: not told within {TOLD_WITHIN_S:g} s")


def _flood(ground: Ground) -> None:
    ages_s = []
    with ground.sending(FLOOD_UPLOADS, senders=8) as sending:
        while not sending.senders.are_done:
            lines = _state(ground).splitlines()
            ages_s += [float(line.split()[1]) for line in lines if line.startswith("canary: ")]
            time.sleep(0.2)
    ground.finding.note(
        f"canary's age under a flood of {FLOOD_UPLOADS} uploads: at most {max(ages_s):.0f} s"
    )


def _state(ground: Ground) -> str:
    return ground.site.answer("/readyz")


def _seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.0f} s"
