"""scripts/bench chaos [--seed N] [--uploads N]: uploads while every process is killed.

Starts a site of its own on loopback, on a small disk and with shifted clocks where this machine
allows both. Prints its progress on stderr, and at the end what came of it. The exit status is 1
where a promise does not hold.
"""

import argparse
import random
import sys

from backend.testing.chaos.campaign import Plan, as_lines, broken_promises, run_campaign


def main() -> int:
    plan = _plan()
    report = run_campaign(plan)
    print(*as_lines(plan, report), sep="\n")
    broken = broken_promises(report)
    # What was not tried shows nothing.
    broken += [f"no target, or not possible here: {fault}" for fault in report.missed]
    print(*(f"BROKEN: {sentence}" for sentence in broken), sep="\n")
    return 1 if broken else 0


def _plan() -> Plan:
    parser = argparse.ArgumentParser(prog="scripts/bench chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))  # noqa: S311
    parser.add_argument("--uploads", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100, help="of all processes together")
    parser.add_argument("--flushes", type=int, default=10, help="of the broker")
    parser.add_argument("--full-disks", type=int, default=1)
    parser.add_argument("--clock-shifts", type=int, default=4, help="by 10 minutes")
    parser.add_argument("--memory-mib", type=int, default=850)
    parser.add_argument("--limit-s", type=float, default=3600, help="for everything")
    given = vars(parser.parse_args())
    memory_bytes = given.pop("memory_mib") << 20
    return Plan(**given, memory_bytes=memory_bytes, say=_say)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
