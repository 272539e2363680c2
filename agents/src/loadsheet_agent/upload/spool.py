"""Results on disk until the service has stored them: one directory per upload.

    <spool>/<uuid>/envelope.json + artefacts     waiting (or in progress, while locked)
    <spool>/rejected/<uuid>/ … problem.json      refused for good, kept for a person

`envelope.json` is the commit point: it is replaced whole (write, fsync, rename, fsync of the
directory) after the artefacts it names are on disk. At every moment it is a valid envelope, so a
killed agent leaves a run marked as interrupted, with every trial that had finished.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from loadsheet_agent.errors import AgentError, UsageError
from loadsheet_agent.host.clock import utc_now

ENVELOPE = "envelope.json"
PROBLEM = "problem.json"
ATTEMPTS = "attempts.json"
LOCK = "lock"
REJECTED = "rejected"
LEAVING = ".sent-"
# A disk writes what is flushed at the same time together; an import has thousands of small files.
FLUSHED_AT_ONCE = 32
OWN_NAMES = frozenset({ENVELOPE, PROBLEM, ATTEMPTS, LOCK})


class BusyError(AgentError):
    """Another process works on this entry."""


def open_spool(root: str | None) -> Spool:
    """At `root`, else LOADSHEET_SPOOL, else the user's state directory; removals are finished."""
    root = root or os.environ.get("LOADSHEET_SPOOL")
    # Absolute: load tools run inside it, whatever directory the command was typed in.
    spool = Spool(Path(root).absolute() if root else _default_root())
    spool.sweep()
    return spool


def _default_root() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state).absolute() / "loadsheet" / "spool"


@dataclass(frozen=True)
class Note:
    """What `spool list` says about one entry."""

    id: str
    state: str  # waiting | in progress | rejected
    trials: int
    files: int
    size_bytes: int
    started_at: str | None
    interrupted: bool
    attempts: int
    last_error: str | None


class Entry:
    """One upload on disk; its directory is named by its id."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock: IO[bytes] | None = None

    @property
    def id(self) -> str:
        return self.directory.name

    def lock(self) -> None:
        """Held until `release` or the end of the process, however it ends."""
        handle = (self.directory / LOCK).open("ab")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.close()
            raise BusyError(f"{self.id} is in use by another loadsheet process.") from error
        self._lock = handle

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def commit(self, envelope: Mapping[str, Any], artefacts: Iterable[str] = ()) -> None:
        """Make the named artefacts durable, then the envelope that names them."""
        with ThreadPoolExecutor(FLUSHED_AT_ONCE) as pool:
            # `list` raises what a flush raised.
            list(pool.map(_sync_file, (self.directory / name for name in artefacts)))
        text = json.dumps(envelope, ensure_ascii=False, indent=1, allow_nan=False)
        replace_file(self.directory / ENVELOPE, text.encode())

    def envelope_text(self) -> str | None:
        """As it is on disk; None before the first commit."""
        try:
            return (self.directory / ENVELOPE).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def envelope(self) -> dict[str, Any] | None:
        text = self.envelope_text()
        return None if text is None else json.loads(text)

    def artefacts(self) -> list[Path]:
        """The files to send: those the envelope's trials name, else every file of the entry."""
        envelope = self.envelope() or {}
        if "trials" in envelope:
            names = [name for trial in envelope["trials"] for name in trial["artefacts"]]
            return [self.directory / name for name in names]
        return sorted(
            path
            for path in self.directory.iterdir()
            if path.name not in OWN_NAMES and not path.name.endswith(".part")
        )

    def is_empty(self) -> bool:
        """Whether no trial has finished, so that nothing is lost by removing the entry."""
        envelope = self.envelope()
        return envelope is None or ("trials" in envelope and not envelope["trials"])

    def count_attempt(self, error: str | None) -> None:
        """Remember one more try to send the entry, and why it failed."""
        attempts = self._attempts().get("attempts", 0) + 1
        note = {"attempts": attempts, "last_error": error, "at": utc_now()}
        (self.directory / ATTEMPTS).write_text(json.dumps(note), encoding="utf-8")

    def _attempts(self) -> dict[str, Any]:
        return _read_object(self.directory / ATTEMPTS)

    def remove(self) -> None:
        """Delete the entry. Renamed first, so that a half-deleted directory is never sent."""
        leaving = self.directory.with_name(f"{LEAVING}{self.id}")
        self.directory.rename(leaving)
        self.release()
        shutil.rmtree(leaving, ignore_errors=True)

    def reject(self, problem: Mapping[str, Any]) -> Path:
        """Move the entry to `rejected/` with the reason; its new directory."""
        replace_file(self.directory / PROBLEM, json.dumps(problem, indent=1).encode())
        target = self.directory.parent / REJECTED / self.id
        target.parent.mkdir(exist_ok=True)
        self.directory.rename(target)
        self.directory = target
        _sync_directory(target.parent)
        self.release()
        return target

    def note(self, state: str) -> Note:
        envelope = self.envelope() or {}
        run = envelope.get("run") or {}
        files = self.artefacts() if envelope else []
        attempts = self._attempts()
        return Note(
            id=self.id,
            state=state,
            trials=len(envelope.get("trials", ())),
            files=len(files),
            size_bytes=sum(path.stat().st_size for path in files if path.exists()),
            started_at=run.get("started_at"),
            interrupted=bool(run.get("interrupted")),
            attempts=attempts.get("attempts", 0),
            last_error=self._problem_text() or attempts.get("last_error"),
        )

    def _problem_text(self) -> str | None:
        problem = _read_object(self.directory / PROBLEM)
        return str(problem.get("detail") or problem.get("title") or "") or None


class Spool:
    """All entries that wait or were rejected, under one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self) -> Entry:
        """A new entry with its id, locked, before anything is measured."""
        entry = Entry(self.root / str(uuid.uuid4()))
        try:
            entry.directory.mkdir(parents=True, mode=0o700)
            entry.lock()
        except OSError as error:
            raise UsageError(
                f"the spool {self.root} cannot be written ({error.strerror}); "
                "choose another place with --spool or LOADSHEET_SPOOL."
            ) from error
        _sync_directory(self.root)
        return entry

    def entries(self) -> list[Entry]:
        """Entries that wait or are in progress, oldest first."""
        return [Entry(path) for path in _id_directories(self.root)]

    def rejected(self) -> list[Entry]:
        return [Entry(path) for path in _id_directories(self.root / REJECTED)]

    def notes(self) -> list[Note]:
        waiting = [
            entry.note("in progress" if _is_locked(entry) else "waiting")
            for entry in self.entries()
        ]
        refused = [entry.note("rejected") for entry in self.rejected()]
        return waiting + refused

    def sweep(self) -> None:
        """Finish removals that a kill cut short."""
        if self.root.is_dir():
            for path in self.root.glob(f"{LEAVING}*"):
                shutil.rmtree(path, ignore_errors=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write the file durably, so that at every moment the old or the new content is there whole."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    part.replace(path)
    _sync_directory(path.parent)


def _read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file; empty if there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _sync_file(path: Path) -> None:
    with path.open("rb") as handle:
        os.fsync(handle.fileno())


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _id_directories(root: Path) -> Iterator[Path]:
    """Directories named by a UUID, oldest first; other files in the spool are left alone."""
    if not root.is_dir():
        return iter(())
    directories = []
    for path in root.iterdir():
        with suppress(ValueError):
            uuid.UUID(path.name)
            if path.is_dir():
                directories.append(path)
    return iter(sorted(directories, key=lambda path: (path.stat().st_mtime, path.name)))


def _is_locked(entry: Entry) -> bool:
    try:
        entry.lock()
    except BusyError:
        return True
    entry.release()
    return False
