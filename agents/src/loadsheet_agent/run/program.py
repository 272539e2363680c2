"""A program of the plan as a process: under its guard, with its log, stopped as a whole."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.install.installer import program_environ
from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.server_spec import ProgramSpec
from loadsheet_agent.programs import signal_group
from loadsheet_agent.run import server_guard
from loadsheet_agent.run.sampling import Tree

STOP_GRACE_S = 10.0
COMMAND_LIMIT_S = 120.0
# What is kept of a program's last output.
TAIL_BYTES = 4096
LINE_LIMIT = 300


@dataclass(frozen=True)
class Places:
    """Where a program works: the plan's directory, a folder of this run, and its log."""

    plan: Path
    run: Path
    log: Path


class Program:
    """Started when it is needed, any number of times. Its log keeps the output of every start."""

    def __init__(
        self, spec: ProgramSpec, label: str, words: Mapping[str, str], places: Places
    ) -> None:
        self.label = label
        self.words = {**words, "run": str(places.run)}
        self._spec = spec
        self._places = places
        self._argv = spec.start and self.fill_all(spec.start)
        self._stop_argv = spec.stop and self.fill_all(spec.stop)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_prepared = False
        self._start_offset = 0

    @property
    def is_startable(self) -> bool:
        """Whether the plan starts it; else it runs already."""
        return self._argv is not None

    @property
    def is_running(self) -> bool:
        """Whether the plan started it and it has not ended."""
        return self._process is not None and self.exit_code() is None

    def fill_all(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return placeholders.fill_all(texts, self.words)

    @property
    def directory(self) -> Path:
        """Where its commands run."""
        cwd = self._spec.cwd
        return self._places.plan / placeholders.fill(cwd, self.words) if cwd else self._places.plan

    @property
    def environ(self) -> dict[str, str]:
        """The agent's environment with the plan's."""
        own = {
            name: placeholders.fill(text, self.words)
            for name, text in self._spec.environment.items()
        }
        return {**program_environ(), **own}

    def start(self) -> None:
        """Write its files, run its setup before the first start, and start it.

        Raises ServerStartError.
        """
        if self._argv is None:
            return
        self._write_templates()
        self._hand_over_folder()
        if not self._is_prepared:
            self.run_commands(self._spec.setup)
            self._is_prepared = True
        self._spawn(self._argv)

    def run_commands(self, commands: tuple[tuple[str, ...], ...]) -> None:
        """Raises ServerStartError for a command that fails."""
        for command in commands:
            argv = self.fill_all(command)
            problem = self._run(argv, COMMAND_LIMIT_S)
            if problem is not None:
                raise ServerStartError(
                    f"{self.label!r} was not set up: {argv[0]} {problem}{self.log_line()}"
                )

    def _write_templates(self) -> None:
        for name, source in self._spec.templates.items():
            path = self._places.run / name
            template = self._places.plan / placeholders.fill(source, self.words)
            try:
                text = template.read_text(encoding="utf-8")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(placeholders.fill(text, self.words), encoding="utf-8")
            except OSError as error:
                raise ServerStartError(
                    f"{self.label!r} needs the file {name}: {error.filename} ({error.strerror})"
                ) from error

    def _spawn(self, argv: tuple[str, ...]) -> None:
        with self._places.log.open("ab") as log:
            self._start_offset = log.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-I", server_guard.__file__, self._guard_options(), *argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env=self.environ,
                start_new_session=True,
            )

    @property
    def _user(self) -> str | None:
        """Only root may start a program as another user."""
        return self._spec.user if os.geteuid() == 0 else None

    def _hand_over_folder(self) -> None:
        if self._user is not None:
            try:
                shutil.chown(self._places.run, self._user)
            except LookupError as error:
                raise ServerStartError(
                    f"{self.label!r} runs as {self._user!r}, which is not a user of this machine"
                ) from error

    def _guard_options(self) -> str:
        options: dict[str, Any] = {
            "user": self._user,
            "cpus": list(self._spec.cpus),
            "ulimit": dict(self._spec.ulimit),
        }
        return json.dumps(options)

    def exit_code(self) -> int | None:
        """The exit code of a program that the plan started and that has ended; else None.

        Where the plan has a stop command, a start that ends with 0 has left a daemon behind.
        """
        code = None if self._process is None else self._process.poll()
        return None if code == 0 and self._stop_argv else code

    def tail(self) -> str | None:
        """The end of its output since it was last started; None when it printed nothing."""
        try:
            with self._places.log.open("rb") as log:
                log.seek(max(log.seek(0, os.SEEK_END) - TAIL_BYTES, self._start_offset))
                text = log.read().decode("utf-8", errors="replace")
        except OSError:
            return None
        return text.replace("\0", "\ufffd").strip() or None

    def log_line(self) -> str:
        """`; it printed: …`, the last line of its output, to end a sentence."""
        lines = (self.tail() or "").splitlines()
        return f"; it printed: {lines[-1][:LINE_LIMIT]}" if lines else "; it printed nothing"

    def tree(self) -> Tree | None:
        """Its processes; None when the plan did not start it or it has ended."""
        if self._process is None or self._process.poll() is not None:
            return None
        return Tree(self._process.pid)

    def stop(self) -> None:
        """End every process of a program the plan started; others are left alone."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._stop_argv is not None:
            self._run(self._stop_argv, STOP_GRACE_S)
        signal_group(process.pid, signal.SIGTERM)
        try:
            process.wait(STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Also after a clean end: a worker that outlived its parent would disturb later trials.
            signal_group(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                process.stdin.close()

    def finish(self) -> None:
        """Stop it for the last time, and run its teardown where its setup was run."""
        self.stop()
        if self._is_prepared:
            with contextlib.suppress(ServerStartError):
                self.run_commands(self._spec.teardown)

    def succeeds(self, argv: tuple[str, ...], limit_s: float) -> bool:
        """Whether a command of this program ends with 0 in time."""
        return self._run(self.fill_all(argv), limit_s) is None

    def _run(self, argv: tuple[str, ...], limit_s: float) -> str | None:
        """Why the command failed, to follow its name; None if it ended with 0."""
        with self._places.log.open("ab") as log:
            try:
                done = subprocess.run(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=limit_s,
                    check=False,
                    cwd=self.directory,
                    env=self.environ,
                    user=self._user,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                reason = getattr(error, "strerror", None) or f"did not end within {limit_s:g} s"
                return f"failed ({reason})"
        return None if done.returncode == 0 else f"ended with exit code {done.returncode}"
