"""scripts/bench pairs: every two captures of load tools in one text, in both orders.

Each run must be read with the figures that it has alone, or a refusal must name its lines. Says
each pair in which something is lost, and fails.
"""

import argparse
import multiprocessing
import os
import sys
import time

from backend.testing.pairs import GLUES, loss_in, outputs


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench pairs", description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="child processes")
    parser.add_argument("--step", type=int, default=1, help="of so many first captures, read one")
    options = parser.parse_args()
    started, count, lost = time.monotonic(), 0, 0
    firsts = range(0, len(outputs()), options.step)
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for tried, losses in pool.imap_unordered(walk, firsts):
            count += tried
            lost += len(losses)
            for loss in losses:
                print(loss, flush=True)
    elapsed = time.monotonic() - started
    print(f"{count:,} pairs of {len(outputs())} captures in {elapsed:.0f} s, {lost} with a loss")
    if lost:
        sys.exit(1)


def walk(number: int) -> tuple[int, list[str]]:
    """How many pairs begin with one capture, and in which of them something is lost."""
    first = outputs()[number]
    losses = [
        f"{first.label} + {second.label} ({glue!r}): {loss}"
        for second in outputs()
        for glue in GLUES
        if (loss := loss_in(first, second, glue)) is not None
    ]
    return len(outputs()) * len(GLUES), losses


if __name__ == "__main__":
    main()
