"""`python -m backend.config.supervisor`: what scripts/start does once everything is installed.

Starts the embedded services, web, worker and beat; makes the demo; ends them all together.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from backend.config import commands
from backend.config.embedded import EmbeddedFailed, Postgres, Valkey, ends_with_parent

ROOT = Path(__file__).resolve().parent.parent.parent
# A new database takes about 60 MiB.
NEEDED_BYTES = 128 << 20
NEARLY_FULL_BYTES = 16 << 20
READY_TIMEOUT_S = 60
STOP_TIMEOUT_S = 20


class Stopped(Exception):
    """A signal asked to stop."""


def main() -> int:
    options = _options()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    site = Site(options.port, options.data.resolve())
    try:
        site.start()
        if not options.no_demo:
            site.demo()
        say(f"Loadsheet runs at {site.url}  (Ctrl-C stops it)")
        site.watch()
    except Stopped:
        say("Stopping …")
        return 0
    except (EmbeddedFailed, StartFailed, OSError) as failed:
        print(f"scripts/start: {_why(failed, site.data)}", file=sys.stderr)
        return 1
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        site.stop()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/start", description="Start Loadsheet.")
    parser.add_argument("--port", type=int, default=8000, help="where it listens (8000)")
    parser.add_argument("--data", type=Path, default=ROOT / ".data", help="data folder (.data/)")
    parser.add_argument("--no-demo", action="store_true", help="measure no demo servers")
    return parser.parse_args()


def _stop(*_: object) -> None:
    raise Stopped


class StartFailed(Exception):
    """Something did not start; the message says what and where to look."""


def _why(failed: Exception, data: Path) -> str:
    """One line. A full disk shows in many ways, so the disk itself is looked at."""
    line = " ".join(str(failed).split())
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(data).free
        if free < NEARLY_FULL_BYTES or "No space left" in line:
            return f"the disk of {data} is full: make room and start again. ({line[:300]})"
    return line


STARTED = time.monotonic()


def say(line: str) -> None:
    """A line of progress with the seconds since the start."""
    print(f"[{time.monotonic() - STARTED:5.1f} s] {line}", flush=True)


@dataclass(slots=True)
class Site:
    """Everything that runs, in the order it was started."""

    port: int
    data: Path
    services: list[Postgres | Valkey] = field(default_factory=list)
    children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    lock: BinaryIO | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    def start(self) -> None:
        """Services, tables, processes; raises StartFailed or EmbeddedFailed."""
        self._prepare()
        self.environment = self._environment()
        say("Bringing the tables up to date")
        self.manage("migrate", "--verbosity=0")
        self._spawn("web", commands.web(bind=f"127.0.0.1:{self.port}"))
        self._spawn("worker", commands.worker())
        self._spawn("beat", commands.beat(schedule=str(self.data / "beat-schedule")))
        self._wait_until_ready()

    def _prepare(self) -> None:
        try:
            self.data.mkdir(parents=True, exist_ok=True)
            # PostgreSQL's user must pass through the data folder; nobody else need see inside.
            for folder in (self.logs, self.data / "artefacts"):
                folder.mkdir(mode=0o700, exist_ok=True)
            self.lock = (self.data / "lock").open("ab")
        except OSError as error:
            hint = "Give a folder you can write with --data DIR."
            raise StartFailed(f"cannot write {self.data}: {error.strerror}. {hint}") from None
        self._take_lock()
        free = shutil.disk_usage(self.data).free
        if free < NEEDED_BYTES:
            raise StartFailed(
                f"the disk of {self.data} has {free >> 20} MiB free, {NEEDED_BYTES >> 20} MiB are "
                "needed: make room, or give another folder with --data DIR."
            )
        if not 0 < self.port < 1 << 16:
            raise StartFailed(f"port {self.port} is none: give 1 to 65535 with --port N.")
        with contextlib.closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError as error:
                reason = error.strerror or "refused"
                hint = "Stop what listens there or choose another with --port N."
                raise StartFailed(f"port {self.port} cannot be used: {reason}. {hint}") from None

    def _take_lock(self) -> None:
        """Two starts on one folder would end each other's database."""
        assert self.lock is not None
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "Stop it, or give another folder with --data DIR."
            raise StartFailed(f"Loadsheet already runs on {self.data}. {hint}") from None

    def _environment(self) -> dict[str, str]:
        own = {
            **os.environ,
            **_secrets(self.data / "secrets.json"),
            "DATA_DIR": str(self.data),
            "PUBLIC_URL": os.environ.get("PUBLIC_URL", self.url),
            "DJANGO_SETTINGS_MODULE": "backend.config.settings",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "agents" / "src")]),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        }
        if "DATABASE_URL" not in os.environ:
            say("Starting PostgreSQL")
            own["DATABASE_URL"] = self._serve(Postgres(self.data), "postgres")
        if "REDIS_URL" not in os.environ:
            say("Starting Valkey")
            own["REDIS_URL"] = self._serve(Valkey(self.data), "valkey")
        return own

    def _serve(self, service: Postgres | Valkey, name: str) -> str:
        self.services.append(service)
        service.start(self.logs / f"{name}.log")
        return service.url

    def _spawn(self, name: str, command: list[str]) -> None:
        say(f"Starting {name}")
        with (self.logs / f"{name}.log").open("ab") as out:
            self.children[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdout=out,
                stderr=out,
                process_group=0,
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  one thread here
            )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            self._check_children()
            with contextlib.suppress(OSError):
                if self._get("/readyz"):
                    return
            time.sleep(0.1)
        raise StartFailed(f"the web server did not get ready; see {self.logs / 'web.log'}")

    def _get(self, path: str) -> bytes:
        with urllib.request.urlopen(self.url + path, timeout=5) as answer:  # noqa: S310  our own URL
            body: bytes = answer.read()
            return body

    def _check_children(self) -> None:
        for name, child in self.children.items():
            if child.poll() is not None:
                log = self.logs / f"{name}.log"
                said = _last_line(log.read_text(errors="replace"))
                raise StartFailed(f"{name} ended with status {child.returncode}; see {log}: {said}")

    def manage(self, *arguments: str) -> str:
        """What `manage.py` with `arguments` prints; raises StartFailed."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise StartFailed(f"manage.py {arguments[0]} failed: {_last_line(done.stderr)}")
        return done.stdout

    def demo(self) -> None:
        """Measure the demo servers once, then say how to get in.

        A measurement that fails is no reason to stop what runs: the next start tries it again.
        """
        try:
            run = self._demo_run()
        except (StartFailed, OSError) as failed:
            say(f"The demo was not measured: {failed} Loadsheet runs; the next start tries again.")
            run = ""
        path = f"/w/demo/compare?run={run}" if run else "/w/demo/compare"
        link = self.manage("sign_in_link", "--next", path).strip()
        say(f"Open this once to sign in and see the comparison:\n\n    {self.url}{link}\n")

    def _demo_run(self) -> str:
        marker = self.data / "demo-run"
        if not marker.exists():
            marker.write_text(self._measure())
        return marker.read_text().strip()

    def _measure(self) -> str:
        token = json.loads(self.manage("make_demo"))["token"]
        say("Measuring the demo servers on this machine (about a minute)")
        agent = subprocess.Popen(
            [sys.executable, "-m", "loadsheet_agent", "run", "scripts/demo/plan.toml", "--json"],
            cwd=ROOT,
            env={
                **self.environment,
                "LOADSHEET_URL": self.url,
                "LOADSHEET_TOKEN": token,
                "LOADSHEET_SPOOL": str(self.data / "spool"),
                "LOADSHEET_AUTOCANNON": str(ROOT / "frontend/node_modules/.bin/autocannon"),
            },
            stdout=subprocess.PIPE,
            process_group=0,
            preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  one thread here
        )
        self.children["demo"] = agent
        output, _ = agent.communicate()
        del self.children["demo"]
        answer = _last_json(output)
        if answer.get("state") != "parsed":
            raise StartFailed(str(answer.get("detail") or answer.get("error") or answer))
        return str(answer["id"])

    def watch(self) -> None:
        """Wait for a signal, or for a child that ends by itself."""
        while True:
            self._check_children()
            for service in self.services:
                if service.process is not None and service.process.poll() is not None:
                    raise StartFailed(f"{type(service).__name__} ended; see {self.logs}")
            time.sleep(0.5)

    def stop(self) -> None:
        """End everything that was started, the services last."""
        for child in self.children.values():
            _signal(child, signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        for child in self.children.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=max(0.1, deadline - time.monotonic()))
            # Whatever is left of its session goes too.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        for service in reversed(self.services):
            service.stop()


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if child.poll() is None:
        child.send_signal(number)


def _last_json(output: bytes) -> Mapping[str, str]:
    lines = [line for line in output.decode(errors="replace").splitlines() if line.startswith("{")]
    try:
        answer: Mapping[str, str] = json.loads(lines[-1])
    except (IndexError, ValueError):
        return {"detail": "the agent ended without an answer; its lines above say why"}
    return answer


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


def _secrets(path: Path) -> dict[str, str]:
    """SECRET_KEY and TOKEN_PEPPER: made once, kept with the data, readable by the owner only."""
    if not path.exists():
        made = {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "TOKEN_PEPPER")}
        with _private(path) as out:
            out.write(json.dumps(made).encode())
    kept: dict[str, str] = json.loads(path.read_text())
    return {name: os.environ.get(name, value) for name, value in kept.items()}


@contextlib.contextmanager
def _private(path: Path) -> Iterator[BinaryIO]:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        yield out


if __name__ == "__main__":
    sys.exit(main())
