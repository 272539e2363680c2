"""Clocks that are wrong: libfaketime shifts the clock of the site, and of its worker alone."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
)
SITE, WORKER = "site", "worker"


def faketime_library() -> str | None:
    """The path of libfaketime (Debian's package `libfaketime`), or None."""
    return next((path for path in LIBRARIES if Path(path).exists()), None)


class Clocks:
    """Two clocks: one of the worker, one of everything else. Monotonic clocks stay right."""

    def __init__(self, folder: Path, library: str) -> None:
        self._folder = folder
        self._library = library
        folder.mkdir()
        folder.chmod(0o755)
        for name in (SITE, WORKER):
            self.shift(name, 0)
        self._write_nice()

    def shift(self, name: str, seconds: int) -> None:
        """Set the clock of SITE or WORKER so many seconds ahead of the right time."""
        half = self._folder / f"{name}.half"
        half.write_text(f"{seconds:+d}\n")
        half.chmod(0o644)
        half.replace(self._folder / name)

    @property
    def variables(self) -> dict[str, str]:
        """For the environment of the supervisor."""
        return {
            "LD_PRELOAD": self._library,
            "FAKETIME_TIMESTAMP_FILE": str(self._folder / SITE),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # PostgreSQL runs as another user, who may not open the shared memory of ours.
            "FAKETIME_DISABLE_SHM": "1",
            "PATH": os.pathsep.join([str(self._folder), os.environ["PATH"]]),
        }

    def _write_nice(self) -> None:
        """The worker is the only process that `nice` starts: there it gets its own clock."""
        path = self._folder / "nice"
        clock = shlex.quote(str(self._folder / WORKER))
        path.write_text(
            f'#!/bin/sh\nFAKETIME_TIMESTAMP_FILE={clock} exec {shutil.which("nice")} "$@"\n'
        )
        path.chmod(0o755)
