"""A whole Loadsheet on one machine: its folder, its services and its processes.

What ends is started again, with growing pauses; nothing that ends takes the rest with it.
"""

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from backend.config.environment.secret_files import is_given
from backend.config.recovery.embedded import EmbeddedFailed, Postgres, Valkey, ends_with_parent
from backend.config.site import commands
from backend.config.site.child import Child, Process
from backend.config.site.commands import STOP_S, listen
from backend.config.site.progress import say
from backend.config.site.reserve import Reserve, reserves_of
from backend.config.site.site_folder import SiteFolder, StartFailed

ROOT = Path(__file__).resolve().parents[3]
WEB_PROCESSES = 2
# On a machine that is very busy each process takes a minute to start.
READY_TIMEOUT_S = 180
STOP_TIMEOUT_S = 35
# A start right after a killed one finds the port in use until the old web processes have answered
# what they had begun.
PORT_TIMEOUT_S = STOP_S + 15
LOOK_AT_DISK_S = 1.0
TEND_EVERY_S = 0.1
# Of a step of the start: a service may be killed meanwhile, as everything else.
TRIES, PAUSE_S = 3, 2.0
Answer = TypeVar("Answer")


class Site:
    """Everything that runs, in the order it was started."""

    def __init__(self, port: int, data: Path) -> None:
        self.port = port
        self.folder = SiteFolder(data)
        self.environment: dict[str, str] = {}
        self.children: list[Child] = []
        self._services: list[Postgres | Valkey] = []
        self._processes: list[Child] = []
        self._listener: socket.socket | None = None
        self._reserves: list[Reserve] = []
        self._disk_looked_at = 0.0
        self._is_started = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Services, tables, processes; raises StartFailed, EmbeddedFailed or OSError."""
        self.folder.prepare()
        self._listener = self._listen()
        self.environment = self._environment()
        say("Bringing the tables up to date")
        self.attempt(lambda: self.manage("migrate", "--verbosity=0"))
        self._delete_again()
        web = commands.web(socket=self._listener.fileno(), processes=WEB_PROCESSES)
        self._run("web", web, is_listening=True)
        self._run("worker", commands.worker())
        self._run("beat", commands.beat())
        self._wait_until_ready()
        self._is_started = True

    def _delete_again(self) -> None:
        """A folder that `manage.py restore --into` made has what was deleted since its moment."""
        deletions = self.folder.path / "deletions"
        if deletions.is_dir():
            say("Deleting what was deleted since the restored time")
            say(self.attempt(lambda: self.manage("delete_again", str(self.folder.path))).strip())
            shutil.rmtree(deletions)

    def _listen(self) -> socket.socket:
        """The socket of all web processes: while they are started again, requests wait in it."""
        if not 0 < self.port < 1 << 16:
            raise StartFailed(f"{self.port} is not a port: give 1 to 65535 with --port N.")
        try:
            return listen("127.0.0.1", self.port)
        except OSError as error:
            # A new folder has no site that was killed: the port is somebody else's.
            if error.errno == errno.EADDRINUSE and not self.folder.is_new:
                say(f"Port {self.port} is in use. Waiting up to {PORT_TIMEOUT_S} s for it")
                return self._wait_for_port()
            raise self._port_refused(error) from None

    def _wait_for_port(self) -> socket.socket:
        deadline = time.monotonic() + PORT_TIMEOUT_S
        while True:
            try:
                return listen("127.0.0.1", self.port)
            except OSError as error:
                if time.monotonic() > deadline:
                    raise self._port_refused(error) from None
            time.sleep(0.1)

    def _port_refused(self, error: OSError) -> StartFailed:
        hint = "Stop what listens there or choose another with --port N."
        reason = error.strerror or "refused"
        return StartFailed(f"port {self.port} cannot be used: {reason}. {hint}")

    def _environment(self) -> dict[str, str]:
        data = self.folder.path
        own = {
            **os.environ,
            **self.folder.secrets(),
            "DATA_DIR": str(data),
            "LOCAL_SITE": "true",
            "TMPDIR": str(self.folder.scratch),
            "PUBLIC_URL": os.environ.get("PUBLIC_URL", self.url),
            "DJANGO_SETTINGS_MODULE": "backend.config.settings",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "agents" / "src")]),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        }
        if not is_given("DATABASE_URL"):
            backups = os.environ.get("BACKUP_DIR")
            postgres = Postgres(data, backups=Path(backups) if backups else None)
            self._reserves = reserves_of(postgres.place)
            self._look_at_disk(is_starting=True)
            self._serve("postgres", postgres)
            own |= {"DATABASE_URL": postgres.url, "DATABASE_DIR": str(postgres.place)}
        if not is_given("REDIS_URL"):
            valkey = Valkey(data)
            self._serve("valkey", valkey)
            own["REDIS_URL"] = valkey.url
        return own

    def _serve(self, name: str, service: Postgres | Valkey) -> None:
        say(f"Starting {name}")
        log = self.folder.log_of(name)
        child = Child(name, log, lambda: service.spawn(log))
        self._services.append(service)
        self.children.append(child)

        def start() -> None:
            if not child.is_running:
                child.start()
            service.wait(log)

        self.attempt(start)

    def _run(self, name: str, command: list[str], *, is_listening: bool = False) -> None:
        """Only what is listening gets the socket: a worker that outlives us would keep the port."""
        say(f"Starting {name}")
        path = self.folder.log_of(name)
        sockets = [self._listener.fileno()] if is_listening and self._listener else []
        child = Child(name, path, lambda: self._spawn(command, path, sockets))
        self._processes.append(child)
        self.children.append(child)
        child.start()

    def _spawn(self, command: list[str], log: Path, sockets: Sequence[int]) -> Process:
        with log.open("ab") as out:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdout=out,
                stderr=out,
                process_group=0,
                pass_fds=sockets,
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  one thread here
            )

    def attempt(self, step: Callable[[], Answer]) -> Answer:
        """Take a step of the start, again if it fails; raises what the last try raised."""
        for _ in range(TRIES - 1):
            try:
                return step()
            except (StartFailed, EmbeddedFailed) as failed:
                say(f"{self.folder.explain(failed)[:300]} Trying again")
            with contextlib.suppress(EmbeddedFailed):
                self._mend_services()
        return step()

    def _mend_services(self) -> None:
        """Return when the services answer, started again where they ended.

        Raises EmbeddedFailed.
        """
        deadline = time.monotonic() + PAUSE_S
        while time.monotonic() < deadline:
            self.tend()
            time.sleep(0.1)
        # They were started first.
        for service, child in zip(self._services, self.children, strict=False):
            service.wait(child.log)

    def _wait_until_ready(self) -> None:
        """A process that fails TRIES times has wrong settings: to start it again would not help."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            self.tend()
            for child in self._processes:
                if child.failures >= TRIES:
                    raise StartFailed(f"{child.name} {child.reason()}")
            with contextlib.suppress(OSError):
                if self.get("/readyz"):
                    return
            time.sleep(0.1)
        raise StartFailed(
            f"the web server was not ready after {READY_TIMEOUT_S} s. If the machine is busy, "
            f"start again when it is idle. Otherwise see {self.folder.log_of('web')}"
        )

    def get(self, path: str) -> bytes:
        """The body that the site answers with; raises OSError."""
        with urllib.request.urlopen(self.url + path, timeout=5) as answer:  # noqa: S310  our own URL
            body: bytes = answer.read()
            return body

    def manage(self, *arguments: str) -> str:
        """What `manage.py` with `arguments` prints; raises StartFailed. What runs is tended."""
        program = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with program:
            out, errors = self._outputs_of(program)
        if program.returncode:
            lines = errors.strip().splitlines() or ["it printed nothing"]
            raise StartFailed(f"manage.py {arguments[0]} failed: {lines[-1].strip()[:300]}")
        return out

    def _outputs_of(self, program: subprocess.Popen[str]) -> tuple[str, str]:
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return program.communicate(timeout=TEND_EVERY_S)
                if self._is_started:
                    self.tend()
        except BaseException:
            program.kill()
            raise

    def tend(self) -> None:
        """Look once at every child and at the disk; to be called several times a second."""
        self._look_at_disk()
        for child in self.children:
            try:
                line = child.tend()
            except EmbeddedFailed as failed:
                line = str(failed)
            if line:
                say(line)

    def _look_at_disk(self, *, is_starting: bool = False) -> None:
        now = time.monotonic()
        if now - self._disk_looked_at < LOOK_AT_DISK_S:
            return
        self._disk_looked_at = now
        for reserve in self._reserves:
            with contextlib.suppress(OSError):
                if line := reserve.tend(is_starting=is_starting):
                    say(line)

    def stop(self) -> None:
        """End everything that was started, the services last."""
        for child in self._processes:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        for child in self._processes:
            child.wait(deadline - time.monotonic())
        for service in reversed(self._services):
            service.stop()
        if self._listener is not None:
            self._listener.close()
