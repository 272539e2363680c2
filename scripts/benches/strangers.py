"""scripts/bench strangers [--seconds N]: sixteen hostile connections, and what others notice.

Starts a site of its own on loopback with the default settings. Prints its progress on stderr, and
at the end what was noticed. The exit status is 1 where a promise does not hold. An hour is
`--seconds 3600`.
"""

import argparse
import sys

from backend.testing.promises.ground import own_ground
from backend.testing.strangers.hour import Witness


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench strangers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    seconds = parser.parse_args().seconds
    with own_ground(_say) as ground:
        witness = Witness(ground.site, ground.token, say=_say)
        noticed = witness.watch(ground.new_workspace("strangers"), seconds)
        slow_count = (ground.site.data / "logs/worker.log").read_text().count('"upload_is_slow"')
    print(*noticed.lines(), sep="\n")
    print(f"moved to the slow lane: {slow_count} uploads of all")
    broken = noticed.broken_promises
    print(*(f"BROKEN: {sentence}" for sentence in broken), sep="\n")
    return 1 if broken else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
