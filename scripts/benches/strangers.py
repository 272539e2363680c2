"""scripts/bench strangers [--seconds N]: sixteen hostile connections, and what others notice.

Starts a site of its own on loopback with the default settings. Prints its progress on stderr, and
at the end what was noticed. The exit status is 1 where a
promise does not hold. An hour is `--seconds 3600`.
"""

import argparse
import json
import sys

from backend.config.embedded import free_port
from backend.testing.strangers.hour import Witness
from backend.testing.supervised import SupervisedSite, open_folder


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench strangers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    seconds = parser.parse_args().seconds
    with open_folder("loadsheet-strangers-") as folder:
        site = SupervisedSite(folder / "data", free_port())
        try:
            site.wait()
            token = json.loads(site.manage("make_demo").stdout)["token"]
            site.manage("make_workspace", "strangers")
            words = ("make_token", "--workspace", "strangers", "--name", "stranger")
            stranger_token = site.manage(*words).stdout.strip()
            noticed = Witness(site, token, say=_say).watch(stranger_token, seconds)
            slow_count = (folder / "data/logs/worker.log").read_text().count('"upload_is_slow"')
        finally:
            site.stop()
    print(*noticed.lines(), sep="\n")
    print(f"moved to the slow lane: {slow_count} uploads of all")
    broken = noticed.broken_promises
    print(*(f"BROKEN: {sentence}" for sentence in broken), sep="\n")
    return 1 if broken else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
