"""scripts/bench json-bodies [--mib N]: how long the worst JSON keeps other threads waiting.

For each kind of body: the longest time that one step of reading it, and of what follows for an
envelope that carries it (its check, its hash, writing and reading its column), keeps the other
threads of a web process waiting, and the CPU time in all. The exit status is 1 where a step takes
more than 50 ms.
"""

import argparse
import gc
import json
import os
import sys
import time
from functools import partial
from typing import Any

from backend.testing.held import least_held_s
from backend.testing.worst_bodies import BODIES, HONEST

MOST_HELD_S = 0.05
RUNS = 5


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench json-bodies", description=__doc__)
    parser.add_argument("--mib", type=float, default=4, help="size of each body")
    size = int(parser.parse_args().mib * (1 << 20))
    # As the web process does.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    sys.setswitchinterval(0.0005)
    broken = [name for name in BODIES if not _is_within_limit(name, BODIES[name](size))]
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    print(*(f"BROKEN: {name}" for name in broken), sep="\n")
    return 1 if broken else 0


def _is_within_limit(name: str, raw: bytes) -> bool:
    began_s = time.thread_time()
    value, refusal = _read(raw)
    cpu_s = time.thread_time() - began_s
    steps = {"read": least_held_s(RUNS, _read, raw)}
    if not refusal:
        steps |= _held_after(value if name == HONEST else {"schema": 1, "unknown": value})
    shown = "".join(f" {step}{1000 * held_s:6.1f}" for step, held_s in steps.items())
    print(f"{name:36}{1000 * cpu_s:6.0f} ms; held:{shown} ms  {refusal[:60]}", flush=True)
    return max(steps.values()) <= MOST_HELD_S


def _read(raw: bytes) -> tuple[Any, str]:
    from backend.untrusted.json.json_refusals import JsonRefused
    from backend.untrusted.json.plain_json import read_json

    try:
        return read_json(raw, limit_bytes=len(raw), subject="The envelope"), ""
    except JsonRefused as refused:
        return None, str(refused)


def _held_after(value: dict[str, Any]) -> dict[str, float]:
    from backend.ingest.envelope.envelope import read_envelope
    from backend.ingest.envelope.envelope_errors import EnvelopeError
    from backend.ingest.receiving.content_hash import content_hash
    from backend.untrusted.json.json_pieces import PieceDecoder, QuickEncoder
    from backend.untrusted.json.plain_json import check_plain

    def checked(value: dict[str, Any]) -> None:
        try:
            check_plain(value)
            read_envelope(value)
        except EnvelopeError:
            pass

    written = json.dumps(value, cls=QuickEncoder)
    held_s = partial(least_held_s, RUNS)
    return {
        "checked": held_s(checked, value),
        "refused": held_s(checked, {"schema": value}),
        "hashed": held_s(content_hash, value, "", {}),
        "written": held_s(lambda: json.dumps(value, cls=QuickEncoder)),
        "read again": held_s(lambda: json.loads(written, cls=PieceDecoder)),
    }


if __name__ == "__main__":
    sys.exit(main())
