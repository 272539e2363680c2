"""scripts/bench promises [NAME ...]: promises of docs/operations.md, tried on sites of their own.

Everything happens on loopback. Prints its progress on stderr, and what each trial measured. The
exit status is 1 where a promise does not hold. All together take hours on a busy machine.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable

from backend.testing.promises import (
    accounts,
    again,
    alarms,
    bombs,
    deploys,
    outages,
    parsers,
    sweepers,
    turns,
    viewers,
    web_kills,
    worker_kills,
)
from backend.testing.promises.ground import Finding, Say

# By the rows of the table: what each is called there, and what is done.
PROMISES: dict[str, Callable[[Say], Finding]] = {
    "A3-broker": outages.broker,
    "A5-database": outages.database,
    "A6-bucket": outages.bucket,
    "A7-disk": outages.disk,
    "A10-again": again.again,
    "A12-deploys": deploys.deploys,
    "A13-sweepers": sweepers.sweepers,
    "A14-read-again": deploys.read_again,
    "B1-bombs": bombs.bombs,
    "B2-parser-faults": parsers.parser_faults,
    "C2-foreign-ids": viewers.foreign_ids,
    "C3-guesses": viewers.guesses,
    "D6-accounts": accounts.accounts,
    "G1-alarms": alarms.alarms,
}
# Those of which a share can be tried.
LARGE: dict[str, Callable[..., Finding]] = {
    "A1-web-kills": web_kills.web_kills,
    "A2-worker-kills": worker_kills.worker_kills,
    "B8-turns": turns.turns,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench promises", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*LARGE, *PROMISES], metavar="NAME")
    parser.add_argument("--share", type=float, default=1.0, help=f"of {', '.join(LARGE)} (1)")
    given = parser.parse_args()
    names = given.names or [*LARGE, *PROMISES]
    broken = [name for name in names if not _try(name, share=given.share)]
    print(f"broken: {', '.join(broken) or 'none'}")
    return 1 if broken else 0


def _try(name: str, *, share: float) -> bool:
    """Whether it holds."""
    began = time.monotonic()
    finding = LARGE[name](_say, share=share) if name in LARGE else PROMISES[name](_say)
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"{name} ({time.monotonic() - began:.0f} s, {load})")
    print(*(f"  {figure}" for figure in finding.figures), sep="\n")
    print(*(f"  BROKEN: {sentence}" for sentence in finding.broken), sep="\n", flush=True)
    return not finding.broken


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
