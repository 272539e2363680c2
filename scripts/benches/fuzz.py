"""scripts/bench fuzz: damaged captures of every load tool, read file by file and together.

Holds that a reading raises FormatError and nothing else, that none takes more than 2 s of CPU
time, and that each refusal is a sentence for the person who sent the file. Readings run in child
processes with a watchdog. What fails is made as small as it gets and saved; then the exit status
is 1.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from backend.testing.damage import (
    Files,
    captures,
    damaged,
    fault_of,
    names_of,
    readings,
    smaller,
)

LIMIT_S = 2.0
# A child that says nothing for so long is stopped, on a busy machine too.
PATIENCE_S = 60.0
PROGRESS_S = 5.0
SPAWN = multiprocessing.get_context("spawn")


def main() -> None:
    options = _options()
    started = time.monotonic()
    print(f"{len(captures())} captures of {names_of(captures())}; seed {options.seed}", flush=True)
    watch = Watch(options.seed, options.count, options.jobs, options.keep)
    failures = watch.run()
    elapsed = time.monotonic() - started
    print(
        f"{options.count} damaged captures in {elapsed:.0f} s, {failures} failures, "
        f"slowest reading {watch.slowest_s:.2f} s (limit {LIMIT_S:g} s)"
    )
    if failures:
        sys.exit(f"failures are in {options.keep}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=50_000, help="damaged captures")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="child processes")
    parser.add_argument("--keep", type=Path, default=None, help="folder for what fails")
    options = parser.parse_args()
    options.keep = options.keep or Path(tempfile.mkdtemp(prefix="loadsheet-fuzz-"))
    return options


@dataclass
class Child:
    """A process that reads every `step`th damaged capture from `number` on."""

    process: Any
    pipe: Connection
    number: int
    heard: float = field(default_factory=time.monotonic)


class Watch:
    """The children, and what they said."""

    def __init__(self, seed: int, count: int, jobs: int, keep: Path) -> None:
        self.seed, self.count, self.jobs, self.keep = seed, count, jobs, keep
        self.done = self.failures = 0
        self.slowest_s = 0.0

    def run(self) -> int:
        """How many failed."""
        children = [self._start(number) for number in range(self.jobs)]
        started = shown = time.monotonic()
        while children:
            ready = wait([child.pipe for child in children], timeout=1)
            children = [alive for child in children if (alive := self._hear(child, ready))]
            if time.monotonic() - shown > PROGRESS_S:
                shown = time.monotonic()
                rate = self.done / (shown - started)
                print(
                    f"{self.done} of {self.count}, {rate:.0f}/s, {self.failures} failures",
                    flush=True,
                )
        return self.failures

    def _start(self, number: int) -> Child:
        ours, theirs = SPAWN.Pipe()
        arguments = (theirs, self.seed, number, self.count, self.jobs)
        process = SPAWN.Process(target=read_all, args=arguments, daemon=True)
        process.start()
        theirs.close()
        return Child(process, ours, number)

    def _hear(self, child: Child, ready: list[Any]) -> Child | None:
        """The child, or the one that goes on for it; None when its work is done."""
        try:
            while child.pipe in ready and child.pipe.poll():
                self._note(child, *child.pipe.recv())
        except EOFError:
            child.process.join()
            if child.number >= self.count:
                return None
            return self._go_on(child, f"the process ended with {child.process.exitcode}")
        if time.monotonic() - child.heard > PATIENCE_S:
            child.process.kill()
            child.process.join()
            return self._go_on(child, f"no answer in {PATIENCE_S:g} s")
        return child

    def _note(self, child: Child, number: int, taken_s: float, faults: list[Any]) -> None:
        child.heard, child.number = time.monotonic(), number + self.jobs
        self.done += 1
        self.slowest_s = max(self.slowest_s, taken_s)
        for fault, files in faults:
            self._save(number, fault, files)

    def _go_on(self, child: Child, fault: str) -> Child | None:
        self._save(child.number, fault, damaged(self.seed, child.number).files)
        self.done += 1
        number = child.number + self.jobs
        return self._start(number) if number < self.count else None

    def _save(self, number: int, fault: str, files: Files) -> None:
        self.failures += 1
        folder = self.keep / f"{self.seed}-{number}-{self.failures}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        (folder / "fault.txt").write_text(fault + "\n", encoding="utf-8", errors="replace")
        print(f"{damaged(self.seed, number).name}: {fault[:300]}", flush=True)


def read_all(pipe: Connection, seed: int, first: int, count: int, step: int) -> None:
    """In a child: read, and say of each number how much CPU time it took and what failed."""
    for case in captures():
        # Imports and first uses are no part of what is measured.
        fault_of(case.files)
    for number in range(first, count, step):
        slowest, faults = 0.0, []
        for files in readings(damaged(seed, number).files):
            started = time.process_time()
            fault = fault_of(files)
            taken = time.process_time() - started
            slowest = max(slowest, taken)
            if fault is None and taken > LIMIT_S:
                faults.append((f"took {taken:.1f} s", dict(files)))
            elif fault is not None:
                faults.append((fault, smaller(files, _fails_alike(fault))))
        pipe.send((number, slowest, faults))
    pipe.close()


def _fails_alike(fault: str) -> Any:
    kind = fault.partition(":")[0]
    end = time.monotonic() + PATIENCE_S / 2

    def fails(files: Files) -> bool:
        if time.monotonic() > end:
            return False
        current_fault = fault_of(files)
        return current_fault is not None and current_fault.partition(":")[0] == kind

    return fails


if __name__ == "__main__":
    main()
