"""scripts/bench redaction [--mib N]: what the worst texts cost the search for secrets.

For the worst text of each rule: CPU seconds per MiB of a stream, and the longest time that one step
of the search keeps the other threads of its process waiting. The exit status is 1 where a text
takes more than 1 s per MiB or a step more than 50 ms.
"""

import argparse
import os
import sys
import time

from backend.testing.held import least_held_s
from backend.testing.worst_texts import WORST_TEXTS, worst_text
from backend.untrusted.secrets.redaction import BLOCK_BYTES, Redactor

MOST_S_PER_MIB = 1.0
MOST_HELD_S = 0.05
# Watching doubles the time, and each MiB is like the first ones.
WATCHED_MIB = 1
WATCHED_RUNS = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench redaction", description=__doc__)
    parser.add_argument("--mib", type=int, default=64, help="size of each text")
    mib = parser.parse_args().mib
    # Else the thread that watches waits 5 ms for each turn.
    sys.setswitchinterval(0.0005)
    broken = [name for name in WORST_TEXTS if not _is_within_limits(name, mib)]
    print(f"{mib} MiB of each text; load of the machine: {os.getloadavg()[0]:.1f}")
    print(*(f"BROKEN: {name}" for name in broken), sep="\n")
    return 1 if broken else 0


def _is_within_limits(name: str, mib: int) -> bool:
    began_s = time.thread_time()
    _search(worst_text(name, mib << 20))
    per_mib_s = (time.thread_time() - began_s) / mib
    watched = worst_text(name, min(mib, WATCHED_MIB) << 20)
    held_s = least_held_s(WATCHED_RUNS, _search, watched)
    print(f"{name:22}{per_mib_s:6.2f} s/MiB{1000 * held_s:7.0f} ms held", flush=True)
    return per_mib_s <= MOST_S_PER_MIB and held_s <= MOST_HELD_S


def _search(text: bytes) -> None:
    scan = Redactor().scan()
    for begin in range(0, len(text), BLOCK_BYTES):
        scan.feed(text[begin : begin + BLOCK_BYTES])
    scan.end()


if __name__ == "__main__":
    sys.exit(main())
