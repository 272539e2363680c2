"""scripts/bench worst-outputs [--only TOOL] [--every N]: what the hardest texts cost to read.

Each line of each capture is repeated, cut short, or made endless in its spaces, digits and
separators; JSON documents grow in each place. All are read at 128 KiB first. Of each tool, those
that take longest or grow fastest are read at 1 and 2 MiB. The exit status is 1 where 1 MiB takes
more than 1 s of CPU time, twice the text more than 2.5 times as long, or a reading fails in
another way than by a refusal.
"""

import argparse
import gc
import os
import signal
import sys
import time
from typing import Any

from backend.formats import TOOLS, FormatError, RawArtefact, parse
from backend.testing.worst_outputs import WorstOutput, worst_outputs

MOST_S, MOST_RATIO = 1.0, 2.5
FIRST_BYTES, SIZE = 128 << 10, 1 << 20
# What takes less at first takes less than 1 s at 1 MiB, even if it grows by the square.
SUSPECT_S, LEAST_SUSPECTS = MOST_S / 64, 3
# The ratio of shorter times is that of two noises.
LEAST_S = 0.05
# Of a text that seems to break a promise.
MOST_ROUNDS = 5
# A reading that takes longer is ended.
PATIENCE_S = 20.0

# CPU seconds for 1 MiB, how many times as many for 2 MiB, and the name of the text.
Figure = tuple[float, float, str]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench worst-outputs", description=__doc__)
    parser.add_argument("--only", choices=[*TOOLS], help="one load tool")
    parser.add_argument("--every", type=int, default=1, help="of each tool, each Nth text only")
    options = parser.parse_args()
    signal.signal(signal.SIGVTALRM, _end)
    tools = [options.only] if options.only else [*TOOLS]
    broken = [line for tool in tools for line in _look_at(tool, options.every)]
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    print(f"{len(broken)} promises broken")
    return 1 if broken else 0


def _look_at(tool: str, every: int) -> list[str]:
    """Print the worst figures of one tool's reader, and give the promises that do not hold."""
    texts = list(worst_outputs(tool))[::every]
    # The process that reads uploads does not have these objects to look through.
    gc.collect()
    gc.freeze()
    faults: list[str] = []
    suspects = _suspects(texts, faults)
    figures = [_figures_of(text, faults) for text in suspects]
    slowest = max(figures)
    steepest = max(figures, key=lambda figure: figure[1])
    print(
        f"{tool:13}{len(texts):6,} texts, {len(suspects):4} at 1 MiB: at most {slowest[0]:.2f} s "
        f"({slowest[2]}), {steepest[1]:.2f} times as long for 2 MiB ({steepest[2]})",
        flush=True,
    )
    broken = faults + [
        f"BROKEN: {tool} {name}: {taken_s:.2f} s, {ratio:.2f} times as long for 2 MiB"
        for taken_s, ratio, name in figures
        if taken_s > MOST_S or ratio > MOST_RATIO
    ]
    print(*broken, sep="\n", end="\n" if broken else "", flush=True)
    return broken


def _suspects(texts: list[WorstOutput], faults: list[str]) -> list[WorstOutput]:
    """The texts that take longest, and those that may take a second at 1 MiB and grow too fast."""
    first = [_cpu_s(text, FIRST_BYTES, faults) for text in texts]
    order = sorted(range(len(texts)), key=lambda at: -first[at])
    slow = [at for at in order[LEAST_SUSPECTS:] if first[at] > SUSPECT_S]
    steep = [at for at in slow if _cpu_s(texts[at], 2 * FIRST_BYTES, faults) > first[at] * 2.3]
    return [texts[at] for at in order[:LEAST_SUSPECTS] + steep]


def _figures_of(text: WorstOutput, faults: list[str]) -> Figure:
    """CPU seconds for 1 MiB, and how many times as many for 2 MiB; 0 where both are too short.

    The least of several readings: other programs on the machine make some of them slower.
    """
    taken_s = twice_s = PATIENCE_S
    for _ in range(MOST_ROUNDS):
        taken_s = min(taken_s, _cpu_s(text, SIZE, faults))
        twice_s = min(twice_s, _cpu_s(text, 2 * SIZE, faults))
        ratio = twice_s / taken_s if twice_s > LEAST_S else 0.0
        if taken_s <= MOST_S and ratio <= MOST_RATIO:
            break
    return taken_s, ratio, text.name


def _cpu_s(text: WorstOutput, size: int, faults: list[str]) -> float:
    """CPU seconds of one reading; what is no refusal is added to the faults."""
    artefact = RawArtefact.of("output.txt", text.build(size))
    began_s = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_S)
    try:
        parse([artefact])
    except FormatError:
        pass
    except Exception as fault:
        faults.append(f"BROKEN: {text.tool} {text.name}: {type(fault).__name__}: {str(fault)[:99]}")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began_s


class TooLong(Exception):
    """A reading went on for PATIENCE_S."""


def _end(*_: Any) -> None:
    raise TooLong


if __name__ == "__main__":
    sys.exit(main())
