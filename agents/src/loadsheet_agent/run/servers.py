"""The servers of a plan: start, wait until ready, watch, stop."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx

from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.plan import placeholders
from loadsheet_agent.plan.plan import Plan, ServerSpec, WorkloadSpec
from loadsheet_agent.run import server_guard
from loadsheet_agent.run.sampling import Tree

STOP_GRACE_S = 10.0
PROBE_TIMEOUT_S = 5.0
POLL_S = 0.05
# A server that will not start costs its ready timeout each time; more tries prove nothing.
START_TRIES = 2


# What is kept of what a server printed last.
TAIL_BYTES = 4096


class ManagedServer:
    """One server of the plan, started on first need; or an already running one, only probed."""

    def __init__(self, spec: ServerSpec, words: Mapping[str, str], plan_dir: Path, log: Path):
        self.spec = spec
        self.version = spec.version and placeholders.fill(spec.version, words)
        if spec.version_command:
            self.version = _ask_version(
                placeholders.fill_all(spec.version_command, words), plan_dir
            )
        words = {**words, "version": self.version or "unknown"}
        self.runtime = spec.runtime and placeholders.fill(spec.runtime, words)
        self.url = placeholders.fill(spec.url, words).rstrip("/")
        self._argv = spec.start and placeholders.fill_all(spec.start, words)
        self._stop_argv = spec.stop and placeholders.fill_all(spec.stop, words)
        self._environment = {
            name: placeholders.fill(text, words) for name, text in spec.environment.items()
        }
        self._plan_dir = plan_dir
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._payloads: dict[str, int | None] = {}
        self._failed_starts = 0
        self.starts = 0  # how often it was started: which process a warm-up was for

    def ensure_ready(self) -> None:
        if self._failed_starts >= START_TRIES:
            raise ServerStartError(
                f"server {self.spec.name!r} was not tried again after {START_TRIES} failed starts"
            )
        if self._process is not None and self.ended() is None:
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
        self.starts += 1
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
            answer = _status(self.url + self.spec.ready_path)
            if answer is not None and self.spec.ready_status in (None, answer):
                return
            if time.monotonic() > deadline:
                raise ServerStartError(self._unready_text(answer))
            time.sleep(POLL_S)

    def _unready_text(self, answer: int | None) -> str:
        place = self.url + ("" if self.spec.ready_path == "/" else self.spec.ready_path)
        said = "did not answer" if answer is None else f"answered {answer}"
        wanted = "" if answer is None else f", not {self.spec.ready_status},"
        return (
            f"server {self.spec.name!r} {said}{wanted} at {place} within "
            f"{self.spec.ready_timeout_s:g} s{self._log_tail()}"
        )

    def _raise_if_ended(self) -> None:
        ended = self.ended()
        if ended is not None:
            raise ServerStartError(
                f"server {self.spec.name!r} ended with exit code {ended} before it was "
                f"ready{self._log_tail()}"
            )

    def ended(self) -> int | None:
        """The exit code of a server the plan started and that is gone; else None.

        A start that ends well leaves a daemon behind where the plan says how to stop it.
        """
        code = None if self._process is None else self._process.poll()
        return None if code == 0 and self._stop_argv else code

    def tail(self) -> str | None:
        """The last of what it printed since it was started; None when nothing."""
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
        return f"; it printed: {lines[-1][:300]}" if lines else "; it printed nothing"

    def payload_bytes(self, workload: WorkloadSpec) -> int | None:
        """Size of the answer's body, measured once; None where asking might change something."""
        if workload.method not in ("GET", "HEAD"):
            return workload.payload_bytes
        if workload.name not in self._payloads:
            self._payloads[workload.name] = _body_size(workload, self.url + workload.path)
        return self._payloads[workload.name]

    def tree(self) -> Tree | None:
        """Its processes, or None when the plan did not start it or it is gone."""
        if self._process is None or self._process.poll() is not None:
            return None
        return Tree(self._process.pid)

    def stop(self) -> None:
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
            # Also after a clean end: a worker that outlived its parent would disturb the rest.
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                process.stdin.close()


def prepare(plan: Plan, log_dir: Path) -> dict[str, ManagedServer]:
    ports = placeholders.free_ports(len(plan.servers))
    constant = placeholders.constant_words(str(plan.directory))
    return {
        spec.name: ManagedServer(
            spec, {**constant, "port": str(port)}, plan.directory, log_dir / f"server-{number}.log"
        )
        for number, (spec, port) in enumerate(zip(plan.servers, ports))
    }


def _ask_version(argv: tuple[str, ...], directory: Path) -> str | None:
    """The first version number the command prints, else its first line, else unknown."""
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=20, check=False, cwd=directory
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    printed = (done.stdout.strip() or done.stderr.strip()) if done.returncode == 0 else ""
    match = re.search(r"\d+(?:\.\d+)+[\w.+-]*", printed)
    first_line = printed.partition("\n")[0].strip()
    return (match.group(0) if match else first_line)[:200] or None


def _status(url: str) -> int | None:
    """The status of the answer; None when there was none."""
    try:
        with _client() as client:
            return client.get(url).status_code
    except httpx.HTTPError:
        return None


def _body_size(workload: WorkloadSpec, url: str) -> int | None:
    headers = {"Accept-Encoding": "identity", **dict(workload.headers)}
    try:
        with _client() as client:
            answer = client.request(workload.method, url, headers=headers)
    except httpx.HTTPError:
        return None
    return len(answer.content)


def _client() -> httpx.Client:
    # No proxies: the load tools use none either. Certificates: the load tools check none.
    return httpx.Client(trust_env=False, verify=False, timeout=PROBE_TIMEOUT_S)  # noqa: S501


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
