"""The data folder of a site that scripts/start runs: its lock, its logs, its secrets, its disk."""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from backend.config.environment.secret_files import is_given
from backend.errors import WorkFailed

# A new database takes about 60 MiB.
NEW_SITE_BYTES = 128 << 20
NEARLY_FULL_BYTES = 16 << 20


class StartFailed(WorkFailed):
    """Something did not start; the message says what and where to look."""


@dataclass(slots=True)
class SiteFolder:
    """Everything a site keeps on disk."""

    path: Path
    _lock: BinaryIO | None = field(default=None, init=False)

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def scratch(self) -> Path:
        """For temporary files: bodies of requests, answers to slow readers."""
        return self.path / "scratch"

    @property
    def is_new(self) -> bool:
        return not (self.path / "secrets.json").exists()

    def log_of(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def prepare(self) -> None:
        """Make the folder, lock it and look for room; raises StartFailed."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # PostgreSQL's user must pass through the data folder; nobody else need see inside.
            for folder in (self.logs, self.path / "artefacts", self.scratch):
                folder.mkdir(mode=0o700, exist_ok=True)
            self._lock = (self.path / "lock").open("ab")
        except OSError as error:
            hint = "Give a folder you can write with --data DIR."
            raise StartFailed(f"cannot write {self.path}: {error.strerror}. {hint}") from None
        self._take_lock()
        self._check_room()
        self._empty_scratch()

    def _take_lock(self) -> None:
        """Two starts on one folder would end each other's database."""
        assert self._lock is not None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "Stop it, or give another folder with --data DIR."
            raise StartFailed(f"Loadsheet already runs on {self.path}. {hint}") from None

    def _check_room(self) -> None:
        """A site with data starts on a full disk too: what it has can be read and deleted."""
        free = shutil.disk_usage(self.path).free
        if self.is_new and free < NEW_SITE_BYTES:
            raise StartFailed(
                f"the disk of {self.path} has {free >> 20} MiB free, {NEW_SITE_BYTES >> 20} MiB "
                "are needed: make room, or give another folder with --data DIR."
            )

    def _empty_scratch(self) -> None:
        """A process that was killed leaves its temporary files behind."""
        for leftover in self.scratch.iterdir():
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)

    def secrets(self) -> dict[str, str]:
        """Those of SECRET_KEY and TOKEN_PEPPER that the environment lacks.

        They are made once, and kept here, readable by the owner only.
        """
        path = self.path / "secrets.json"
        if not path.exists():
            made = {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "TOKEN_PEPPER")}
            with _private(path) as out:
                out.write(json.dumps(made).encode())
        stored: dict[str, str] = json.loads(path.read_text())
        # What the environment has, or has in a file, goes before what is kept here.
        return {name: value for name, value in stored.items() if not is_given(name)}

    def explain(self, failure: Exception) -> str:
        """One line. A full disk shows in many ways, so the disk itself is looked at."""
        line = " ".join(str(failure).split())
        with contextlib.suppress(OSError):
            free = shutil.disk_usage(self.path).free
            if free < NEARLY_FULL_BYTES or "No space left" in line:
                return f"the disk of {self.path} is full: make room and start again. ({line[:300]})"
        return line


@contextlib.contextmanager
def _private(path: Path) -> Iterator[BinaryIO]:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        yield out
