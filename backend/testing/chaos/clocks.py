"""Clocks that are wrong: the clock of the site, and that of its worker alone, can be set.

A small library (clock.c) is built with the C compiler of the machine and loaded into each process.
"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")
SITE, WORKER = "site", "worker"


class Clocks:
    """Two clocks: one of the worker, one of everything else."""

    def __init__(self, folder: Path, library: Path) -> None:
        self._folder = folder
        self._library = library
        for name in (SITE, WORKER):
            self.shift(name, 0)
        self._write_nice()

    def shift(self, name: str, seconds: int) -> None:
        """Set the clock of SITE or WORKER so many seconds ahead of the right time."""
        half = self._folder / f"{name}.half"
        half.write_text(f"{seconds}\n")
        half.chmod(0o644)
        half.replace(self._folder / name)

    @property
    def variables(self) -> dict[str, str]:
        """For the environment of the supervisor."""
        path = os.pathsep.join([str(self._folder), os.environ["PATH"]])
        return {**self.variables_of(SITE), "PATH": path}

    def variables_of(self, name: str) -> dict[str, str]:
        """For the environment of a process that has the clock SITE or WORKER."""
        return {"LD_PRELOAD": str(self._library), "CLOCK_FILE": str(self._folder / name)}

    def _write_nice(self) -> None:
        """The worker is the only process that `nice` starts: there it gets its own clock."""
        path = self._folder / "nice"
        clock = shlex.quote(str(self._folder / WORKER))
        path.write_text(f'#!/bin/sh\nCLOCK_FILE={clock} exec {shutil.which("nice")} "$@"\n')
        path.chmod(0o755)


def make_clocks(folder: Path) -> Clocks | None:
    """Clocks in a new folder; None if the machine cannot build them."""
    compiler = shutil.which("cc")
    if os.uname().sysname != "Linux" or compiler is None:
        return None
    folder.mkdir()
    folder.chmod(0o755)
    library = folder / "clock.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    is_built = subprocess.run(command, check=False, capture_output=True).returncode == 0
    return Clocks(folder, library) if is_built else None
