"""scripts/bench truth-checks: how often each check fires on honest trials and on its mistake.

Honest trials, and trials with one planted mistake, are made by simulation, printed as each load
tool prints them, read by the parsers and checked as an upload is. Prints a line for each check and
tool that is not perfect, and writes truth_checks.json beside this file, from which docs/checks.md
takes its table. The exit status is 1 where an aim is missed. --checks measures some checks only,
and keeps the results of the others.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from backend.testing.offline import set_up_offline

if TYPE_CHECKING:
    from backend.runs.checks.firing import Firing
    from backend.testing.made.measuring import Sizes


def main() -> int:
    options = _options()
    set_up_offline()
    from backend.runs.checks import CHECKS
    from backend.testing.made.measuring import (
        Sizes,
        critical_dips,
        describe_firing,
        measure_firing,
        missed_aims,
    )

    if options.dips:
        for size, limit in critical_dips(options.seed):
            print(f"({size}, {limit:.4f}),", flush=True)
        return 0
    sizes = Sizes(options.trials, options.mistakes, options.seed)
    only = options.checks or CHECKS
    firing = measure_firing(sizes, lambda line: print(line, file=sys.stderr, flush=True), only)
    if not options.keep:
        _write(firing, sizes, are_all=options.checks is None)
    print(*describe_firing(firing), sep="\n")
    missed = missed_aims(firing)
    print(*(f"MISSED: {id_}" for id_ in missed), sep="\n")
    return 1 if missed else 0


def _write(firing: dict[str, Firing], sizes: Sizes, *, are_all: bool) -> None:
    """Write the results; those of other checks stay unless all were measured."""
    from backend.runs.checks import CHECKS
    from backend.runs.checks.firing import read_firing
    from backend.testing.made.measuring import write_results

    kept = {} if are_all else read_firing().by_check
    results = {**kept, **firing}
    write_results({id_: results[id_] for id_ in CHECKS if id_ in results}, sizes)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench truth-checks", description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000, help="honest trials of each tool")
    parser.add_argument("--mistakes", type=int, default=100, help="planted mistakes of each kind")
    parser.add_argument("--seed", type=int, default=20_261_122)
    parser.add_argument("--keep", action="store_true", help="keep the stored results")
    parser.add_argument("--checks", nargs="+", help="ids of the checks to measure")
    parser.add_argument("--dips", action="store_true", help="print critical values of the dip")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
