"""Which tests fail now and then, beside programs that use the cores: scripts/test --repeat N."""

import contextlib
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from backend.config.recovery.embedded import ends_with_parent


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes use a core each while the block runs."""
    command = [sys.executable, "-c", "while True: pass"]
    loops = [
        subprocess.Popen(command, preexec_fn=ends_with_parent(signal.SIGKILL))  # noqa: PLW1509
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def repeat(rounds: int, folder: Path, run: Callable[[list[str]], int]) -> int:
    """Runs pytest so often and says which tests failed how often; the worst status."""
    failures: Counter[str] = Counter()
    worst = 0
    for number in range(1, rounds + 1):
        report = folder / f"round-{number}.xml"
        # The tables are made by migrations in the first round only.
        status = run([f"--junitxml={report}", "--testrunuid=repeated"])
        worst = max(worst, status)
        failures.update(failed_in(report))
        print(f"Round {number} of {rounds}: {'green' if status == 0 else 'red'}", flush=True)
    for test, count in failures.most_common():
        print(f"{count} of {rounds}: {test}")
    return worst


def failed_in(report: Path) -> set[str]:
    """The tests that failed, or whose fixtures did; none where pytest could not begin."""
    if not report.exists():
        return set()
    cases = ElementTree.parse(report).getroot().iter("testcase")  # noqa: S314  pytest wrote it
    return {
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    }
