"""The servers of a plan: start, wait until ready, watch, stop."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from loadsheet_agent import guard, placeholders
from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.plan import Plan, ServerSpec, WorkloadSpec

STOP_GRACE_S = 10.0
PROBE_TIMEOUT_S = 5.0
POLL_S = 0.05
# A server that will not start costs its ready timeout each time; more tries prove nothing.
START_TRIES = 2


@dataclass(frozen=True)
class Usage:
    """Of a process tree: CPU since its start, memory resident now. Unknown is None."""

    cpu_s: float | None
    rss_bytes: int | None


UNKNOWN_USAGE = Usage(cpu_s=None, rss_bytes=None)


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
        self._plan_dir = plan_dir
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._payloads: dict[str, int | None] = {}
        self._failed_starts = 0

    def ensure_ready(self) -> None:
        if self._failed_starts >= START_TRIES:
            raise ServerStartError(
                f"server {self.spec.name!r} was not tried again after {START_TRIES} failed starts"
            )
        if self._process is not None and self._process.poll() is None:
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
        self._wait_until_ready()

    def _spawn(self, argv: tuple[str, ...]) -> None:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", guard.__file__, *argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._plan_dir,
                start_new_session=True,
            )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self.spec.ready_timeout_s
        while True:
            self._raise_if_ended()
            if _answers(self.url):
                return
            if time.monotonic() > deadline:
                raise ServerStartError(
                    f"server {self.spec.name!r} did not answer at {self.url} within "
                    f"{self.spec.ready_timeout_s:g} s{self._log_tail()}"
                )
            time.sleep(POLL_S)

    def _raise_if_ended(self) -> None:
        ended = self.ended()
        if ended is not None:
            raise ServerStartError(
                f"server {self.spec.name!r} ended with exit code {ended} before it was "
                f"ready{self._log_tail()}"
            )

    def ended(self) -> int | None:
        """The exit code of a server the plan started and that is gone; else None."""
        return None if self._process is None else self._process.poll()

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
            self._payloads[workload.name] = _body_size(workload.method, self.url + workload.path)
        return self._payloads[workload.name]

    def usage(self) -> Usage:
        if self._process is None or self._process.poll() is not None:
            return UNKNOWN_USAGE
        try:
            return _tree_usage(self._process.pid)
        except psutil.Error:
            return UNKNOWN_USAGE

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
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


def _answers(url: str) -> bool:
    try:
        with _client() as client:
            client.get(url + "/")
    except httpx.HTTPError:
        return False
    return True


def _body_size(method: str, url: str) -> int | None:
    try:
        with _client() as client:
            answer = client.request(method, url, headers={"Accept-Encoding": "identity"})
    except httpx.HTTPError:
        return None
    return len(answer.content)


def _client() -> httpx.Client:
    # No proxies: the load tools use none either. Certificates: the load tools check none.
    return httpx.Client(trust_env=False, verify=False, timeout=PROBE_TIMEOUT_S)  # noqa: S501


def _tree_usage(guard_pid: int) -> Usage:
    """Children that ended are in the children's times of their parent, so the sum only grows."""
    cpu, rss = 0.0, 0
    for process in psutil.Process(guard_pid).children(recursive=True):
        try:
            times, memory = process.cpu_times(), process.memory_info()
        except psutil.NoSuchProcess:
            continue
        cpu += times.user + times.system
        cpu += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
        rss += memory.rss
    return Usage(cpu_s=cpu, rss_bytes=rss)


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return
