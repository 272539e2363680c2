"""The servers of a plan: start, wait until ready, watch, stop."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.plan import Plan, ServerSpec, WorkloadSpec
from loadsheet_agent.run import server_guard
from loadsheet_agent.run.probe import Answer, Probe
from loadsheet_agent.run.sampling import Tree

STOP_GRACE_S = 10.0
POLL_S = 0.05
# A server that will not start costs its ready timeout each time; more tries prove nothing.
START_TRIES = 2
# What is kept of a server's last output.
TAIL_BYTES = 4096
LINE_LIMIT = 300


class ManagedServer:
    """One server of the plan: started at first need, or running already and only probed."""

    def __init__(
        self,
        spec: ServerSpec,
        words: Mapping[str, str],
        plan_dir: Path,
        log: Path,
        starts: Iterator[int],
    ):
        """`starts` numbers the starts of all servers of a run."""
        self.spec = spec
        self.version = spec.version and placeholders.fill(spec.version, words)
        if spec.version_command:
            self.version = _ask_version(
                placeholders.fill_all(spec.version_command, words), plan_dir
            )
        words = {**words, "version": self.version or "unknown"}
        self.runtime = spec.runtime and placeholders.fill(spec.runtime, words)
        self.url = placeholders.fill(spec.url, words).rstrip("/")
        self._probe = Probe(self.url, spec.verify_tls)
        self._argv = spec.start and placeholders.fill_all(spec.start, words)
        self._stop_argv = spec.stop and placeholders.fill_all(spec.stop, words)
        self._environment = {
            name: placeholders.fill(text, words) for name, text in spec.environment.items()
        }
        self._plan_dir = plan_dir
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: dict[str, Answer | None] = {}
        self._failed_starts = 0
        self._starts = starts
        # Which start of a server in this run its process comes from; None where the plan did not
        # start it.
        self.start: int | None = None

    def ensure_ready(self) -> None:
        """Start the server unless it runs, and wait until it answers. Raises ServerStartError."""
        if self._failed_starts >= START_TRIES:
            raise ServerStartError(
                f"server {self.spec.label!r} was not tried again after {START_TRIES} failed starts"
            )
        if self._process is not None and self.exit_code() is None:
            return
        try:
            self._start()
        except ServerStartError:
            self.stop()
            self._failed_starts += 1
            raise
        self._failed_starts = 0

    def _start(self) -> None:
        self.stop()
        if self._argv is not None:
            self._spawn(self._argv)
            self.start = next(self._starts)
        self._wait_until_ready()

    def _spawn(self, argv: tuple[str, ...]) -> None:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", server_guard.__file__, *argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._plan_dir,
                env={**os.environ, **self._environment},
                start_new_session=True,
            )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self.spec.ready_timeout_s
        while True:
            self._raise_if_ended()
            status = self._probe.status(self.spec.ready_path)
            if status is not None and self.spec.ready_status in (None, status):
                return
            if time.monotonic() > deadline:
                raise ServerStartError(self._unready_text(status))
            time.sleep(POLL_S)

    def _unready_text(self, status: int | None) -> str:
        url = self.url + ("" if self.spec.ready_path == "/" else self.spec.ready_path)
        state = "did not answer"
        if status is not None:
            state = f"answered {status}, not {self.spec.ready_status},"
        return (
            f"server {self.spec.label!r} {state} at {url} within "
            f"{self.spec.ready_timeout_s:g} s{self._log_tail()}"
        )

    def _raise_if_ended(self) -> None:
        exit_code = self.exit_code()
        if exit_code is not None:
            raise ServerStartError(
                f"server {self.spec.label!r} ended with exit code {exit_code} before it was "
                f"ready{self._log_tail()}"
            )

    def exit_code(self) -> int | None:
        """The exit code of a server that the plan started and that has ended; else None.

        Where the plan has a stop command, a start that ends with 0 has left a daemon behind.
        """
        code = None if self._process is None else self._process.poll()
        return None if code == 0 and self._stop_argv else code

    def tail(self) -> str | None:
        """The end of its output since it was started; None when it printed nothing."""
        try:
            with self._log.open("rb") as log:
                log.seek(max(log.seek(0, os.SEEK_END) - TAIL_BYTES, 0))
                text = log.read().decode("utf-8", errors="replace")
        except OSError:
            return None
        return text.replace("\0", "\ufffd").strip() or None

    def _log_tail(self) -> str:
        try:
            lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return ""
        return f"; it printed: {lines[-1][:LINE_LIMIT]}" if lines else "; it printed nothing"

    def answer(self, workload: WorkloadSpec) -> Answer | None:
        """Its answer to the workload, asked for once; None where a request may change data.

        Raises ServerStartError where the server's certificate cannot be verified.
        """
        if workload.method not in ("GET", "HEAD"):
            return None
        if workload.name not in self._answers:
            self._answers[workload.name] = self._probe.answer(workload)
        return self._answers[workload.name]

    def tree(self) -> Tree | None:
        """Its processes; None when the plan did not start it or it has ended."""
        if self._process is None or self._process.poll() is not None:
            return None
        return Tree(self._process.pid)

    def stop(self) -> None:
        """End every process of a server the plan started; others are left alone."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._stop_argv is not None:
            _run_quietly(self._stop_argv, self._plan_dir, {**os.environ, **self._environment})
        _signal_group(process.pid, signal.SIGTERM)
        try:
            process.wait(STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Also after a clean end: a worker that outlived its parent would disturb later trials.
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                process.stdin.close()


def prepare_servers(
    plan: Plan, log_dir: Path, starts: Iterator[int]
) -> dict[tuple[str, str | None], ManagedServer]:
    """The plan's servers by their key, each with a free port; none is started yet.

    `starts` numbers their starts.
    """
    ports = placeholders.free_ports(len(plan.servers))
    constant = placeholders.constant_words(str(plan.directory))
    return {
        spec.key: ManagedServer(
            spec,
            {**constant, "port": str(port)},
            plan.directory,
            log_dir / f"server-{number}.log",
            starts,
        )
        for number, (spec, port) in enumerate(zip(plan.servers, ports))
    }


def _ask_version(argv: tuple[str, ...], directory: Path) -> str | None:
    """The first version number the command prints, else its first line, else unknown."""
    try:
        completed = subprocess.run(
            argv, capture_output=True, text=True, timeout=20, check=False, cwd=directory
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if completed.returncode != 0:
        return None
    printed = completed.stdout.strip() or completed.stderr.strip()
    match = re.search(r"\d+(?:\.\d+)+[\w.+-]*", printed)
    first_line = printed.partition("\n")[0].strip()
    return (match.group(0) if match else first_line)[:200] or None


def _run_quietly(argv: tuple[str, ...], directory: Path, environ: Mapping[str, str]) -> None:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=STOP_GRACE_S,
            check=False,
            cwd=directory,
            env=environ,
        )


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return
