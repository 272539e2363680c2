"""scripts/bench locks [--rounds N]: each destructive act beside everything that writes, N times.

The suite has one round (backend/tests/test_simultaneous_acts.py). The exit status is not 0 where an
act or a writer met a deadlock or an answer of 5xx, where something accepted is lost, or where
something deleted is left.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEST = "backend/tests/test_simultaneous_acts.py"


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench locks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    os.environ["SIMULTANEOUS_ROUNDS"] = str(rounds)
    program = str(ROOT / "scripts" / "run_tests.py")
    os.chdir(ROOT)
    os.execv(sys.executable, [sys.executable, program, TEST, "-n", "0", "-q"])  # noqa: S606


if __name__ == "__main__":
    main()
